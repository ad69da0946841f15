//! What any bus has to do, and what relays do over it. Each check panics at what does not hold.
//!
//! ```
//! use mcp_sub::relay::testing::{Memory, MemoryBus, contract::{self, Scene}};
//!
//! /// How the checks make and break your broker.
//! struct InMemory(Memory);
//!
//! impl Scene for InMemory {
//!     type Bus = MemoryBus;
//!     async fn join(&self) -> MemoryBus {
//!         self.0.bus()
//!     }
//!     async fn stop(&self) {
//!         self.0.stop();
//!     }
//!     async fn start(&self) {
//!         self.0.start();
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! contract::all(&InMemory(Memory::new())).await;
//! # }
//! ```

use std::{future::Future, time::Duration};

use bytes::Bytes;

use super::{
    super::{Bus, BusReceiver, BusSender, Received, Topic},
    probe::{Heard, Listener, Replica},
};

/// Long enough for something to come that should not.
const A_WHILE: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_secs(30);

/// A broker that the checks join, stop and start.
pub trait Scene {
    /// What is tested.
    type Bus: Bus;

    /// The bus of one more process, with a connection of its own.
    fn join(&self) -> impl Future<Output = Self::Bus>;

    /// Stops the broker, so that all connections are lost.
    fn stop(&self) -> impl Future<Output = ()>;

    /// Starts it again, at the same place. Those who are joined come back by themselves.
    fn start(&self) -> impl Future<Output = ()>;
}

/// All checks, one after the other.
///
/// # Panics
///
/// At what does not hold.
pub async fn all<S: Scene>(scene: &S) {
    everyone_hears_what_is_for_everyone_the_sender_included(scene).await;
    order_is_kept_across_topics(scene).await;
    a_gap_is_told_of(scene).await;
    an_event_reaches_each_stream_once_and_in_order(scene).await;
    streams_for_a_uri_hear_of_it(scene).await;
    local_delivery_goes_on_without_the_broker(scene).await;
    after_a_restart_each_stream_is_told_once(scene).await;
    shutdown_sends_what_waits(scene).await;
}

async fn message(receiver: &mut impl BusReceiver) -> Bytes {
    let next = async {
        loop {
            match receiver.receive().await {
                Received::Message(message) => return message,
                Received::Gap => {}
                Received::Closed => panic!("the bus is closed"),
            }
        }
    };
    tokio::time::timeout(PATIENCE, next).await.expect("a message does not come")
}

async fn open<B: Bus>(mut bus: B) -> (B::Sender, B::Receiver) {
    bus.open().await.expect("the bus opens")
}

/// Waits until messages of each reach the other: who has just joined is perhaps not heard yet.
async fn meet<S: Scene>(scene: &S) -> [(<S::Bus as Bus>::Sender, <S::Bus as Bus>::Receiver); 2] {
    let (mut a, mut b) = (open(scene.join().await).await, open(scene.join().await).await);
    let b_hears = async { while tokio::time::timeout(A_WHILE, message(&mut b.1)).await.is_err() {} };
    let a_sends = async {
        loop {
            a.0.send(Topic::EVERYONE, test_message(0)).await.expect("it is sent");
            tokio::time::sleep(A_WHILE / 10).await;
        }
    };
    tokio::select! {
        () = b_hears => {}
        () = a_sends => {}
    }
    [a, b]
}

/// As relays write them, with this sequence: a bus may look at the head.
fn test_message(sequence: u64) -> Bytes {
    use super::super::envelope::{Beacon, Body, Head, write};
    let head = Head {
        origin: 1,
        sequence: sequence + 1,
        previous: 0,
        previous_age: Duration::ZERO,
        topic: Topic::EVERYONE,
    };
    write(&head, &Body::Beacon(Beacon::default()))
}

/// What is sent to [`Topic::EVERYONE`] comes to all, and back.
///
/// # Panics
///
/// If not.
pub async fn everyone_hears_what_is_for_everyone_the_sender_included<S: Scene>(scene: &S) {
    let [(mut sender, mut own), (_kept, mut other)] = meet(scene).await;
    sender.send(Topic::EVERYONE, test_message(1)).await.expect("it is sent");
    sender.flush().await.expect("it is flushed");
    while message(&mut own).await != test_message(1) {}
    while message(&mut other).await != test_message(1) {}
}

/// One sender's messages come in their order, also where they have several topics.
///
/// # Panics
///
/// If not.
pub async fn order_is_kept_across_topics<S: Scene>(scene: &S) {
    let [(mut sender, _own), (mut kept, mut other)] = meet(scene).await;
    let topics = [Topic::EVERYONE, Topic::of("x:a"), Topic::of("x:b"), Topic::of("x:c")];
    other.follow(&topics[1..], &[]).await.expect("it follows");
    // By its own echo, it does so from now on.
    kept.send(Topic::EVERYONE, test_message(1)).await.expect("it is sent");
    while message(&mut other).await != test_message(1) {}
    let numbers = 2..2000_u64;
    let sending = async {
        for number in numbers.clone() {
            let topic = topics[usize::try_from(number % 4).unwrap_or_default()];
            sender.send(topic, test_message(number)).await.expect("it is sent");
        }
        sender.flush().await.expect("it is flushed");
    };
    let receiving = async {
        for number in numbers.clone() {
            let mut next = message(&mut other).await;
            while number == 2 && next == test_message(0) {
                next = message(&mut other).await;
            }
            assert_eq!(next, test_message(number), "message {number}");
        }
    };
    tokio::join!(sending, receiving);
}

