//! What a relay adds to its broker. `cargo run --release --manifest-path bench/relay/Cargo.toml`, with `nats-server` installed.

#![forbid(unsafe_code)]

mod broker;
mod interest;
mod latency;
mod server;
mod throughput;

use crate::broker::Broker;

fn main() {
    let broker = Broker::start();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(latency::measure(&broker));
    throughput::measure(&broker);
    runtime.block_on(interest::simulate());
}
