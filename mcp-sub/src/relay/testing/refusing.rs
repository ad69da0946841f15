//! What a relay does when its bus does not take a message.

use std::time::Duration;

use bytes::Bytes;

use super::{
    super::{Bus, BusError, BusSender, Topic},
    Memory, MemoryBus,
    memory::{MemoryReceiver, MemorySender},
    probe::{Changed, Heard, Replica},
};

/// Refuses what is longer than `limit`, and `delivers` it or not.
struct Refusing {
    bus: MemoryBus,
    limit: usize,
    delivers: bool,
}

struct RefusingSender {
    sender: MemorySender,
    limit: usize,
    delivers: bool,
}

impl Bus for Refusing {
    type Sender = RefusingSender;
    type Receiver = MemoryReceiver;

    async fn open(&mut self) -> Result<(RefusingSender, MemoryReceiver), BusError> {
        let (sender, receiver) = self.bus.open().await?;
        Ok((RefusingSender { sender, limit: self.limit, delivers: self.delivers }, receiver))
    }
}

impl BusSender for RefusingSender {
    async fn send(&mut self, topic: Topic, message: Bytes) -> Result<(), BusError> {
        let refused = message.len() > self.limit;
        if !refused || self.delivers {
            self.sender.send(topic, message).await?;
        }
        if refused { Err("it is too long".into()) } else { Ok(()) }
    }

    async fn flush(&mut self) -> Result<(), BusError> {
        self.sender.flush().await
    }
}

async fn two(memory: &Memory, limit: usize, delivers: bool) -> [Replica; 2] {
    let replicas =
        [Replica::new(Refusing { bus: memory.bus(), limit, delivers }), Replica::new(memory.bus())];
    tokio::time::sleep(Duration::from_secs(3)).await;
    replicas
}

#[tokio::test(start_paused = true)]
async fn a_note_that_is_too_long_for_the_bus_goes_without_its_uris() {
    let memory = Memory::new();
    let [a, b] = two(&memory, 1000, false).await;
    let listener = b.listen(true, &["x:a"]);
    tokio::time::sleep(Duration::from_secs(3)).await;
    a.saved(&"x".repeat(2000), 1);
    assert_eq!(listener.next().await, Heard::CatchUp(vec!["x:a".into()]));
    a.tools(2);
    assert_eq!(listener.event().await.number, 2, "events go again");
}

#[tokio::test(start_paused = true)]
async fn what_came_though_the_bus_says_that_it_did_not_hides_nothing_that_comes_after_it() {
    let memory = Memory::new();
    let [a, b] = two(&memory, 1000, true).await;
    let listener = b.listen(true, &[]);
    a.hub.publish(Changed { uri: Some("x".repeat(2000)), number: 1 });
    a.tools(2);
    assert_eq!(listener.next().await, Heard::Event(Changed { uri: None, number: 2 }));
    assert_eq!(b.relay.stats().gaps, 0);
}