/// A receiver says so when the connection was lost and is back.
///
/// # Panics
///
/// If not.
pub async fn a_gap_is_told_of<S: Scene>(scene: &S) {
    let [(_sender, mut receiver), _other] = meet(scene).await;
    scene.stop().await;
    scene.start().await;
    let gap = async { while !matches!(receiver.receive().await, Received::Gap) {} };
    tokio::time::timeout(PATIENCE, gap).await.expect("a gap is told of");
}

/// Two replicas that hear of each other.
async fn two<S: Scene>(scene: &S) -> [Replica; 2] {
    let replicas = [Replica::new(scene.join().await), Replica::new(scene.join().await)];
    for (from, to) in [(0, 1), (1, 0)] {
        let listener = replicas[to].listen(true, &[]);
        let publishing = async {
            loop {
                replicas[from].tools(0);
                tokio::time::sleep(A_WHILE / 10).await;
            }
        };
        tokio::select! {
            _ = listener.event() => {}
            () = publishing => {}
        }
    }
    // What is still on its way concerns nobody.
    tokio::time::sleep(A_WHILE).await;
    replicas
}

/// One frame's worth for each publish, on every replica, in the order of the publisher.
///
/// # Panics
///
/// If not.
pub async fn an_event_reaches_each_stream_once_and_in_order<S: Scene>(scene: &S) {
    let replicas = two(scene).await;
    let listeners = [replicas[0].listen(true, &[]), replicas[1].listen(true, &[])];
    for number in 1..=200 {
        assert_eq!(replicas[usize::from(number > 100)].tools(number), 1, "to the stream here");
    }
    for listener in &listeners {
        let mut last = [0, 100];
        for _ in 1..=200 {
            let Heard::Event(event) = listener.next().await else { panic!("nothing was lost") };
            let last = &mut last[usize::from(event.number > 100)];
            assert_eq!(event.number, *last + 1, "in order, and none twice");
            *last = event.number;
        }
        listener.silence(A_WHILE).await;
    }
}

/// A stream hears of its URI, and of no other, from the time when it listens.
///
/// # Panics
///
/// If not.
pub async fn streams_for_a_uri_hear_of_it<S: Scene>(scene: &S) {
    let [a, b] = two(scene).await;
    let listener = b.listen(false, &["x:mine"]);
    a.saved("x:other", 1);
    a.saved("x:mine", 2);
    // The broker may not know yet that somebody asks for it: then the next beacon tells.
    match listener.next().await {
        Heard::Event(event) => assert_eq!(event.number, 2),
        Heard::CatchUp(told) => assert_eq!(told, ["x:mine"]),
    }
    tokio::time::sleep(A_WHILE * 4).await;
    for number in 3..100 {
        a.saved("x:other", 0);
        a.saved("x:mine", number);
        assert_eq!(listener.event().await.number, number);
    }
}

/// Streams of the publishing replica do not wait for the broker, nor notice that it is gone.
///
/// # Panics
///
/// If not.
pub async fn local_delivery_goes_on_without_the_broker<S: Scene>(scene: &S) {
    let [a, b] = two(scene).await;
    let (here, there) = (a.listen(true, &[]), b.listen(true, &[]));
    scene.stop().await;
    for number in 1..=3000 {
        assert_eq!(a.tools(number), 1);
        assert_eq!(here.event().await.number, number);
    }
    assert!(a.relay.stats().unsent > 0, "what waits for the broker is bounded");
    scene.start().await;
    // There, the last thing heard comes after the last change.
    quiet(&there).await;
    a.tools(4000);
    assert_eq!(there.event().await.number, 4000);
}

/// Waits until nothing comes any more. Returns whether something came.
async fn quiet(listener: &Listener) -> Vec<Heard> {
    let mut heard = vec![listener.next().await];
    while let Ok(next) = tokio::time::timeout(Duration::from_secs(3), listener.wait()).await {
        heard.push(next);
    }
    heard
}

/// One catch-up for each honoured kind and URI, and then events as before.
///
/// # Panics
///
/// If not.
pub async fn after_a_restart_each_stream_is_told_once<S: Scene>(scene: &S) {
    let [a, b] = two(scene).await;
    let listeners = [a.listen(true, &["x:a"]), b.listen(true, &["x:b"])];
    tokio::time::sleep(Duration::from_secs(2)).await;
    scene.stop().await;
    scene.start().await;
    for (listener, uri) in listeners.iter().zip(["x:a", "x:b"]) {
        assert_eq!(quiet(listener).await, [Heard::CatchUp(vec!["tools".into(), uri.into()])]);
    }
    a.saved("x:b", 1);
    assert_eq!(listeners[1].event().await.number, 1);
}

/// What was published before a shutdown reaches the others.
///
/// # Panics
///
/// If not.
pub async fn shutdown_sends_what_waits<S: Scene>(scene: &S) {
    let [a, b] = two(scene).await;
    let listener = b.listen(true, &[]);
    for number in 1..=500 {
        a.tools(number);
    }
    assert!(a.relay.shutdown(PATIENCE).await, "the broker has all");
    for number in 1..=500 {
        assert_eq!(listener.event().await.number, number);
    }
}
