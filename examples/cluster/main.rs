//! Three replicas of one server, joined by NATS, and 300 streams spread over them.
//!
//! - `cargo run --example cluster`: all of it on this machine. A line a second says how many streams know of the last change.
//!   `kill N`, `freeze N` and `thaw N` do that to a replica; `broker stop`, `broker continue` and `broker restart` to the broker. A replica
//!   that was killed is started again after two seconds.
//! - `cargo run --example cluster -- check [SECONDS]`: random faults for that long, 120 by default. The exit status is 0 if every
//!   stream learned of every last change, and heard of each change once while nothing was wrong.
//!
//! `nats-server` has to be installed. What a server needs for it stands in `replica.rs`.

#![forbid(unsafe_code)]

mod broker;
mod check;
mod cluster;
mod live;
mod process;
#[allow(
    clippy::unnecessary_wraps,
    clippy::unused_self,
    reason = "a handler's signatures are the attribute's"
)]
mod replica;
mod streams;

use std::{process::ExitCode, time::Duration};

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => live::run().await,
        ["check"] => check::run(Duration::from_secs(120)).await,
        ["check", seconds] => match seconds.parse() {
            Ok(seconds) => check::run(Duration::from_secs(seconds)).await,
            Err(_) => usage(),
        },
        ["replica", port, broker] => match (port.parse(), broker.parse()) {
            (Ok(port), Ok(broker)) => replica::run(port, broker).await,
            _ => usage(),
        },
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: cluster [check [SECONDS]]");
    ExitCode::from(2)
}
