//! The cluster, to look at and to break.

use std::{io, process::ExitCode, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, BufReader, stdin},
    time::{interval, sleep},
};

use crate::{
    check::blocking,
    cluster::{Cluster, REPLICAS},
    streams::{STREAMS, THINGS, World},
};

pub(crate) async fn run() -> ExitCode {
    match live().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn live() -> io::Result<()> {
    let cluster = Arc::new(Cluster::start()?);
    println!("replicas 0 to {} at the ports {:?}", REPLICAS - 1, cluster.ports());
    println!("kill N, freeze N, thaw N, broker stop, broker continue, broker restart; Ctrl-C ends it");
    let world = World::new(cluster.ports(), 1);
    let changing = async {
        loop {
            world.change(world.random(THINGS)).await;
            sleep(Duration::from_millis(500)).await;
        }
    };
    let watching = async {
        let (mut tick, mut before) = (interval(Duration::from_secs(1)), 0);
        loop {
            tick.tick().await;
            let ((open, current), told) = (world.open_and_current(), world.notifications());
            println!(
                "{open} of {STREAMS} streams open, {current} know of the last change; {} notifications/s",
                told - before
            );
            before = told;
        }
    };
    tokio::select! {
        () = changing => Ok(()),
        () = watching => Ok(()),
        done = commands(&cluster) => done,
        interrupted = tokio::signal::ctrl_c() => interrupted,
    }
}

async fn commands(cluster: &Arc<Cluster>) -> io::Result<()> {
    let mut lines = BufReader::new(stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let words: Vec<&str> = line.split_whitespace().collect();
        let replica = words.get(1).and_then(|word| word.parse().ok()).filter(|index| *index < REPLICAS);
        match (words.as_slice(), replica) {
            (["broker", "stop"], _) => cluster.stop_broker()?,
            (["broker", "continue"], _) => cluster.continue_broker()?,
            (["broker", "restart"], _) => blocking(cluster, Cluster::restart_broker).await?,
            (["kill", _], Some(replica)) => {
                cluster.kill(replica);
                sleep(Duration::from_secs(2)).await;
                blocking(cluster, move |cluster| cluster.start_again(replica)).await?;
            }
            (["freeze", _], Some(replica)) => cluster.signal(replica, "STOP")?,
            (["thaw", _], Some(replica)) => cluster.signal(replica, "CONT")?,
            ([], _) => {}
            _ => println!("that is no command"),
        }
    }
    // Without a terminal it goes on until it is interrupted.
    std::future::pending().await
}
