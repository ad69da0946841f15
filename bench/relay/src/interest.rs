//! How often ten replicas are woken for each other's events, by a simulation: on a bus in memory that counts, and filters as the
//! broker does.

use std::time::Duration;

use mcp_sub::relay::{
    Topic,
    testing::{Memory, MemoryBus},
};

use crate::server::Replica;

const REPLICAS: usize = 10;
const EVENTS: u64 = 20_000;
const RESOURCES: usize = 100_000;

pub async fn simulate() {
    for (streams, each) in [(100, 1), (100, 5), (1000, 1), (1000, 5)] {
        run(streams, each).await;
    }
}

/// `streams` on each replica, each with so many resources of its own choice; changes of any resource, on any replica.
async fn run(streams: usize, each: usize) {
    let memory = Memory::new();
    let buses: Vec<MemoryBus> = (0..REPLICAS).map(|_| memory.bus()).collect();
    let replicas: Vec<Replica> = buses.iter().map(|bus| Replica::new(bus.clone())).collect();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut any = |bound: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % (bound as u64)).unwrap_or_default()
    };
    let mut open = Vec::new();
    for replica in &replicas {
        for _ in 0..streams {
            let uris: Vec<String> = (0..each).map(|_| format!(r#""x:{}""#, any(RESOURCES))).collect();
            let filter = format!(r#"{{"resourceSubscriptions":[{}]}}"#, uris.join(","));
            open.push(replica.listen(&filter).await);
        }
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let woken = || buses.iter().map(MemoryBus::woken).sum::<u64>();
    let before = woken();
    for event in 0..EVENTS {
        replicas[any(REPLICAS)].save(&format!("x:{}", any(RESOURCES)));
        if event % 100 == 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (woken, all) = (woken() - before, EVENTS * REPLICAS as u64);
    let followed = replicas.iter().map(|replica| replica.relay.followed()).sum::<usize>() / REPLICAS;
    println!(
        "interest, {streams} streams of {each} resources on each of {REPLICAS} replicas: {woken} of {all} wake-ups, {followed} of {} topics each",
        Topic::COUNT
    );
    drop(open);
}
