//! A relay from its attaching to its end, and what of it others hear.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use super::{
    super::{
        Bus, BusError, BusReceiver, Received, Relay, Topic,
        envelope::{Beacon, Body, Head, write},
    },
    Memory, MemoryBus,
    memory::MemorySender,
    probe::{Changed, Heard, Probe, Replica},
};
use crate::{
    Kinds, ListChanges, Subscriptions, ToolsListChanged,
    filter::Honoured,
    hub::{Hub, Next},
    protocol::filter::RequestedFilter,
};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_relay_takes_the_place_of_the_one_before_and_nothing_comes_twice() {
    let memory = Memory::new();
    let (mut a, b) = (Replica::new(memory.bus()), Replica::new(memory.bus()));
    let listeners = [a.listen(true, &["x:a"]), b.listen(true, &["x:a"])];
    sleep(SECOND * 3).await;
    // Still on its way when the other one comes.
    a.tools(1);
    let first = std::mem::replace(&mut a.relay, Relay::over(memory.bus()).attach(&a.hub));
    let mut number = 1;
    let mut hear = async |publish: &dyn Fn(u64)| {
        publish(number);
        for (listener, name) in listeners.iter().zip(["a", "b"]) {
            assert_eq!(listener.event().await.number, number, "{name}");
            listener.silence(SECOND * 3).await;
        }
        number += 1;
    };
    hear(&|_| {}).await;
    hear(&|number| _ = a.tools(number)).await;
    hear(&|number| _ = b.tools(number)).await;
    hear(&|number| _ = b.saved("x:a", number)).await;
    assert!(first.shutdown(SECOND).await, "it has sent what it had");
    hear(&|number| _ = a.saved("x:a", number)).await;
    listeners[1].silence(SECOND * 60).await;
}

#[test]
fn attaching_without_a_timer_panics_there_and_leaves_the_hub_alone() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let _entered = runtime.enter();
    let hub = Hub::<Probe>::new();
    let attach = || Relay::over(Memory::new().bus()).attach(&hub);
    assert!(crate::sync::catch_unwind(attach).is_err());
    assert_eq!(hub.publish(Changed { uri: None, number: 1 }), 0);
}

#[tokio::test(start_paused = true)]
async fn many_who_say_hello_are_answered_once() {
    let memory = Memory::new();
    let buses = [memory.bus(), memory.bus()];
    let _replicas = buses.each_ref().map(|bus| Replica::new(bus.clone()));
    sleep(SECOND * 5 / 2).await;
    let before = buses[1].woken();
    for origin in 100..500 {
        let (sequence, topic) = (1, Topic::EVERYONE);
        let head = Head { origin, sequence, previous: 0, previous_age: Duration::ZERO, topic };
        buses[0].inject(write(&head, &Body::Beacon(Beacon { hello: true, ..Beacon::default() })));
        sleep(Duration::from_millis(1)).await;
    }
    sleep(SECOND).await;
    assert_eq!(buses[1].woken() - before, 1);
}

#[tokio::test(start_paused = true)]
async fn what_was_lost_of_many_uris_is_one_catch_up() {
    let memory = Memory::new();
    let (a, b) = (Replica::new(memory.bus()), Replica::new(memory.bus()));
    let listener = b.listen(false, &["x:a", "x:b", "x:c", "x:d"]);
    sleep(SECOND * 7 / 2).await;
    memory.set_faults(super::Faults { loss: 1000, ..Default::default() }, 1);
    for uri in ["x:a", "x:b", "x:d"] {
        a.saved(uri, 1);
    }
    sleep(SECOND / 10).await;
    memory.set_faults(super::Faults::default(), 1);
    let told = ["x:a", "x:b", "x:d"].map(String::from).to_vec();
    assert_eq!(listener.next().await, Heard::CatchUp(told));
    listener.silence(SECOND * 60).await;
    assert_eq!(b.relay.stats().gaps, 1);
}

/// Brings messages without a pause.
struct Flood(MemoryBus);

struct Flooding(usize);

impl Bus for Flood {
    type Sender = MemorySender;
    type Receiver = Flooding;

    async fn open(&mut self) -> Result<(MemorySender, Flooding), BusError> {
        Ok((self.0.open().await?.0, Flooding(0)))
    }
}

impl BusReceiver for Flooding {
    async fn follow(&mut self, _: &[Topic], _: &[Topic]) -> Result<(), BusError> {
        Ok(())
    }

    async fn receive(&mut self) -> Received {
        self.0 += 1;
        assert!(self.0 < 100_000, "others have no turn");
        Received::Message(bytes::Bytes::from_static(b"mcs"))
    }
}

#[tokio::test]
async fn a_bus_that_never_pauses_leaves_others_their_turn() {
    let memory = Memory::new();
    let replica = Replica::new(Flood(memory.bus()));
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(!replica.relay.task.is_finished());
    assert!(replica.relay.stats().damaged > 0);
}

#[tokio::test(start_paused = true)]
async fn servers_that_share_a_hub_share_its_relay_and_the_relay_outlives_them() {
    let memory = Memory::new();
    let hub = Hub::new();
    let servers: [_; 2] = std::array::from_fn(|_| {
        Subscriptions::builder(ListChanges::new().tools()).with_hub(hub.clone()).build()
    });
    let relay = Relay::over(memory.bus()).attach(servers[0].hub());
    let elsewhere = Subscriptions::builder(ListChanges::new().tools()).build();
    let _elsewhere = Relay::over(memory.bus()).attach(elsewhere.hub());
    sleep(SECOND * 3).await;
    let tools = RequestedFilter { kinds: Kinds::TOOLS_LIST_CHANGED, uris: Vec::new() };
    let honoured = Arc::new(Honoured::new(tools));
    let streams =
        [&servers[0], &servers[1], &elsewhere].map(|server| server.hub().register(honoured.clone(), 8));
    for publisher in [&servers[0], &servers[1], &elsewhere] {
        publisher.publish(ToolsListChanged);
        sleep(SECOND).await;
        for stream in &streams {
            assert!(matches!(stream.slot().try_next(), Some(Next::Event(_))));
            assert!(stream.slot().try_next().is_none(), "once");
        }
    }
    drop((streams, servers, hub));
    elsewhere.publish(ToolsListChanged);
    sleep(SECOND * 20).await;
    assert_eq!(relay.stats().unconcerned, 1);
    assert!(relay.shutdown(SECOND * 5).await);
}
