//! Replicas joined by a real `nats-server`.

mod broker;

use std::time::Duration;

use async_nats::ConnectOptions;
use mcp_sub::{
    Channel, Rejection, Subscriptions,
    relay::{Attached, Relay, testing::contract},
    subscription_handler,
};
use mcp_sub_tests::{Lines, eventually};
use serde::{Deserialize, Serialize};

use self::broker::Broker;

#[derive(Serialize, Deserialize)]
struct ToolsChanged;

#[derive(Serialize, Deserialize)]
struct Saved {
    uri: String,
}

struct Files;

#[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the form is the attribute's")]
#[subscription_handler(relay)]
impl Files {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn tools_changed(&self, _: &ToolsChanged, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(resources_updated)]
    fn saved(&self, event: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated(&event.uri);
    }
}

const ALL: &str = r#"{"toolsListChanged":true,"resourceSubscriptions":["x:a","x:b"]}"#;
const TOOLS: &str = "tools/list_changed";

struct Replica {
    server: Subscriptions<Files>,
    relay: Attached,
}

impl Replica {
    fn attach(relay: Relay<mcp_sub::relay::Nats>) -> Self {
        let server = Subscriptions::builder(Files).build();
        let relay = relay.attach(server.hub());
        Self { server, relay }
    }

    async fn listen(&self) -> Lines {
        let mut lines = Lines::connect(&self.server);
        lines.listening("1", ALL).await;
        lines
    }

    fn save(&self, uri: &str) {
        self.server.publish_for(uri, Saved { uri: uri.into() });
    }
}

/// What a stream is told next: the method, or the URI.
async fn told(lines: &mut Lines) -> String {
    let message = lines.message().await;
    let uri = message["params"]["uri"].as_str();
    let method = message["method"].as_str().expect("a notification");
    uri.unwrap_or(method.trim_start_matches("notifications/")).to_owned()
}

/// As many as that, sorted.
async fn told_in_all(lines: &mut Lines, count: usize) -> Vec<String> {
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(told(lines).await);
    }
    all.sort();
    all
}

/// Whether nothing is told for a while.
async fn is_silent(lines: &mut Lines) -> bool {
    tokio::time::timeout(Duration::from_secs(3), lines.message()).await.is_err()
}

/// Two replicas, each of which hears the other, and follows what its stream honours.
async fn two(broker: &Broker) -> [(Replica, Lines); 2] {
    let [a, b] = [Replica::attach(broker.relay().await), Replica::attach(broker.relay().await)];
    let (mut to_a, mut to_b) = (a.listen().await, b.listen().await);
    eventually("both follow", || a.relay.followed() == 2 && b.relay.followed() == 2).await;
    for (from, to) in [(&a, &mut to_b), (&b, &mut to_a)] {
        loop {
            from.server.publish(ToolsChanged);
            if tokio::time::timeout(Duration::from_millis(200), told(to)).await.is_ok() {
                break;
            }
        }
    }
    for lines in [&mut to_a, &mut to_b] {
        while !is_silent(lines).await {}
    }
    [(a, to_a), (b, to_b)]
}

#[tokio::test(flavor = "multi_thread")]
async fn nats_keeps_the_contract() {
    contract::all(&Broker::start()).await;
}

#[tokio::test]
async fn streams_of_another_replica_are_told_once_and_those_here_too() {
    let broker = Broker::start();
    let [(a, mut to_a), (_b, mut to_b)] = two(&broker).await;
    a.server.publish(ToolsChanged);
    a.save("x:a");
    for lines in [&mut to_a, &mut to_b] {
        assert_eq!([told(lines).await, told(lines).await], [TOOLS, "x:a"]);
        assert!(is_silent(lines).await, "no echo");
    }
}

