//! Events a second, and what each costs the replica that gets it, where a stream hears of it and where none does. Beside it, a
//! bare client. At most 512 are on their way, so that nothing is dropped. Each receiver has a thread of its own, whose time is
//! read from the kernel.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use futures_util::StreamExt;
use mcp_sub::relay::Nats;
use tokio::runtime::{Builder, Runtime};

use crate::{
    broker::Broker,
    server::{Replica, ToolsChanged},
};

const EVENTS: u64 = 300_000;
const ON_THEIR_WAY: u64 = 512;

pub fn measure(broker: &Broker) {
    bare(broker);
    relayed(broker, "heard by a stream", true);
    relayed(broker, "of concern to nobody", false);
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn bare(broker: &Broker) {
    let count = Arc::new(AtomicU64::new(0));
    let (ready, is_ready) = mpsc::channel();
    thread::scope(|scope| {
        let (received, address) = (count.clone(), broker.address.clone());
        let receiving = scope.spawn(move || {
            runtime().block_on(async {
                let client = async_nats::connect(address).await.expect("it connects");
                let mut messages = client.subscribe("rate").await.expect("it subscribes");
                client.flush().await.expect("it flushes");
                let before = cpu_time();
                ready.send(()).expect("it is waited for");
                for _ in 0..EVENTS {
                    messages.next().await.expect("it comes");
                    received.fetch_add(1, SeqCst);
                }
                cpu_time().checked_sub(before).unwrap_or_default()
            })
        });
        is_ready.recv().expect("it subscribes");
        let took = runtime().block_on(async {
            let client = broker.client().await;
            let message = bytes::Bytes::from(vec![b'x'; 80]);
            let start = Instant::now();
            for sent in 0..EVENTS {
                client.publish("rate", message.clone()).await.expect("it publishes");
                wait(sent, &count).await;
            }
            wait(EVENTS + ON_THEIR_WAY - 1, &count).await;
            start.elapsed()
        });
        say("bare", took, receiving.join().expect("it does not panic"));
    });
}

fn relayed(broker: &Broker, name: &str, heard: bool) {
    let count = Arc::new(AtomicU64::new(0));
    let (ready, is_ready) = mpsc::channel();
    let subject = format!("rate.{heard}");
    thread::scope(|scope| {
        let (received, address, subject) = (count.clone(), broker.address.clone(), &subject);
        let receiving = scope.spawn(move || {
            runtime().block_on(async {
                let client = async_nats::connect(address).await.expect("it connects");
                let replica = Replica::new(Nats::new(client, subject));
                let mut stream = match heard {
                    true => Some(replica.listen(r#"{"toolsListChanged":true}"#).await),
                    false => None,
                };
                tokio::time::sleep(Duration::from_secs(2)).await;
                let before = cpu_time();
                ready.send(()).expect("it is waited for");
                loop {
                    // A stream merges what comes at once: what was handed to it is counted instead.
                    match &mut stream {
                        Some(stream) => drop(stream.frame().await),
                        None => tokio::time::sleep(Duration::from_micros(200)).await,
                    }
                    let stats = replica.relay.stats();
                    assert_eq!(stats.gaps, 0, "nothing is lost");
                    let handled = stats.delivered + stats.unconcerned;
                    received.store(handled, SeqCst);
                    if handled >= EVENTS {
                        return cpu_time().checked_sub(before).unwrap_or_default();
                    }
                }
            })
        });
        is_ready.recv().expect("it subscribes");
        let took = runtime().block_on(async {
            let replica = Replica::new(Nats::new(broker.client().await, subject));
            tokio::time::sleep(Duration::from_secs(1)).await;
            let start = Instant::now();
            for sent in 0..EVENTS {
                replica.server.publish(ToolsChanged);
                wait(sent, &count).await;
            }
            wait(EVENTS + ON_THEIR_WAY - 1, &count).await;
            start.elapsed()
        });
        say(name, took, receiving.join().expect("it does not panic"));
    });
}

/// Until no more than that are on their way.
async fn wait(sent: u64, received: &AtomicU64) {
    while sent >= received.load(SeqCst) + ON_THEIR_WAY {
        tokio::task::yield_now().await;
    }
}

fn say(name: &str, took: Duration, cpu: Duration) {
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let events = EVENTS as f64;
    let (rate, each) = (events / took.as_secs_f64(), cpu.as_secs_f64() * 1e6 / events);
    println!("throughput, {name}: {rate:.0} events/s, {each:.2} µs of the receiver's thread each");
}

/// Of this thread, in ticks of 10 ms.
fn cpu_time() -> Duration {
    let stat = fs::read_to_string("/proc/thread-self/stat").expect("Linux");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().expect("a number")).sum();
    Duration::from_millis(ticks * 10)
}
