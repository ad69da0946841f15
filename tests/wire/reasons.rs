//! Promise 5, for the endings that come from outside of a method: what the client sees, and what `handle_close` is told,
//! once. Those from inside, and those of clients that go, are in `closing`.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use mcp_sub::{
    Channel, CloseReason, Filter, Inbox, Limits, ListenRequest, Rejection, SubscriptionHandle, Subscriptions,
    subscription_handler,
};
use mcp_sub_tests::{Client, Request, Response, Server, eventually, within};
use tokio::sync::mpsc;

use crate::inbox::Feed;

const TOOLS: &str = r#"{"toolsListChanged":true}"#;

struct Installed;
struct Saved(String);

/// Gives away the handle of each subscription, ends those that say when by `x-expire`, and attaches a source.
struct Porter {
    handles: Mutex<Vec<SubscriptionHandle>>,
    feed: Mutex<Option<Feed<Installed>>>,
    closed: mpsc::UnboundedSender<CloseReason>,
}

#[subscription_handler]
#[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the attribute asks for this shape")]
impl Porter {
    fn subscribe(
        &self,
        filter: &mut Filter<'_>,
        request: &ListenRequest,
        inbox: &Inbox,
    ) -> Result<(), Rejection> {
        let expire = request.headers().get("x-expire").and_then(|after| after.to_str().ok()?.parse().ok());
        if let Some(after) = expire {
            filter.set_expiry(Instant::now() + Duration::from_millis(after));
        }
        if let Some(feed) = self.feed.lock().unwrap().take() {
            inbox.attach(feed);
        }
        self.handles.lock().unwrap().push(request.handle());
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn installed(&self, _: &Installed, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(resources_updated)]
    fn saved(&self, Saved(uri): &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated(uri);
    }

    fn handle_close(&self, reason: CloseReason) {
        self.closed.send(reason).unwrap();
    }
}

struct House {
    subscriptions: Subscriptions<Porter>,
    server: Server,
    closed: mpsc::UnboundedReceiver<CloseReason>,
}

impl House {
    fn start(limits: Limits, feed: Option<Feed<Installed>>) -> Self {
        let (closed, reasons) = mpsc::unbounded_channel();
        let porter = Porter { handles: Mutex::default(), feed: Mutex::new(feed), closed };
        let subscriptions = Subscriptions::builder(porter)
            .principal(|caller| Some(caller.headers().get("x-user")?.to_str().ok()?.to_owned()))
            // One at a time: whoever is next finds its place.
            .limits(limits.with_streams(1))
            .keep_alive(None)
            .build();
        let server = Server::start_narrow(subscriptions.http());
        Self { subscriptions, server, closed: reasons }
    }

    async fn listening(&self, request: Request) -> Response {
        let mut stream = self.server.send(&request).await;
        assert_eq!(stream.status(), 200);
        stream.acknowledged().await;
        stream
    }

    fn handle(&self) -> SubscriptionHandle {
        self.subscriptions.handler().handles.lock().unwrap().last().unwrap().clone()
    }

