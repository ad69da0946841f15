//! Random faults, and what has to hold all the same.

use std::{
    io,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::{Duration, SystemTime},
};

use tokio::time::{Instant, sleep, timeout};

use crate::{
    cluster::{Cluster, REPLICAS},
    streams::{STREAMS, THINGS, World},
};

/// How long things change and go wrong, in each round.
const STORM: Duration = Duration::from_secs(15);
/// How long it may take until all is known: a process that died is missed after 30 s.
const SETTLING: Duration = Duration::from_secs(60);
/// After how long nothing of the faults is left.
const HEALTHY: Duration = Duration::from_secs(45);

pub(crate) async fn run(time: Duration) -> ExitCode {
    let seed = SystemTime::UNIX_EPOCH.elapsed().map_or(1, |since| since.as_secs());
    println!("seed {seed}");
    let until = Instant::now() + time;
    match rounds(seed, until).await {
        Ok(rounds) => {
            println!("{rounds} rounds: all of it holds");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("FAILED: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn rounds(seed: u64, until: Instant) -> io::Result<usize> {
    let cluster = Arc::new(Cluster::start()?);
    let world = World::new(cluster.ports(), seed);
    settle(&world).await?;
    sleep(Duration::from_secs(5)).await;
    once(&world).await?;
    let mut rounds = 0;
    while rounds == 0 || Instant::now() < until {
        storm(&cluster, &world).await?;
        let calm = Instant::now();
        settle(&world).await?;
        println!("  every stream knew of the last change after {:.1} s", calm.elapsed().as_secs_f32());
        // All is said that there is to say of the faults.
        tokio::time::sleep_until(calm + HEALTHY).await;
        once(&world).await?;
        rounds += 1;
    }
    Ok(rounds)
}

/// Changes, 100 each second, and faults.
async fn storm(cluster: &Arc<Cluster>, world: &Arc<World>) -> io::Result<()> {
    let is_over = AtomicBool::new(false);
    let changing = async {
        while !is_over.load(SeqCst) {
            world.change(world.random(THINGS)).await;
            sleep(Duration::from_millis(10)).await;
        }
    };
    let breaking = async {
        let until = Instant::now() + STORM;
        let mut broken = Ok(());
        while Instant::now() < until && broken.is_ok() {
            broken = break_something(cluster, world).await;
            sleep(Duration::from_millis(world.random(1500) as u64)).await;
        }
        is_over.store(true, SeqCst);
        broken
    };
    // A change that has begun is published as well.
    tokio::join!(breaking, changing).0
}

/// And mends it.
async fn break_something(cluster: &Arc<Cluster>, world: &World) -> io::Result<()> {
    let replica = world.random(REPLICAS);
    let a_while = Duration::from_millis(1000 + world.random(4000) as u64);
    match world.random(4) {
        0 => {
            println!("  kill -9 of replica {replica}, back after {a_while:?}");
            cluster.kill(replica);
            sleep(a_while).await;
            blocking(cluster, move |cluster| cluster.start_again(replica)).await
        }
        1 => {
            println!("  the broker hangs for {a_while:?}");
            cluster.stop_broker()?;
            sleep(a_while).await;
            cluster.continue_broker()
        }
        2 => {
            println!("  the broker is restarted");
            blocking(cluster, Cluster::restart_broker).await
        }
        _ => {
            println!("  replica {replica} hangs for {a_while:?}");
            cluster.signal(replica, "STOP")?;
            sleep(a_while).await;
            cluster.signal(replica, "CONT")
        }
    }
}

/// Starting a process waits for what it prints.
pub(crate) async fn blocking(
    cluster: &Arc<Cluster>,
    what: impl FnOnce(&Cluster) -> io::Result<()> + Send + 'static,
) -> io::Result<()> {
    let cluster = cluster.clone();
    tokio::task::spawn_blocking(move || what(&cluster)).await.map_err(io::Error::other)?
}

/// Waits until every stream is open and knows the last version of each thing that it asked for.
async fn settle(world: &World) -> io::Result<()> {
    let settled = async {
        while world.open_and_current() != (STREAMS, STREAMS) {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(SETTLING, settled).await.map_err(|_| {
        let (open, current) = world.open_and_current();
        io::Error::other(format!("{open} of {STREAMS} streams are open, {current} know of the last change"))
    })
}

/// While nothing is wrong: one notification for each change.
async fn once(world: &World) -> io::Result<()> {
    for thing in 0..THINGS {
        let before = world.told(thing);
        world.change(thing).await;
        settle(world).await?;
        sleep(Duration::from_millis(100)).await;
        let expected: Vec<u64> = before.iter().map(|told| told + 1).collect();
        let told = world.told(thing);
        if told != expected {
            let wrong = told.iter().zip(&expected).filter(|(told, expected)| told != expected).count();
            return Err(io::Error::other(format!("{wrong} streams were not told once of thing {thing}")));
        }
    }
    println!(
        "  {THINGS} changes, each told once to each stream; {} notifications so far",
        world.notifications()
    );
    Ok(())
}
