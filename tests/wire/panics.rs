//! Promise 6, for each function of a user's that can panic: it ends or refuses what it was called for, and nothing else.

use std::{
    pin::Pin,
    sync::atomic::{AtomicUsize, Ordering},
    task::{Context, Poll},
};

use futures_core::Stream;
use mcp_sub::{
    Caller, Channel, CloseReason, Inbox, Kinds, Limits, ListenRequest, Missed, Rejection,
    SubscriptionHandler, Subscriptions, subscription_handler,
};
use mcp_sub_tests::{Request, Response, Server, eventually, within};
use serde_json::json;
use tokio::sync::mpsc;

const TOOLS: &str = r#"{"toolsListChanged":true}"#;
const PROMPTS: &str = r#"{"promptsListChanged":true}"#;

/// Concerns tools.
struct Installed;
/// Concerns prompts.
struct Written;
/// Concerns tools, and panics where it is dropped.
struct Bomb;
/// The same, and its method panics before: two panics at once would end the process.
struct BadBomb;
/// Concerns tools; its method panics.
struct Bad;
/// The same, after a wait.
struct BadLater;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("in an event's destructor");
    }
}

impl Drop for BadBomb {
    fn drop(&mut self) {
        panic!("in the destructor of an event whose method panicked");
    }
}

/// Panics where it is polled, or where it is dropped.
enum Feed {
    Polled,
    Dropped,
}

impl Stream for Feed {
    type Item = Installed;
    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Installed>> {
        assert!(matches!(*self, Self::Dropped), "in a source");
        Poll::Pending
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        assert!(matches!(self, Self::Polled), "in a source's destructor");
    }
}

/// What one subscription has.
struct Seat {
    panics: String,
}

impl Drop for Seat {
    fn drop(&mut self) {
        assert_ne!(self.panics, "state", "in a state's destructor");
    }
}

/// Panics where the request's header `x-panic` says.
struct Fragile {
    closing: mpsc::UnboundedSender<CloseReason>,
    accepted: AtomicUsize,
}

fn told_to(caller: &Caller) -> &str {
    caller.headers().get("x-panic").and_then(|value| value.to_str().ok()).unwrap_or_default()
}

#[subscription_handler]
#[expect(clippy::unused_self, clippy::needless_pass_by_value, reason = "the attribute asks for this shape")]
impl Fragile {
    fn subscription_capabilities(&self, caller: &Caller) -> Kinds {
        assert_ne!(told_to(caller), "capabilities", "in `subscription_capabilities`");
        Self::DECLARED
    }

    async fn subscribe(&self, request: &ListenRequest, inbox: &Inbox) -> Result<Seat, Rejection> {
        let panics = request.headers().get("x-panic").and_then(|value| value.to_str().ok());
        let panics = panics.unwrap_or_default().to_owned();
        match &*panics {
            "subscribe" => panic!("in `subscribe`"),
            "subscribe later" => {
                tokio::task::yield_now().await;
                panic!("in `subscribe`, after a wait");
            }
            "source" => _ = inbox.attach(Feed::Polled),
            "source dropped" => _ = inbox.attach(Feed::Dropped),
            _ => {}
        }
        self.accepted.fetch_add(1, Ordering::SeqCst);
        Ok(Seat { panics })
    }

    #[emits(tools_list_changed)]
    fn installed(&self, _: &Installed, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(prompts_list_changed)]
    fn written(&self, _: &Written, channel: &mut Channel<'_>) {
        channel.prompts_list_changed();
    }

    #[emits(tools_list_changed)]
    fn bomb(&self, _: &Bomb, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(tools_list_changed)]
    fn bad_bomb(&self, _: &BadBomb, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
        panic!("in the method of such an event");
    }

    #[emits(tools_list_changed)]
    fn bad(&self, _: &Bad, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
        panic!("in a method");
    }

    #[emits(tools_list_changed)]
    async fn bad_later(&self, _: &BadLater, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
        tokio::task::yield_now().await;
        panic!("in a method, after a wait");
    }

    fn handle_lagged(&self, missed: &Missed<'_>, channel: &mut Channel<'_>, seat: &mut Seat) {
        assert_ne!(seat.panics, "lagged", "in `handle_lagged`");
        channel.catch_up(missed);
    }

    fn handle_close(&self, reason: CloseReason, seat: Seat) {
        self.closing.send(reason).unwrap();
        // Before the state goes: two panics at once end the process, as in all of Rust.
        assert_ne!(seat.panics, "close", "in `handle_close`");
    }
}

struct House {
    subscriptions: Subscriptions<Fragile>,
    server: Server,
    closing: mpsc::UnboundedReceiver<CloseReason>,
    /// A stream that goes on, whatever happens to others.
    other: Response,
}

impl House {
    async fn start(limits: Limits) -> Self {
        let (closing, closed) = mpsc::unbounded_channel();
        let subscriptions = Subscriptions::builder(Fragile { closing, accepted: AtomicUsize::new(0) })
            .principal(|caller| {
                assert_ne!(told_to(caller), "principal", "in the function of `principal`");
                None
            })
            .limits(limits.with_streams(2))
            .keep_alive(None)
            .build();
        let server = Server::start(subscriptions.http());
        let other = server.listening("2", PROMPTS).await;
        Self { subscriptions, server, closing: closed, other }
    }