    /// That was the only close, its handle says the same, its name is counted, and there is room.
    async fn closed_for(mut self, reason: CloseReason) {
        assert_eq!(within("handle_close", self.closed.recv()).await.as_ref(), Some(&reason));
        assert_eq!(within("the handle knows", self.handle().closed()).await.as_ref(), Some(&reason));
        assert_eq!(self.subscriptions.open_streams(), 0);
        assert_eq!(self.subscriptions.stats().closed, [(reason.name(), 1)].into());
        self.listening(Request::listen("8", TOOLS)).await.leave();
        assert_eq!(within("handle_close", self.closed.recv()).await, Some(CloseReason::Disconnected));
        assert!(self.closed.try_recv().is_err(), "once");
    }
}

#[tokio::test]
async fn promise_5_a_handle_ends_its_stream_after_what_was_published() {
    let house = House::start(Limits::default(), None);
    let mut stream = house.listening(Request::listen("7", TOOLS)).await;
    house.subscriptions.publish(Installed);
    house.handle().end("enough");
    house.handle().end("twice");
    house.subscriptions.publish(Installed);
    assert_eq!([stream.told().await, stream.told().await], ["tools", "result"]);
    assert!(stream.rest().await.is_empty());
    assert_eq!(house.subscriptions.publish(Installed), 0);
    house.handle().end("after the end");
    house.closed_for(CloseReason::Stopped("enough".into())).await;
}

#[tokio::test]
async fn promise_5_all_streams_of_a_principal_end_with_their_result() {
    let house = House::start(Limits::default(), None);
    let mut stream = house.listening(Request::listen("7", TOOLS).header("x-user", "alice")).await;
    assert_eq!(house.subscriptions.end_all("bob", "another"), 0);
    assert_eq!(house.subscriptions.end_all("alice", "signed out"), 1);
    assert_eq!(stream.told().await, "result");
    assert!(stream.rest().await.is_empty());
    house.closed_for(CloseReason::Stopped("signed out".into())).await;
}

#[tokio::test]
async fn promise_5_a_stream_expires_with_its_credentials_or_at_the_end_of_its_lifetime() {
    let expiring = Request::listen("7", TOOLS).header("x-expire", "20");
    for (limits, request) in [
        (Limits::default(), expiring),
        (Limits::default().with_lifetime(Duration::from_millis(20)), Request::listen("7", TOOLS)),
    ] {
        let house = House::start(limits, None);
        let mut stream = house.listening(request).await;
        let error = stream.frame().await;
        assert_eq!((&error["id"], &error["error"]["code"]), (&7.into(), &(-32603).into()), "{error}");
        assert_eq!(error["error"]["data"]["reason"], "expired");
        assert!(stream.rest().await.is_empty());
        // The next one may have a lifetime as well: of that it knows nothing yet.
        let mut closed = house.closed;
        assert_eq!(within("handle_close", closed.recv()).await, Some(CloseReason::Expired));
        assert_eq!(house.subscriptions.open_streams(), 0);
        assert_eq!(house.subscriptions.stats().closed, [("expired", 1)].into());
        assert!(closed.try_recv().is_err(), "once");
    }
}

/// It gets the error if it reads again after all.
#[tokio::test]
async fn promise_5_a_client_that_stalled_reads_so_if_it_comes_back() {
    let house = House::start(Limits::default().with_write_timeout(Duration::from_millis(50)), None);
    let uri = format!("a:{}", "x".repeat(10_000));
    let request = Request::listen("7", &format!(r#"{{"resourceSubscriptions":["{uri}"]}}"#));
    let mut stalled = Client::connect_narrow(house.server.address()).await.send(&request).await;
    eventually("the stream is given up", || {
        house.subscriptions.publish_for(&uri, Saved(uri.clone()));
        house.subscriptions.open_streams() == 0
    })
    .await;
    stalled.acknowledged().await;
    let last = loop {
        let told = stalled.told().await;
        if told != uri {
            break told;
        }
    };
    assert_eq!(last, "error stalled");
    assert!(stalled.rest().await.is_empty());
    house.closed_for(CloseReason::Stalled).await;
}

/// With `attach`, where `attach_or_end` would end it: see `inbox`.
#[tokio::test]
async fn promise_5_a_stream_outlives_a_source_that_it_does_not_live_for() {
    let (feed, source) = mpsc::unbounded_channel();
    let house = House::start(Limits::default(), Some(Feed(source)));
    let mut stream = house.listening(Request::listen("7", TOOLS)).await;
    feed.send(Installed).unwrap_or_else(|_| panic!("it is taken"));
    assert_eq!(stream.told().await, "tools");
    drop(feed);
    house.subscriptions.publish(Installed);
    assert_eq!(stream.told().await, "tools");
    stream.leave();
    house.closed_for(CloseReason::Disconnected).await;
}