/// Nothing of a stream leaves its process: what comes from elsewhere carries the id of the stream that it is told to.
#[tokio::test]
async fn each_stream_is_told_under_its_own_id() {
    let broker = Broker::start();
    let [(a, _to_a), (b, _to_b)] = two(&broker).await;
    let mut lines = Lines::connect(&b.server);
    for id in ["\"seven\"", "8"] {
        lines.listening(id, r#"{"toolsListChanged":true}"#).await;
    }
    a.server.publish(ToolsChanged);
    let mut ids = [lines.told().await.0, lines.told().await.0];
    ids.sort();
    assert_eq!(ids, ["\"seven\"", "8"]);
}

#[tokio::test]
async fn an_event_that_is_too_large_for_the_broker_is_a_catch_up_elsewhere() {
    let broker = Broker::start();
    let [(a, mut to_a), (_b, mut to_b)] = two(&broker).await;
    a.server.publish_for("x:a", Saved { uri: "x".repeat(2 << 20) });
    assert_eq!(told(&mut to_b).await, "x:a");
    a.save("x:b");
    assert_eq!([told(&mut to_a).await, told(&mut to_b).await], ["x:b", "x:b"], "and all goes on");
}

#[tokio::test]
async fn a_replica_starts_and_serves_without_the_broker_and_joins_when_it_is_there() {
    let broker = Broker::start();
    broker.kill();
    let [a, b] = [Replica::attach(broker.relay().await), Replica::attach(broker.relay().await)];
    let (mut to_a, mut to_b) = (a.listen().await, b.listen().await);
    a.save("x:a");
    assert_eq!(told(&mut to_a).await, "x:a", "to the streams here, at once");
    broker.restart();
    assert_eq!(told(&mut to_b).await, "x:a", "to the others when it is possible");
}

#[tokio::test]
async fn after_a_partition_of_one_replica_each_of_its_streams_is_told_once() {
    let broker = Broker::start();
    let client = broker.client().await;
    let a = Replica::attach(broker.relay().await);
    let b = Replica::attach(Relay::nats(client.clone(), "test.events"));
    let mut to_b = b.listen().await;
    eventually("it follows", || b.relay.followed() == 2).await;
    while !is_silent(&mut to_b).await {}
    client.force_reconnect().await.unwrap();
    assert_eq!(told_in_all(&mut to_b, 3).await, [TOOLS, "x:a", "x:b"]);
    assert!(is_silent(&mut to_b).await);
    a.save("x:a");
    assert_eq!(told(&mut to_b).await, "x:a");
}

#[tokio::test]
async fn a_broker_that_hangs_stops_nobody_and_loses_nothing() {
    let broker = Broker::start();
    let [(a, mut to_a), (_b, mut to_b)] = two(&broker).await;
    broker.signal("STOP");
    for _ in 0..10 {
        a.save("x:b");
        assert_eq!(told(&mut to_a).await, "x:b");
    }
    broker.signal("CONT");
    assert_eq!(told(&mut to_b).await, "x:b");
}

/// One that is too slow for its client's queue, of one message.
#[tokio::test]
async fn a_slow_consumer_learns_of_what_it_has_lost() {
    let broker = Broker::start();
    let a = Replica::attach(broker.relay().await);
    let slow = broker.client_with(ConnectOptions::new().subscription_capacity(1)).await;
    let b = Replica::attach(Relay::nats(slow, "test.events"));
    let mut to_b = b.listen().await;
    eventually("it follows", || b.relay.followed() == 2).await;
    for _ in 0..1000 {
        a.server.publish(ToolsChanged);
    }
    eventually("messages are lost, and that is noticed", || b.relay.stats().gaps > 0).await;
    while !is_silent(&mut to_b).await {}
    // The last one may have been lost as well: nothing comes after it but a beacon.
    a.save("x:a");
    assert_eq!(told(&mut to_b).await, "x:a");
}

#[tokio::test]
async fn what_waits_for_the_broker_is_bounded_and_told_of_afterwards() {
    let broker = Broker::start();
    let [(a, _to_a), (_b, mut to_b)] = two(&broker).await;
    broker.kill();
    for _ in 0..5000 {
        a.server.publish(ToolsChanged);
    }
    a.save("x:a");
    assert!(a.relay.stats().unsent >= 3900, "{:?}", a.relay.stats());
    broker.restart();
    let mut last = told(&mut to_b).await;
    while let Ok(next) = tokio::time::timeout(Duration::from_secs(3), told(&mut to_b)).await {
        last = next;
    }
    assert_eq!(last, "x:a", "what did not fit comes after what did");
}

#[tokio::test]
async fn what_was_published_before_a_shutdown_is_with_the_broker() {
    let broker = Broker::start();
    let [(a, _to_a), (_b, mut to_b)] = two(&broker).await;
    for _ in 0..100 {
        a.save("x:a");
    }
    a.save("x:b");
    assert!(a.relay.shutdown(Duration::from_secs(10)).await);
    let mut last = told(&mut to_b).await;
    while last != "x:b" {
        last = told(&mut to_b).await;
    }
}

#[tokio::test]
async fn a_shutdown_without_the_broker_ends_on_time_and_says_so() {
    let broker = Broker::start();
    let [(a, _to_a), _b] = two(&broker).await;
    broker.kill();
    a.save("x:a");
    assert!(!a.relay.shutdown(Duration::from_millis(300)).await);
}

/// A client of another kind, on a relay's subjects.
#[tokio::test]
async fn what_no_relay_has_sent_is_counted_and_skipped() {
    let broker = Broker::start();
    let [(a, _to_a), (b, mut to_b)] = two(&broker).await;
    let stranger = broker.client().await;
    for message in ["", "{}", "mcs\u{7f}of a later version"] {
        stranger.publish("test.events.all", message.into()).await.unwrap();
    }
    eventually("all are counted", || {
        let stats = b.relay.stats();
        (stats.damaged, stats.unknown) == (2, 1)
    })
    .await;
    a.save("x:a");
    assert_eq!(told(&mut to_b).await, "x:a");
}

#[tokio::test]
async fn the_broker_wakes_only_those_who_have_a_stream_for_the_uri() {
    let broker = Broker::start();
    let client = broker.client().await;
    let [(a, _to_a), (_b, mut to_b)] = two(&broker).await;
    let none = Replica::attach(Relay::nats(client.clone(), "test.events"));
    let received = client.statistics();
    let before = received.in_messages.load(std::sync::atomic::Ordering::Relaxed);
    for _ in 0..500 {
        a.save("x:a");
        assert_eq!(told(&mut to_b).await, "x:a");
    }
    let woken = received.in_messages.load(std::sync::atomic::Ordering::Relaxed) - before;
    assert!(woken < 20, "beacons, and not {woken} messages");
    assert_eq!(none.relay.followed(), 0);
}
