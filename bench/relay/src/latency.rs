//! From `publish` on one replica to the frame of a stream on another; beside it, from `publish` of a client of the broker to the
//! message at another. Turn by turn, so that both see the same machine.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use mcp_sub::relay::Nats;

use crate::{
    broker::Broker,
    server::{Replica, ToolsChanged},
};

const ROUNDS: usize = 20_000;
const WARM_UP: usize = 2000;

pub async fn measure(broker: &Broker) {
    let here = Replica::new(Nats::new(broker.client().await, "latency"));
    let there = Replica::new(Nats::new(broker.client().await, "latency"));
    let (publisher, subscriber) = (broker.client().await, broker.client().await);
    let mut bare = subscriber.subscribe("bare").await.expect("it subscribes");
    subscriber.flush().await.expect("it flushes");
    tokio::time::sleep(Duration::from_secs(3)).await;
    let mut stream = there.listen(r#"{"toolsListChanged":true}"#).await;
    let message = bytes::Bytes::from(vec![b'x'; 80]);
    let (mut relayed, mut direct) = (Vec::new(), Vec::new());
    for round in 0..WARM_UP + ROUNDS {
        let start = Instant::now();
        here.server.publish(ToolsChanged);
        stream.frame().await;
        let took = start.elapsed();
        let start = Instant::now();
        publisher.publish("bare", message.clone()).await.expect("it publishes");
        bare.next().await.expect("it comes");
        if round >= WARM_UP {
            direct.push(start.elapsed());
            relayed.push(took);
        }
    }
    for (name, percent) in [("p50", 50), ("p99", 99)] {
        let [relayed, direct] = [&mut relayed, &mut direct].map(|times| {
            times.sort();
            times[times.len() * percent / 100]
        });
        let ratio = relayed.as_secs_f64() / direct.as_secs_f64();
        println!("latency {name}: {relayed:?} relayed, {direct:?} bare, {ratio:.2} times");
    }
}
