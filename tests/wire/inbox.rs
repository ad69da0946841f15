//! What is for one subscription alone: its inbox, and `handle_lagged`.

use std::{
    pin::Pin,
    sync::Mutex,
    task::{Context, Poll},
};

use futures_core::Stream;
use mcp_sub::{
    Channel, CloseReason, Inbox, Limits, Missed, Rejection, ResourcesUpdated, Subscriptions,
    ToolsListChanged, subscription_handler,
};
use mcp_sub_tests::{Server, within};
use tokio::sync::mpsc;

const FILTER: &str =
    r#"{"toolsListChanged":true,"resourceSubscriptions":["file:///a","file:///b","file:///secret"]}"#;

struct Saved(&'static str);
struct Installed;

pub(crate) struct Feed<T>(pub(crate) mpsc::UnboundedReceiver<T>);

impl<T> Stream for Feed<T> {
    type Item = T;
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.0.poll_recv(cx)
    }
}

/// Tells the first subscription of these files when it begins, and then of what its feed says.
struct Files {
    changed: Vec<&'static str>,
    feed: Mutex<Option<Feed<Installed>>>,
    closed: mpsc::UnboundedSender<CloseReason>,
}

#[subscription_handler]
impl Files {
    #[expect(clippy::unnecessary_wraps, reason = "the attribute asks for this shape")]
    fn subscribe(&self, inbox: &Inbox) -> Result<(), Rejection> {
        if let Some(feed) = self.feed.lock().unwrap().take() {
            for uri in &self.changed {
                assert!(inbox.send_for(uri, Saved(uri)));
            }
            assert!(inbox.attach_or_end(feed));
        }
        Ok(())
    }

    #[emits(resources_updated)]
    #[expect(clippy::unused_self, reason = "the attribute asks for this shape")]
    fn saved(&self, Saved(uri): &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated(uri);
    }

    #[emits(tools_list_changed)]
    #[expect(clippy::unused_self, reason = "the attribute asks for this shape")]
    fn installed(&self, _: &Installed, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    async fn handle_lagged(&self, channel: &mut Channel<'_>, missed: &Missed<'_>) {
        assert!(missed.contains::<ResourcesUpdated>() && !missed.contains::<ToolsListChanged>());
        for uri in missed.resources().filter(|uri| !uri.contains("secret")) {
            tokio::task::yield_now().await;
            channel.resources_updated(uri);
        }
    }

    fn handle_close(&self, reason: CloseReason) {
        self.closed.send(reason).unwrap();
    }
}

#[tokio::test]
async fn one_subscription_is_told_of_what_is_its_own_and_ends_with_its_source() {
    let (feed, source) = mpsc::unbounded_channel();
    let (closed, mut reasons) = mpsc::unbounded_channel();
    let files = Files {
        changed: vec!["file:///b", "file:///secret", "file:///a"],
        feed: Mutex::new(Some(Feed(source))),
        closed,
    };
    // Room for one event: of the others it hears as of missed ones.
    let subscriptions =
        Subscriptions::builder(files).keep_alive(None).limits(Limits::default().with_slot(1)).build();
    let server = Server::start(subscriptions.http());
    let mut stream = server.listening("1", FILTER).await;
    let mut other = server.listening("2", FILTER).await;
    assert_eq!([stream.told().await, stream.told().await], ["file:///b", "file:///a"]);
    feed.send(Installed).unwrap_or_else(|_| panic!("it is taken"));
    assert_eq!(stream.told().await, "tools");
    drop(feed);
    assert_eq!(stream.rest().await[0]["result"]["resultType"], "complete");
    assert_eq!(within("handle_close", reasons.recv()).await, Some(CloseReason::SourceEnded));
    assert_eq!(subscriptions.open_streams(), 1, "its slot is free");
    assert_eq!(subscriptions.publish(Saved("file:///a")), 1);
    assert_eq!(other.told().await, "file:///a", "and nothing before");
}

#[tokio::test]
async fn a_source_is_dropped_when_its_client_goes_away() {
    let (feed, source) = mpsc::unbounded_channel();
    let (closed, mut reasons) = mpsc::unbounded_channel();
    let files = Files { changed: Vec::new(), feed: Mutex::new(Some(Feed(source))), closed };
    let subscriptions = Subscriptions::builder(files).build();
    let server = Server::start(subscriptions.http());
    server.listening("1", FILTER).await.leave();
    within("the source is dropped", feed.closed()).await;
    assert_eq!(within("handle_close", reasons.recv()).await, Some(CloseReason::Disconnected));
}
