//! The guarantees of a relay, on a bus in memory, with faults and tokio's paused clock.

use std::{collections::HashMap, time::Duration};

use bytes::Bytes;
use tokio::time::sleep;

use super::{
    super::{
        EncodedEvent, Relay, RelayedHandler, Topic,
        envelope::{Body, Head, write},
    },
    Faults, Memory, MemoryBus,
    contract::{self, Scene},
    probe::{Changed, Heard, Listener, Probe, Replica, UNREADABLE, UNWRITABLE},
};
use crate::{Kinds, ListChanges, Subscriptions, ToolsListChanged};

const SECOND: Duration = Duration::from_secs(1);

struct InMemory(Memory);

impl Scene for InMemory {
    type Bus = MemoryBus;

    async fn join(&self) -> MemoryBus {
        self.0.bus()
    }

    async fn stop(&self) {
        self.0.stop();
    }

    async fn start(&self) {
        self.0.start();
    }
}

#[tokio::test(start_paused = true)]
async fn the_bus_in_memory_keeps_the_contract() {
    contract::all(&InMemory(Memory::new())).await;
}

/// Replicas that have met, and the ends of their buses.
async fn joined<const N: usize>(memory: &Memory) -> ([Replica; N], [MemoryBus; N]) {
    let buses = std::array::from_fn(|_| memory.bus());
    let replicas = buses.each_ref().map(|bus| Replica::new(bus.clone()));
    sleep(SECOND * 3).await;
    (replicas, buses)
}

fn all_of(told: &[&str]) -> Heard {
    Heard::CatchUp(told.iter().map(|&told| told.into()).collect())
}

