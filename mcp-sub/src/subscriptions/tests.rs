//! Streams without a transport: a listen goes in, frames come out.

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

use super::{Listen, Subscriptions};
use crate::{
    AnyNotification, Channel, CloseReason, Declares, Filter, Flow, Handles, Kinds, Limits, ListenRequest,
    Rejection, RequestId, ResourcesUpdated, SubscriptionHandler, ToolsListChanged, builder::Builder,
    frame::Framing, protocol::filter::RequestedFilter, registry::EventStream,
};

const LINES: Framing = Framing { before: b"", after: b"\n" };

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
}

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

    async fn subscribe(&self, filter: &mut Filter<'_, Self>, _: &ListenRequest) -> Result<(), Rejection> {
        match &self.decide {
            Decide::Accept => {}
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

    async fn handle_close(&self, reason: CloseReason, (): ()) {
        self.closed.send(reason).unwrap();
    }
}

impl Handles<Event> for Probe {
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

fn listen() -> Listen {
    let id: Box<RawValue> = serde_json::from_str("7").unwrap();
    Listen {
        request: ListenRequest::new(
            RequestId::of(&id, 10).unwrap(),
            HeaderMap::new(),
            Extensions::new(),
            serde_json::Map::new(),
        ),
        filter: RequestedFilter {
            kinds: Kinds::TOOLS_LIST_CHANGED
                .union(Kinds::PROMPTS_LIST_CHANGED)
                .union(Kinds::RESOURCES_UPDATED),
            uris: vec!["x:a".into(), "x:b".into()],
        },
        framing: LINES,
    }
}

async fn open_with(server: &Subscriptions<Probe>, allowed: Kinds) -> Result<EventStream, Rejection> {
    server.open(server.admit()?, listen(), allowed).await
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

#[tokio::test]
async fn promise_1_what_is_published_before_the_acknowledgement_comes_after_it() {
    let cell = Arc::new(OnceLock::new());
    let (server, _) = server(Decide::PublishAndNarrow(cell.clone()), |builder| builder);
    cell.set(server.clone()).unwrap();
    let stream = open(&server).await;
    server.publish(Event::Saved("x:b"));
    assert_eq!(now(&stream).unwrap(), [ACK], "alone, and first");
    assert_eq!(now(&stream).unwrap(), ["x:a", "x:b"], "without what was narrowed away");
}

#[tokio::test]
async fn promise_2_what_was_not_asked_for_or_not_declared_is_never_written() {
    let (server, _) = server(Decide::Narrow, |builder| builder);
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    assert_eq!(server.publish(Event::Tools), 0);
    assert_eq!(server.publish(Event::Lie), 0);
    assert_eq!(server.publish_for("x:c", Event::Saved("x:c")), 0);
    assert_eq!(server.publish(Event::Saved("x:c")), 1, "without a URI it may concern whoever has one");
    assert!(now(&stream).unwrap().is_empty());
}

#[tokio::test]
async fn promise_2_a_handler_that_lies_is_not_believed() {
    let (server, _) = server(Decide::Accept, |builder| builder);
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    assert_eq!(server.publish(Event::Lie), 1);
    assert!(now(&stream).unwrap().is_empty());
}

#[tokio::test]
async fn promise_4_while_frames_are_untaken_no_event_is_taken_and_what_waits_merges() {
    let (server, _) = server(Decide::Accept, |builder| builder);
    let stream = open(&server).await;
    for _ in 0..100 {
        server.publish(Event::Tools);
        server.publish_for("x:b", Event::Saved("x:b"));
    }
    assert_eq!(server.handler().handled.load(Ordering::Relaxed), 0);
    assert_eq!(now(&stream).unwrap(), [ACK]);
    assert_eq!(now(&stream).unwrap(), [TOOLS, "x:b"]);
    assert_eq!(server.handler().handled.load(Ordering::Relaxed), 200);
    assert!(now(&stream).unwrap().is_empty());
}

#[tokio::test]
async fn promise_4_after_an_overflow_each_kind_and_uri_is_told_of_once_more() {
    let (server, _) = server(Decide::Accept, |builder| builder.limits(Limits::default().with_slot(1)));
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    server.publish(Event::Tools);
    for _ in 0..1_000 {
        server.publish_for("x:b", Event::Saved("x:b"));
        server.publish_for("x:none", Event::Saved("x:none"));
    }
    assert_eq!(now(&stream).unwrap(), [TOOLS, "x:b"]);
    assert_eq!(server.handler().handled.load(Ordering::Relaxed), 1, "the catch-up passes by the methods");
    server.publish_for("x:a", Event::Saved("x:a"));
    assert_eq!(now(&stream).unwrap(), ["x:a"]);
}

#[tokio::test]
async fn promise_5_and_7_each_ending_is_told_once_to_both_sides() {
    for (event, last, reason) in [
        (Event::Stop, "complete", CloseReason::Stopped("enough".into())),
        (Event::Fail, "handler_failed", CloseReason::Failed("it broke".into())),
        (Event::Panic, "panicked", CloseReason::Panicked),
    ] {
        let (server, mut closed) = server(Decide::Accept, |builder| builder);
        let (stream, other) = (open(&server).await, open(&server).await);
        assert_eq!(now(&stream).unwrap(), [ACK]);
        server.publish(Event::Tools);
        server.publish(event);
        server.publish(Event::Tools);
        assert_eq!(now(&stream).unwrap(), [TOOLS, last], "what was sent before goes out before");
        assert_eq!(closed.recv().await, Some(reason));
        assert_eq!(server.open_streams(), 1, "there is room at once");
        assert_eq!(now(&stream), None);
        assert_eq!(now(&stream), None);
        drop(stream);
        assert_eq!(now(&other).unwrap(), [ACK]);
        drop(other);
        assert_eq!(closed.recv().await, Some(CloseReason::Disconnected));
        assert!(closed.try_recv().is_err());
    }
}

#[tokio::test]
async fn promise_5_a_client_that_goes_away_ends_a_method_at_its_await() {
    let (server, mut closed) = server(Decide::Accept, |builder| builder);
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    server.publish(Event::Hang);
    assert!(now(&stream).unwrap().is_empty());
    drop(stream);
    assert_eq!(server.open_streams(), 0);
    assert_eq!(closed.recv().await, Some(CloseReason::Disconnected));
}

#[tokio::test]
async fn promise_5_what_subscribe_does_not_accept_is_never_closed() {
    for decide in [Decide::Reject, Decide::Panic] {
        let panics = matches!(decide, Decide::Panic);
        let (server, mut closed) = server(decide, |builder| builder);
        let Err(rejection) = open_with(&server, Probe::DECLARED).await else { panic!("accepted") };
        assert_eq!(rejection.code(), if panics { -32603 } else { -32602 });
        assert_eq!(server.open_streams(), 0);
        assert_eq!(server.publish(Event::Tools), 0, "its slot is gone");
        drop(server);
        assert_eq!(closed.recv().await, None);
    }
}

#[tokio::test]
async fn a_stream_that_honours_nothing_is_completed_at_once_or_held() {
    let (server, mut closed) = server(Decide::Accept, |builder| builder);
    let stream = open_with(&server, Kinds::NONE).await.unwrap_or_else(|rejection| panic!("{rejection}"));
    assert_eq!(next(&stream).await.unwrap(), [ACK]);
    assert_eq!(next(&stream).await.unwrap(), ["complete"]);
    assert_eq!(next(&stream).await, None);
    assert_eq!(closed.recv().await, Some(CloseReason::Completed));
    assert_eq!(server.open_streams(), 0);

    let (server, _) = self::server(Decide::Accept, |builder| builder.hold_empty(true));
    let stream = open_with(&server, Kinds::NONE).await.unwrap_or_else(|rejection| panic!("{rejection}"));
    assert_eq!(now(&stream).unwrap(), [ACK]);
    assert!(now(&stream).unwrap().is_empty());
    assert_eq!(server.open_streams(), 1);
}

#[tokio::test]
async fn the_limit_of_streams_is_named_and_room_is_there_when_one_ends() {
    let (server, _) = server(Decide::Accept, |builder| builder.limits(Limits::default().with_streams(1)));
    let stream = open(&server).await;
    let Err(rejection) = open_with(&server, Probe::DECLARED).await else { panic!("admitted") };
    assert_eq!(rejection.status(), 503);
    assert!(rejection.message().contains("limit of 1 open"), "{rejection}");
    drop(stream);
    open(&server).await;
}

#[tokio::test(start_paused = true)]
async fn a_subscribe_that_does_not_decide_is_given_up() {
    let (begun, never) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (server, _) = server(Decide::Wait(begun, never), |builder| builder);
    let Err(rejection) = open_with(&server, Probe::DECLARED).await else { panic!("decided") };
    assert_eq!(rejection.status(), 503);
    assert_eq!(server.open_streams(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_stream_whose_frames_nobody_takes_ends_from_outside() {
    let (server, mut closed) = server(Decide::Accept, |builder| builder);
    let (stalled, idle, busy) = (open(&server).await, open(&server).await, open(&server).await);
    for stream in [&stalled, &idle, &busy] {
        assert_eq!(now(stream).unwrap(), [ACK]);
    }
    // Not stalled: one that the transport waits for, and one whose method takes its time.
    assert!(now(&idle).unwrap().is_empty());
    assert!(now(&busy).unwrap().is_empty());
    server.publish(Event::Hang);
    assert!(now(&idle).unwrap().is_empty());
    assert!(now(&busy).unwrap().is_empty());
    server.publish(Event::Tools);

    assert_eq!(closed.recv().await, Some(CloseReason::Stalled));
    assert_eq!(server.open_streams(), 2);
    assert_eq!(now(&stalled).unwrap(), ["stalled"], "the client still finds out, if it comes back");
    assert_eq!(now(&stalled), None);
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert!(closed.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn promise_8_a_shutdown_gives_results_and_cuts_who_does_not_take_them() {
    let (server, mut closed) = server(Decide::Accept, |builder| builder);
    let hanging = open(&server).await;
    assert_eq!(now(&hanging).unwrap(), [ACK]);
    server.publish(Event::Hang);
    assert!(now(&hanging).unwrap().is_empty());
    let (reading, stuck) = (open(&server).await, open(&server).await);
    server.publish(Event::Tools);

    let reader = async {
        assert_eq!(next(&reading).await.unwrap(), [ACK]);
        assert_eq!(next(&reading).await.unwrap(), [TOOLS, "complete"]);
        assert_eq!(next(&reading).await, None);
        drop(reading);
    };
    let began = tokio::time::Instant::now();
    let (shutdown, ()) = tokio::join!(server.shutdown(Duration::from_secs(10)), reader);
    assert!(began.elapsed() <= Duration::from_secs(10));
    assert_eq!((shutdown.completed, shutdown.cut), (1, 2));
    for _ in 0..3 {
        assert_eq!(closed.recv().await, Some(CloseReason::Shutdown));
    }
    assert!(closed.try_recv().is_err());
    let Err(rejection) = open_with(&server, Probe::DECLARED).await else { panic!("admitted") };
    assert_eq!(rejection.status(), 503);
    assert_eq!(server.shutdown(Duration::from_secs(10)).await, shutdown, "again is no error");
    assert_eq!(now(&hanging).unwrap(), ["complete"], "who comes back still finds it");
    drop((stuck, hanging));
}

#[tokio::test]
async fn a_stream_that_opens_while_the_server_shuts_down_gets_its_result() {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (server, mut closed) = server(Decide::Wait(begun.clone(), go_on.clone()), |builder| builder);
    let opening = async {
        let stream = open(&server).await;
        assert_eq!(next(&stream).await.unwrap(), [ACK]);
        assert_eq!(next(&stream).await.unwrap(), ["complete"]);
    };
    let shutdown = async {
        begun.notified().await;
        let shutdown = server.shutdown(Duration::from_secs(60));
        go_on.notify_one();
        shutdown.await
    };
    let ((), shutdown) = tokio::join!(opening, shutdown);
    assert_eq!((shutdown.completed, shutdown.cut), (1, 0));
    assert_eq!(closed.recv().await, Some(CloseReason::Shutdown));
}

#[tokio::test]
async fn when_nobody_can_publish_any_more_streams_get_their_result() {
    let (server, mut closed) = server(Decide::Accept, |builder| builder);
    let stream = open(&server).await;
    drop(server);
    assert_eq!(next(&stream).await.unwrap(), [ACK]);
    assert_eq!(next(&stream).await.unwrap(), ["complete"]);
    assert_eq!(closed.recv().await, Some(CloseReason::Shutdown));
}

#[tokio::test]
async fn an_event_wakes_the_transport() {
    let (server, _) = server(Decide::Accept, |builder| builder);
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    let publisher = server.clone();
    let (frames, ()) = tokio::join!(next(&stream), async move {
        publisher.publish(Event::Tools);
    });
    assert_eq!(frames.unwrap(), [TOOLS]);
}

#[tokio::test(start_paused = true)]
async fn a_subscribe_that_panics_as_it_is_given_up_is_a_refusal_like_others() {
    let (server, _) = server(Decide::Bomb, |builder| builder);
    let Err(rejection) = open_with(&server, Probe::DECLARED).await else { panic!("decided") };
    assert_eq!(rejection.status(), 503);
    assert_eq!(server.open_streams(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_decides_after_the_budget_is_cut_and_counted() {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (server, mut closed) = server(Decide::Wait(begun.clone(), go_on.clone()), |builder| builder);
    let mut opening = Box::pin(open_with(&server, Probe::DECLARED));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(opening.as_mut().poll(&mut cx).is_pending());
    go_on.notify_one();
    // Nobody polls it while the budget runs out.
    let shutdown = server.shutdown(Duration::from_secs(1)).await;
    assert_eq!((shutdown.completed, shutdown.cut), (0, 0));
    let Ok(stream) = opening.await else { panic!("it had decided") };
    assert_eq!(server.open_streams(), 0, "it never ran");
    assert_eq!(now(&stream).unwrap(), [ACK, "complete"]);
    assert_eq!(closed.recv().await, Some(CloseReason::Shutdown));
    drop(stream);
    assert_eq!(server.shutdown(Duration::from_secs(1)).await.cut, 1);
}

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

#[tokio::test(flavor = "multi_thread")]
async fn promise_8_a_shutdown_waits_for_the_method_that_it_cuts() {
    let (server, mut closed) = server(Decide::Accept, |builder| builder);
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    let (release, go_on) = std_mpsc::channel();
    let waker = Waker::from(Arc::new(Hook(move || _ = release.send(()), || {})));
    assert!(stream.poll_frames(&mut Context::from_waker(&waker)).is_pending());
    server.publish(Event::Block(Mutex::new(go_on)));
    // The publish released it once; the cut will do so again.
    server.publish(Event::Hang);
    let holder = std::thread::spawn(move || {
        drop(stream.poll_frames(&mut Context::from_waker(&waker)));
        stream
    });
    server.shutdown(Duration::from_secs(2)).await;
    assert_eq!(closed.try_recv(), Ok(CloseReason::Shutdown), "it is closed when the shutdown returns");
    assert_eq!(now(&holder.join().unwrap()).unwrap(), ["complete"]);
}

#[tokio::test]
async fn wakers_are_foreign_code_and_run_outside_of_every_lock() {
    let (server, _) = server(Decide::Accept, |builder| builder);
    let stream = Arc::new(open(&server).await);
    assert_eq!(now(&stream).unwrap(), [ACK]);
    for _ in 0..4 {
        let (on_wake, on_drop) = (server.clone(), (server.clone(), stream.clone()));
        let touch_all = move || {
            on_drop.0.publish(Event::Tools);
            assert_eq!(on_drop.0.open_streams(), 1);
            on_drop.1.note_sent();
        };
        let hook = Hook(move || _ = on_wake.publish_for("x:a", Event::Saved("x:a")), touch_all);
        let waker = Waker::from(Arc::new(hook));
        drop(stream.poll_frames(&mut Context::from_waker(&waker)));
        drop(stream.poll_frames(&mut Context::from_waker(&waker)));
    }
    server.publish(Event::Tools);
    assert!(now(&stream).unwrap().contains(&TOOLS.to_owned()));
}

#[tokio::test]
async fn promise_6_a_waker_that_panics_keeps_nobody_asleep() {
    let (server, _) = server(Decide::Accept, |builder| builder);
    let (first, second) = (open(&server).await, open(&server).await);
    let woken = Arc::new(AtomicUsize::new(0));
    for stream in [&first, &second] {
        assert_eq!(now(stream).unwrap(), [ACK]);
        let woken = woken.clone();
        let panics = move || panic!("waker {}", woken.fetch_add(1, Ordering::Relaxed));
        let waker = Waker::from(Arc::new(Hook(panics, || {})));
        assert!(stream.poll_frames(&mut Context::from_waker(&waker)).is_pending());
    }
    assert_eq!(server.publish(Event::Tools), 2);
    assert_eq!(woken.load(Ordering::Relaxed), 2);
}

#[test]
fn what_is_stalled_is_found_on_whatever_runtime_is_left() {
    let limits = Limits::default().with_write_timeout(Duration::from_millis(40));
    let (server, mut closed) = server(Decide::Accept, |builder| builder.limits(limits));
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let first = runtime();
    drop(first.block_on(open(&server)));
    drop(first);
    _ = closed.try_recv();
    runtime().block_on(async {
        let _stalled = open(&server).await;
        assert_eq!(closed.recv().await, Some(CloseReason::Stalled));
    });
}