    async fn listening(&self, panics: &str) -> Response {
        let mut stream = self.server.send(&Request::listen("1", TOOLS).header("x-panic", panics)).await;
        assert_eq!(stream.status(), 200, "{panics}");
        stream.acknowledged().await;
        stream
    }

    /// The other stream goes on, there is room for another one, and each that was accepted is closed once.
    async fn goes_on(mut self, closed: impl IntoIterator<Item = CloseReason>) {
        eventually("there is room", || self.subscriptions.open_streams() == 1).await;
        for expected in closed {
            assert_eq!(within("handle_close", self.closing.recv()).await, Some(expected));
        }
        let mut third = self.listening("").await;
        for _ in 0..2 {
            assert_eq!(self.subscriptions.publish(Installed), 1);
            assert_eq!(third.told().await, "tools");
            assert_eq!(self.subscriptions.publish(Written), 1);
            assert_eq!(self.other.told().await, "prompts");
        }
        let shutdown = self.subscriptions.shutdown(mcp_sub_tests::PATIENCE).await;
        assert_eq!((shutdown.completed, shutdown.cut), (2, 0));
        assert_eq!([self.other.told().await, third.told().await], ["result", "result"]);
        for _ in 0..2 {
            assert_eq!(self.closing.recv().await, Some(CloseReason::Shutdown));
        }
        assert!(self.closing.try_recv().is_err(), "none is closed twice");
        let stats = self.subscriptions.stats();
        let accepted = self.subscriptions.handler().accepted.load(Ordering::SeqCst) as u64;
        assert_eq!((stats.opened, stats.closed.values().sum()), (accepted, accepted));
    }
}

#[tokio::test]
async fn promise_6_a_panic_before_the_acknowledgement_refuses_one_listen() {
    for panics in ["capabilities", "principal", "subscribe", "subscribe later"] {
        let house = House::start(Limits::default()).await;
        for _ in 0..3 {
            let listen = Request::listen("1", TOOLS).header("x-panic", panics);
            let mut refused = house.server.send(&listen).await;
            let error = refused.json().await;
            assert_eq!(refused.status(), 500, "{panics}: {error}");
            let expected = json!({"code": -32603, "message": "internal error"});
            assert_eq!((&error["id"], &error["error"]), (&json!(1), &expected), "{panics}");
        }
        house.goes_on([]).await;
    }
}

#[tokio::test]
async fn promise_6_a_panic_in_a_method_ends_one_stream() {
    for later in [false, true] {
        let house = House::start(Limits::default()).await;
        let mut stream = house.listening("").await;
        if later {
            house.subscriptions.publish(BadLater)
        } else {
            house.subscriptions.publish(Bad)
        };
        assert_eq!(stream.told().await, "tools", "what was sent before is told");
        assert_eq!(stream.told().await, "error panicked");
        assert!(stream.rest().await.is_empty());
        house.goes_on([CloseReason::Panicked]).await;
    }
}

#[tokio::test]
async fn promise_6_a_panic_in_handle_lagged_ends_one_stream() {
    // No room for any event.
    let house = House::start(Limits::default().with_slot(0)).await;
    let mut stream = house.listening("lagged").await;
    house.subscriptions.publish(Installed);
    assert_eq!(stream.told().await, "error panicked");
    house.goes_on([CloseReason::Panicked]).await;
}

#[tokio::test]
async fn promise_6_a_panic_in_a_source_ends_one_stream() {
    let house = House::start(Limits::default()).await;
    let mut stream = house.listening("source").await;
    assert_eq!(stream.told().await, "error panicked");
    house.goes_on([CloseReason::Panicked]).await;
}

#[tokio::test]
async fn promise_6_a_panic_when_a_stream_is_over_harms_nobody() {
    for panics in ["close", "state", "source dropped"] {
        let house = House::start(Limits::default()).await;
        house.listening(panics).await.leave();
        house.goes_on([CloseReason::Disconnected]).await;
    }
}

#[tokio::test]
async fn promise_6_a_panic_in_an_events_destructor_ends_nothing() {
    let house = House::start(Limits::default().with_slot(1)).await;
    let mut stream = house.listening("").await;
    // The stream is the last to hold the first one, the publisher of the second one, for which there is no room.
    for _ in 0..2 {
        assert_eq!(house.subscriptions.publish(Bomb), 1);
    }
    assert_eq!(stream.told().await, "tools");
    house.subscriptions.publish(Installed);
    assert_eq!(stream.told().await, "tools");
    stream.leave();
    house.goes_on([CloseReason::Disconnected]).await;
}

#[tokio::test]
async fn promise_6_a_panic_in_a_method_and_in_the_destructor_of_its_event_ends_one_stream() {
    let house = House::start(Limits::default()).await;
    let mut stream = house.listening("").await;
    house.subscriptions.publish(BadBomb);
    assert_eq!([stream.told().await, stream.told().await], ["tools", "error panicked"]);
    house.goes_on([CloseReason::Panicked]).await;
}