#[tokio::test(start_paused = true)]
async fn what_is_lost_last_of_all_is_noticed_at_the_next_beacon() {
    let memory = Memory::new();
    let ([a, b], _) = joined(&memory).await;
    let listener = b.listen(true, &["x:a"]);
    sleep(SECOND * 3).await;
    memory.set_faults(Faults { loss: 1000, ..Faults::default() }, 1);
    a.tools(1);
    sleep(SECOND / 10).await;
    memory.set_faults(Faults::default(), 1);
    assert_eq!(listener.next().await, all_of(&["tools", "x:a"]));
    listener.silence(SECOND * 60).await;
    assert_eq!(b.relay.stats().gaps, 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_lost_of_a_uri_is_told_of_that_alone() {
    let memory = Memory::new();
    let ([a, b], _) = joined(&memory).await;
    let listener = b.listen(true, &["x:a", "x:b"]);
    // In the middle between two beacons.
    sleep(SECOND * 7 / 2).await;
    memory.set_faults(Faults { loss: 1000, ..Faults::default() }, 1);
    a.saved("x:a", 1);
    sleep(SECOND / 10).await;
    memory.set_faults(Faults::default(), 1);
    assert_eq!(listener.next().await, all_of(&["x:a"]));
    listener.silence(SECOND * 60).await;
}

#[tokio::test(start_paused = true)]
async fn after_a_partition_that_nobody_tells_of_each_stream_is_told() {
    let memory = Memory::new();
    let ([a, b, c], [_, bus, _]) = joined(&memory).await;
    let (inside, outside) = (b.listen(true, &["x:a"]), c.listen(true, &["x:a"]));
    bus.cut();
    a.tools(1);
    b.saved("x:a", 2);
    sleep(SECOND * 5).await;
    bus.heal();
    assert_eq!(inside.next().await, Heard::Event(Changed { uri: Some("x:a".into()), number: 2 }));
    assert_eq!(inside.next().await, all_of(&["tools", "x:a"]), "what `a` published");
    assert_eq!(outside.next().await, Heard::Event(Changed { uri: None, number: 1 }));
    let Heard::CatchUp(told) = outside.next().await else { panic!("what `b` published is lost") };
    assert!(told.contains(&"x:a".into()), "{told:?}");
    inside.silence(SECOND * 60).await;
}

/// What is known of each thing: the number of the last change that was heard of.
#[derive(Default)]
struct Knows(HashMap<String, u64>);

impl Knows {
    fn hear(&mut self, heard: Heard, latest: &HashMap<String, u64>) {
        match heard {
            Heard::Event(event) => {
                let key = event.uri.unwrap_or_else(|| "tools".into());
                let before = self.0.insert(key.clone(), event.number).unwrap_or(0);
                // A catch-up may have told of what comes after it, so no less is known of that.
                let known = self.0.get_mut(&key).expect("it was inserted");
                *known = event.number.max(before);
            }
            Heard::CatchUp(told) => {
                for key in told {
                    let number = latest.get(&key).copied().unwrap_or(0);
                    self.0.insert(key, number);
                }
            }
        }
    }
}

async fn drain(listener: &Listener, knows: &mut Knows, latest: &HashMap<String, u64>, time: Duration) {
    let until = tokio::time::Instant::now() + time;
    while let Ok(heard) = tokio::time::timeout_at(until, listener.wait()).await {
        knows.hear(heard, latest);
    }
}

async fn every_stream_learns_of_the_last_change(seed: u64, faults: Faults) {
    let memory = Memory::new();
    let (replicas, buses) = joined::<3>(&memory).await;
    let uris = ["x:a", "x:b", "x:c"];
    let listeners = replicas.each_ref().map(|replica| replica.listen(true, &uris));
    let mut known: [Knows; 3] = Default::default();
    let mut latest = HashMap::new();
    sleep(SECOND * 2).await;
    memory.set_faults(faults, seed);
    for number in 1..600_u64 {
        // One publisher for each key, so that its numbers come in order.
        let key = usize::try_from(number.wrapping_mul(seed | 1) % 4).unwrap();
        let publisher = &replicas[key % 3];
        latest.insert(uris.get(key).unwrap_or(&"tools").to_string(), number);
        uris.get(key).map_or_else(|| publisher.tools(number), |uri| publisher.saved(uri, number));
        match number % 200 {
            50 => buses[key % 3].cut(),
            100 => buses.iter().for_each(MemoryBus::heal),
            150 => memory.stop(),
            160 => memory.start(),
            _ => {}
        }
        for (listener, known) in listeners.iter().zip(&mut known) {
            drain(listener, known, &latest, Duration::from_millis(3)).await;
        }
    }
    memory.set_faults(Faults::default(), seed);
    for (listener, known) in listeners.iter().zip(&mut known) {
        drain(listener, known, &latest, SECOND * 30).await;
        assert_eq!(known.0, latest, "seed {seed}, {faults:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_goes_wrong_every_stream_learns_of_the_last_change() {
    let delay = Duration::from_millis(50);
    for seed in 1..=20 {
        every_stream_learns_of_the_last_change(seed, Faults { delay, ..Faults::default() }).await;
        every_stream_learns_of_the_last_change(seed, Faults { loss: 100, ..Faults::default() }).await;
        let all = Faults { delay, loss: 50, duplicates: 100, reordered: 50 };
        every_stream_learns_of_the_last_change(seed, all).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_comes_twice_is_told_once() {
    let memory = Memory::new();
    let ([a, b], _) = joined(&memory).await;
    let listener = b.listen(true, &[]);
    memory.set_faults(Faults { duplicates: 1000, ..Faults::default() }, 1);
    for number in 1..=50 {
        a.tools(number);
        assert_eq!(listener.event().await.number, number);
    }
    listener.silence(SECOND * 30).await;
    assert!(b.relay.stats().late >= 50);
}

#[tokio::test(start_paused = true)]
async fn what_is_late_is_told_of_by_a_catch_up_and_never_after_what_came_later() {
    let memory = Memory::new();
    let ([a, b], _) = joined(&memory).await;
    let listener = b.listen(true, &[]);
    memory.set_faults(Faults { reordered: 1000, delay: SECOND, ..Faults::default() }, 1);
    for number in 1..=50 {
        a.tools(number);
    }
    let mut last = 0;
    let mut catch_ups = 0;
    while let Ok(heard) = tokio::time::timeout(SECOND * 20, listener.wait()).await {
        match heard {
            Heard::Event(event) => {
                assert!(event.number > last, "{} after {last}", event.number);
                last = event.number;
            }
            Heard::CatchUp(_) => catch_ups += 1,
        }
    }
    assert!(catch_ups > 0);
}

#[tokio::test(start_paused = true)]
async fn unknown_and_damaged_messages_are_counted_and_skipped() {
    let memory = Memory::new();
    let ([a, b], [_, bus]) = joined(&memory).await;
    let listener = b.listen(true, &[]);
    bus.inject(Bytes::from_static(b"mcs"));
    bus.inject(Bytes::from_static(b"mcs\xffwhatever comes with the next version"));
    let kinds = Kinds::TOOLS_LIST_CHANGED;
    bus.inject(foreign_event(1, kinds, None, EncodedEvent::new("renamed", "{}")));
    bus.inject(foreign_event(2, kinds, None, EncodedEvent::new("changed", "{\"number\":\"none\"}")));
    assert_eq!(listener.next().await, all_of(&["tools"]));
    a.tools(1);
    assert_eq!(listener.event().await.number, 1);
    let stats = b.relay.stats();
    assert_eq!((stats.unknown, stats.damaged, stats.gaps), (2, 2, 0));
}

/// An event of a replica of another version.
fn foreign_event(sequence: u64, kinds: Kinds, uri: Option<&str>, event: EncodedEvent<'_>) -> Bytes {
    let topic = Topic::EVERYONE;
    let head = Head { origin: 7, sequence, previous: sequence - 1, previous_age: Duration::ZERO, topic };
    write(&head, &Body::Event { kinds, uri, event })
}

#[tokio::test(start_paused = true)]
async fn what_another_version_publishes_and_this_one_cannot_read_is_told_by_a_catch_up() {
    let memory = Memory::new();
    let ([b], [bus]) = joined(&memory).await;
    let (listener, other) = (b.listen(true, &["x:a", "x:b"]), b.listen(false, &["x:b"]));
    let (tools, updates) = (Kinds::TOOLS_LIST_CHANGED, Kinds::RESOURCES_UPDATED);
    let renamed = EncodedEvent::new("renamed", "{}");
    bus.inject(foreign_event(1, tools, None, renamed.clone()));
    assert_eq!(listener.next().await, all_of(&["tools"]), "its method is missing here");
    bus.inject(foreign_event(2, updates, Some("x:a"), EncodedEvent::new("changed", "[1]")));
    assert_eq!(listener.next().await, all_of(&["x:a"]), "it has another shape here");
    bus.inject(foreign_event(3, Kinds::PROMPTS_LIST_CHANGED, None, renamed));
    let event = Changed { uri: None, number: 1 };
    bus.inject(foreign_event(4, tools.union(updates), Some("x:a"), Probe::encode(&event).unwrap()));
    assert_eq!(listener.next().await, Heard::Event(event));
    assert_eq!(listener.next().await, all_of(&["x:a"]), "here it changes less");
    listener.silence(SECOND * 20).await;
    other.silence(SECOND).await;
    let stats = b.relay.stats();
    assert_eq!((stats.unknown, stats.damaged, stats.unconcerned, stats.gaps), (1, 1, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn an_error_that_panics_when_it_is_asked_costs_neither_the_publisher_nor_the_relay_anything() {
    let memory = Memory::new();
    let ([a, b], [_, bus]) = joined(&memory).await;
    let listener = b.listen(true, &["x:a"]);
    a.saved("x:a", UNWRITABLE);
    assert_eq!(listener.next().await, all_of(&["x:a"]));
    bus.inject(foreign_event(1, Kinds::TOOLS_LIST_CHANGED, None, EncodedEvent::new(UNREADABLE, "")));
    assert_eq!(listener.next().await, all_of(&["tools"]));
    a.tools(1);
    assert_eq!(listener.event().await.number, 1);
}

#[tokio::test(start_paused = true)]
async fn a_replica_without_a_stream_for_a_uri_is_not_woken_for_it() {
    let memory = Memory::new();
    let ([a, b, c], [_, to_b, to_c]) = joined(&memory).await;
    let listener = b.listen(false, &["x:a"]);
    sleep(SECOND).await;
    let before = (to_b.woken(), to_c.woken());
    for number in 1..=100 {
        a.saved("x:a", number);
        assert_eq!(listener.event().await.number, number);
    }
    assert!(to_b.woken() - before.0 >= 100);
    assert!(to_c.woken() - before.1 <= 2, "beacons");
    assert_eq!((b.relay.followed(), c.relay.followed()), (1, 0));
    drop(listener);
    sleep(SECOND * 3).await;
    assert_eq!(b.relay.followed(), 0, "nobody listens any more");
}

#[tokio::test(start_paused = true)]
async fn a_hub_without_its_relay_goes_on_alone() {
    let memory = Memory::new();
    let ([a, b], _) = joined(&memory).await;
    let (here, there) = (a.listen(true, &[]), b.listen(true, &[]));
    let Replica { hub, relay } = a;
    drop(relay);
    hub.publish(Changed { uri: None, number: 1 });
    assert_eq!(here.event().await.number, 1);
    there.silence(SECOND * 20).await;
    drop(hub);
}

#[tokio::test(start_paused = true)]
async fn what_a_process_takes_with_it_is_told_of_and_one_that_said_goodbye_takes_nothing() {
    let memory = Memory::new();
    let ([a, b, c], [to_a, ..]) = joined(&memory).await;
    let listener = c.listen(true, &["x:a"]);
    assert!(b.relay.shutdown(SECOND * 5).await);
    listener.silence(SECOND * 120).await;
    // It dies before the broker has what it published.
    to_a.cut();
    a.tools(1);
    drop(a);
    assert_eq!(listener.wait().await, all_of(&["tools", "x:a"]));
    listener.silence(SECOND * 120).await;
}

#[tokio::test(start_paused = true)]
async fn one_that_was_cut_off_for_long_does_not_take_it_for_the_death_of_the_others() {
    let memory = Memory::new();
    let ([_a, b], [_, to_b]) = joined(&memory).await;
    let listener = b.listen(true, &[]);
    to_b.cut();
    listener.silence(SECOND * 120).await;
    to_b.heal();
    assert_eq!(listener.wait().await, all_of(&["tools"]), "once, for what may have been said meanwhile");
    listener.silence(SECOND * 120).await;
}

#[tokio::test(start_paused = true)]
async fn list_changes_are_relayed_out_of_the_box() {
    let memory = Memory::new();
    let server = || Subscriptions::builder(ListChanges::new().tools()).build();
    let (a, b) = (server(), server());
    let relays = [&a, &b].map(|server| Relay::over(memory.bus()).attach(server.hub()));
    sleep(SECOND).await;
    let kinds =
        crate::protocol::filter::RequestedFilter { kinds: Kinds::TOOLS_LIST_CHANGED, uris: Vec::new() };
    let registration = b.hub().register(std::sync::Arc::new(crate::filter::Honoured::new(kinds)), 8);
    a.publish(ToolsListChanged);
    sleep(SECOND).await;
    assert!(matches!(registration.slot().try_next(), Some(crate::hub::Next::Event(_))));
    assert!(registration.slot().try_next().is_none());
    drop(relays);
}
