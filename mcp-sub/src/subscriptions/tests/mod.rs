//! Streams without a transport: a listen goes in, frames come out.

mod callers;
mod changes;
mod counts;
mod endings;
mod foreign;
mod inbox;
mod lagged;
mod model;
mod outside;
mod spans;
mod wakers;
mod windows;

use std::{
    future::{Future, poll_fn},
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
        mpsc as std_mpsc,
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use http::{Extensions, HeaderMap};
use serde_json::{Value, value::RawValue};
use tokio::sync::{Notify, mpsc};

use super::{Admission, Listen, Subscriptions};
use crate::{
    AnyNotification, Caller, Channel, CloseReason, Declares, Filter, Flow, Handles, Inbox, Kinds, Limits,
    ListenRequest, Missed, Rejection, RequestId, ResourcesUpdated, SubscriptionHandle, SubscriptionHandler,
    ToolsListChanged, builder::Builder, frame::Framing, protocol::filter::RequestedFilter,
    registry::EventStream,
};

static LINES: Framing = Framing { before: b"", after: b"\n", cancelled: false };

enum Event {
    Tools,
    Saved(&'static str),
    Stop,
    Fail,
    Panic,
    /// Waits for ever, in the middle of a method.
    Hang,
    /// Sends what was never declared.
    Lie,
    /// Panics when it is dropped.
    Bomb(Bomb),
    /// Holds its thread until it is told to go on.
    Block(Mutex<std_mpsc::Receiver<()>>),
}

/// What `subscribe` does.
#[derive(Default)]
enum Decide {
    #[default]
    Accept,
    Narrow,
    Reject,
    Panic,
    /// Publishes, then narrows.
    PublishAndNarrow(Arc<OnceLock<Subscriptions<Probe>>>),
    /// Says that it began, and waits to be told to go on.
    Wait(Arc<Notify>, Arc<Notify>),
    /// Waits for ever, and panics when it is dropped.
    Bomb,
    /// Gives its handle away.
    Give(mpsc::UnboundedSender<SubscriptionHandle>),
    GiveAndReject(mpsc::UnboundedSender<SubscriptionHandle>),
    /// Ends after this time.
    Expire(Duration),
    /// Puts something into the inbox, and then narrows.
    Fill(Fill),
    /// Accepts; what was missed later goes here.
    Lag(Lag),
}

type Fill = Box<dyn Fn(&Inbox<Probe>) + Send + Sync>;

/// What `handle_lagged` does, told what was missed: whether tools changed, and which resources.
type Lag = Box<dyn Fn(bool, Vec<&str>, &mut Channel<'_, AnyNotification>) -> Flow + Send + Sync>;

struct Bomb;
impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("in drop");
    }
}

struct Probe {
    decide: Decide,
    closed: mpsc::UnboundedSender<CloseReason>,
    handled: AtomicUsize,
}

impl Declares<ToolsListChanged> for Probe {}
impl Declares<ResourcesUpdated> for Probe {}

impl SubscriptionHandler for Probe {
    type Event = Event;
    type State = ();
    const DECLARED: Kinds = Kinds::TOOLS_LIST_CHANGED.union(Kinds::RESOURCES_UPDATED);

    fn kinds(event: &Event) -> Kinds {
        match event {
            Event::Saved(_) => Kinds::RESOURCES_UPDATED,
            Event::Lie => Kinds::TOOLS_LIST_CHANGED.union(Kinds::PROMPTS_LIST_CHANGED),
            _ => Kinds::TOOLS_LIST_CHANGED,
        }
    }

    async fn subscribe(
        &self,
        filter: &mut Filter<'_, Self>,
        request: &ListenRequest,
        inbox: &Inbox<Self>,
    ) -> Result<(), Rejection> {
        match &self.decide {
            Decide::Accept | Decide::Lag(_) => {}
            Decide::Fill(fill) => {
                fill(inbox);
                filter.retain_resources(|uri| uri != "x:b");
            }
            Decide::Narrow => filter.decline::<ToolsListChanged>(),
            Decide::Reject => return Err(Rejection::invalid("no")),
            Decide::Panic => panic!("in subscribe"),
            Decide::PublishAndNarrow(server) => {
                let server = server.get().unwrap();
                assert_eq!(server.publish(Event::Tools), 1);
                assert_eq!(server.publish(Event::Saved("x:a")), 1);
                filter.decline::<ToolsListChanged>();
            }
            Decide::Wait(begun, go_on) => {
                begun.notify_one();
                go_on.notified().await;
            }
            Decide::Bomb => {
                let _bomb = Bomb;
                std::future::pending::<()>().await;
            }
            Decide::Give(to) => to.send(request.handle()).unwrap(),
            Decide::GiveAndReject(to) => {
                to.send(request.handle()).unwrap();
                return Err(Rejection::forbidden());
            }
            Decide::Expire(after) => {
                filter.set_expiry(tokio::time::Instant::now() + *after);
                filter.set_expiry(tokio::time::Instant::now() + *after * 2);
            }
        }
        Ok(())
    }

    async fn handle_event(
        &self,
        event: &Event,
        channel: &mut Channel<'_, AnyNotification>,
        (): &mut (),
    ) -> Flow {
        self.handled.fetch_add(1, Ordering::Relaxed);
        match event {
            Event::Tools => channel.tools_list_changed(),
            Event::Saved(uri) => channel.resources_updated(uri),
            Event::Stop => return Flow::stop("enough"),
            Event::Fail => return Flow::Fail("it broke".into()),
            Event::Panic => panic!("in a method"),
            Event::Bomb(_) => {}
            Event::Hang => std::future::pending().await,
            Event::Block(go_on) => go_on.lock().unwrap().recv().unwrap(),
            Event::Lie => {
                channel.prompts_list_changed();
                channel.resources_list_changed();
                channel.resources_updated("x:never-asked");
            }
        }
        Flow::Continue
    }

    async fn handle_lagged(
        &self,
        missed: &Missed<'_>,
        channel: &mut Channel<'_, AnyNotification>,
        (): &mut (),
    ) -> Flow {
        if let Decide::Lag(lag) = &self.decide {
            return lag(missed.contains::<ToolsListChanged>(), missed.resources().collect(), channel);
        }
        channel.catch_up(missed);
        Flow::Continue
    }

    async fn handle_close(&self, reason: CloseReason, (): ()) {
        self.closed.send(reason).unwrap();
    }
}

impl Handles<Event> for Probe {
    type Events = Event;
    fn into_event(event: Event) -> Event {
        event
    }
}

type Closed = mpsc::UnboundedReceiver<CloseReason>;

fn server(
    decide: Decide,
    set: impl FnOnce(Builder<Probe>) -> Builder<Probe>,
) -> (Subscriptions<Probe>, Closed) {
    let (closed, reasons) = mpsc::unbounded_channel();
    let probe = Probe { decide, closed, handled: AtomicUsize::new(0) };
    (set(Subscriptions::builder(probe)).build(), reasons)
}

fn caller() -> Caller {
    Caller::new(HeaderMap::new(), Extensions::new(), serde_json::Map::new())
}

fn listen() -> Listen {
    let id: Box<RawValue> = serde_json::from_str("7").unwrap();
    Listen {
        id: RequestId::of(&id, 10).unwrap(),
        caller: caller(),
        filter: RequestedFilter {
            kinds: Kinds::TOOLS_LIST_CHANGED
                .union(Kinds::PROMPTS_LIST_CHANGED)
                .union(Kinds::RESOURCES_UPDATED),
            uris: vec!["x:a".into(), "x:b".into()],
        },
        framing: &LINES,
    }
}

async fn open_listen(
    server: &Subscriptions<Probe>,
    admission: Admission,
    listen: Listen,
) -> Result<EventStream, Rejection> {
    server.register(admission, listen, Kinds::ALL).open(Kinds::ALL).await
}

async fn open_with(server: &Subscriptions<Probe>, allowed: Kinds) -> Result<EventStream, Rejection> {
    server.register(server.admit(&caller())?, listen(), Kinds::ALL).open(allowed).await
}

async fn open(server: &Subscriptions<Probe>) -> EventStream {
    open_with(server, Probe::DECLARED).await.unwrap_or_else(|rejection| panic!("{rejection}"))
}

/// The messages that are there now, each by its method, its URI, or its ending; `None` after the last one.
fn now(stream: &EventStream) -> Option<Vec<String>> {
    match stream.poll_frames(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(frames) => Some(names(&frames?)),
        Poll::Pending => Some(Vec::new()),
    }
}

/// The next messages.
async fn next(stream: &EventStream) -> Option<Vec<String>> {
    poll_fn(|cx| stream.poll_frames(cx)).await.map(|frames| names(&frames))
}

fn names(frames: &[u8]) -> Vec<String> {
    let name = |line: &str| {
        let message: Value = serde_json::from_str(line).unwrap();
        if let Some(result) = message.get("result") {
            assert_eq!(message["id"], 7);
            return result["resultType"].as_str().unwrap().to_owned();
        }
        if let Some(error) = message.get("error") {
            assert_eq!((&message["id"], &error["code"]), (&7.into(), &(-32603).into()));
            return error["data"]["reason"].as_str().unwrap().to_owned();
        }
        let id = &message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(id, 7);
        match message["params"]["uri"].as_str() {
            Some(uri) => uri.to_owned(),
            None => message["method"].as_str().unwrap().rsplit('/').take(2).collect::<Vec<_>>().join(" "),
        }
    };
    std::str::from_utf8(frames).unwrap().lines().map(name).collect()
}

const ACK: &str = "acknowledged subscriptions";
const TOOLS: &str = "list_changed tools";

/// A waker that does this when it is woken, and that when it is dropped.
struct Hook<F: Fn() + Send + Sync, G: Fn() + Send + Sync>(F, G);
impl<F: Fn() + Send + Sync, G: Fn() + Send + Sync> Wake for Hook<F, G> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}
impl<F: Fn() + Send + Sync, G: Fn() + Send + Sync> Drop for Hook<F, G> {
    fn drop(&mut self) {
        (self.1)();
    }
}
