//! A great many subscriptions, ended in every way: nothing is left behind, of memory, tasks or streams.
//!
//! A process of its own, since it measures the process. `MCP_SUB_SOAK` is the number of cycles; see CONTRIBUTING.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use mcp_sub::{
    AnyNotification, Channel, CloseReason, Filter, Flow, Handles, Inbox, Kinds, ListenRequest, Rejection,
    SubscriptionHandler, Subscriptions,
};
use mcp_sub_tests::{Client, PATIENCE, Request, Response, Server, eventually, within};
use tokio::runtime::Handle;

const TOOLS: &str = r#"{"toolsListChanged":true}"#;
/// So that a run in passing says something, and costs nothing.
const CYCLES: usize = 200;
/// What an allocator keeps, whatever the number of cycles.
const MARGIN: usize = 8 * 1024 * 1024;
/// The cycles before anything is measured.
const WARM_UP: usize = 2_000;

/// What the method of an event does, for the stream of this id.
#[derive(Clone, Copy, Debug)]
enum Act {
    Tell,
    Stop,
    Fail,
    Panic,
    Wait,
}

#[derive(Debug)]
struct Told {
    id: String,
    act: Act,
}

/// Who was accepted, and who was closed.
#[derive(Debug, Default)]
struct Book {
    accepted: AtomicUsize,
    closed: AtomicUsize,
    waits: AtomicUsize,
    open: Mutex<HashSet<usize>>,
}

struct Soaked(Arc<Book>);

impl SubscriptionHandler for Soaked {
    type Event = Told;
    type State = (usize, String);
    const DECLARED: Kinds = Kinds::TOOLS_LIST_CHANGED;

    fn kinds(_: &Told) -> Kinds {
        Self::DECLARED
    }

    async fn subscribe(
        &self,
        _: &mut Filter<'_, Self>,
        request: &ListenRequest,
        _: &Inbox<Self>,
    ) -> Result<Self::State, Rejection> {
        match request.headers().get("x-subscribe").map(http::HeaderValue::as_bytes) {
            Some(b"reject") => return Err(Rejection::unauthorized()),
            Some(b"panic") => std::panic::panic_any(AsTold),
            Some(b"wait") => self.wait().await,
            _ => {}
        }
        let number = self.0.accepted.fetch_add(1, Ordering::SeqCst);
        assert!(self.0.open.lock().unwrap().insert(number));
        Ok((number, request.id().to_string()))
    }

    async fn handle_event(
        &self,
        event: &Told,
        channel: &mut Channel<'_, AnyNotification>,
        (_, id): &mut Self::State,
    ) -> Flow {
        if event.id != *id {
            return Flow::Continue;
        }
        channel.tools_list_changed();
        match event.act {
            Act::Tell => Flow::Continue,
            Act::Stop => Flow::stop("as told"),
            Act::Fail => Flow::fail("as told"),
            Act::Panic => std::panic::panic_any(AsTold),
            Act::Wait => {
                self.wait().await;
                Flow::Continue
            }
        }
    }

    async fn handle_close(&self, _: CloseReason, (number, _): Self::State) {
        assert!(self.0.open.lock().unwrap().remove(&number), "{number} is closed once");
        self.0.closed.fetch_add(1, Ordering::SeqCst);
    }
}

impl Soaked {
    async fn wait(&self) {
        self.0.waits.fetch_add(1, Ordering::SeqCst);
        std::future::pending::<()>().await;
    }
}

impl Handles<Told> for Soaked {
    type Events = Told;

    fn into_event(event: Told) -> Told {
        event
    }
}

/// The payload of a panic that belongs to the plan.
struct AsTold;

/// The panics of the plan are not printed: a hundred thousand of them would be all that there is to read.
fn say_nothing_of_panics_as_told() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !info.payload().is::<AsTold>() {
            others(info);
        }
    }));
}

/// One server, and what its handler wrote down.
struct Soak {
    book: Arc<Book>,
    subscriptions: Subscriptions<Soaked>,
    server: Server,
}

impl Soak {
    fn start(book: &Arc<Book>) -> Self {
        let subscriptions = Subscriptions::builder(Soaked(book.clone())).build();
        let server = Server::start(subscriptions.http());
        Self { book: book.clone(), subscriptions, server }
    }

    async fn written(&self, request: &Request) -> Client {
        let mut client = self.server.connect().await;
        client.write(request).await;
        client
    }

    async fn told(&self, id: &str, act: Act, expected: &str) -> Response {
        let mut stream = self.server.listening(id, TOOLS).await;
        self.subscriptions.publish(Told { id: id.into(), act });
        assert_eq!(stream.told().await, "tools");
        assert_eq!(stream.told().await, expected);
        assert_eq!(stream.text().await, None, "nothing comes after the end");
        stream
    }

    async fn waits(&self, before: usize) {
        eventually("it waits", || self.book.waits.load(Ordering::SeqCst) > before).await;
    }

    /// One subscription, with the ending whose turn it is.
    async fn cycle(&self, cycle: usize) {
        let id = cycle.to_string();
        let listen = Request::listen(&id, TOOLS);
        let waits = self.book.waits.load(Ordering::SeqCst);
        match cycle % 16 {
            0 => self.written(&listen).await.leave(),
            1 => self.written(&listen).await.reset(),
            2 => self.server.listening(&id, TOOLS).await.leave(),
            3 => self.server.listening(&id, TOOLS).await.reset(),
            4 | 5 => self.told(&id, Act::Stop, "result").await.reset(),
            6 => self.told(&id, Act::Fail, "error handler_failed").await.reset(),
            7 => self.told(&id, Act::Panic, "error panicked").await.reset(),
            8 => {
                let refused = self.server.send(&listen.header("x-subscribe", "reject")).await;
                assert_eq!(refused.status(), 401);
                refused.reset();
            }
            9 => {
                let refused = self.server.send(&listen.header("x-subscribe", "panic")).await;
                assert_eq!(refused.status(), 500);
                refused.reset();
            }
            10 => {
                let client = self.written(&listen.header("x-subscribe", "wait")).await;
                self.waits(waits).await;
                client.reset();
            }
            11 => {
                let stream = self.server.listening(&id, TOOLS).await;
                self.subscriptions.publish(Told { id, act: Act::Wait });
                self.waits(waits).await;
                stream.leave();
            }
            12 => {
                let mut stream = self.server.listening(&id, "{}").await;
                assert_eq!(stream.told().await, "result");
                // The same connection serves on.
                let mut next = stream.into_client().await.send(&listen).await;
                next.acknowledged().await;
                next.reset();
            }
            13 => {
                let mut stream = self.server.listening(&id, TOOLS).await;
                self.subscriptions.publish(Told { id, act: Act::Tell });
                assert_eq!(stream.told().await, "tools");
                stream.reset();
            }
            14 => self.shut_down(&id).await,
            _ => {
                self.server.listening(&id, TOOLS).await.reset();
                // Frames wait that nobody takes any more.
                self.subscriptions.publish(Told { id, act: Act::Tell });
            }
        }
    }

    /// A server of its own, which is shut down through a clone.
    async fn shut_down(&self, id: &str) {
        let short = Self::start(&self.book);
        let mut stream = short.server.listening(id, TOOLS).await;
        let shutdown = short.subscriptions.clone().shutdown(PATIENCE).await;
        assert_eq!((shutdown.completed, shutdown.cut), (1, 0));
        assert_eq!(stream.told().await, "result");
        stream.reset();
    }

    /// Everything that was opened is closed. Returns how much is there.
    async fn settled(&self) -> Left {
        eventually("all streams are gone", || self.subscriptions.open_streams() == 0).await;
        let count = |counter: &AtomicUsize| counter.load(Ordering::SeqCst);
        eventually("all are closed", || count(&self.book.closed) == count(&self.book.accepted)).await;
        assert!(self.book.open.lock().unwrap().is_empty());
        // Its connections end by themselves, once they have seen that their clients are gone.
        let mut left = Left::now();
        let mut since = Instant::now();
        within("the tasks come to rest", async {
            while since.elapsed() < Duration::from_millis(200) {
                tokio::time::sleep(Duration::from_millis(10)).await;
                let now = Left::now();
                if now.tasks != left.tasks {
                    since = Instant::now();
                }
                left = now;
            }
        })
        .await;
        left
    }
}

/// How much of the process is in use.
#[derive(Clone, Copy, Debug)]
struct Left {
    tasks: usize,
    /// Bytes in memory; 0 where the system does not say.
    resident: usize,
}

impl Left {
    fn now() -> Self {
        // A page has 4 KiB at least.
        let pages = std::fs::read_to_string("/proc/self/statm")
            .ok()
            .and_then(|statm| statm.split(' ').nth(1)?.parse::<usize>().ok());
        Self { tasks: Handle::current().metrics().num_alive_tasks(), resident: pages.unwrap_or(0) * 4096 }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_5_and_9_however_many_streams_end_in_whatever_way_nothing_is_left() {
    say_nothing_of_panics_as_told();
    let cycles = std::env::var("MCP_SUB_SOAK")
        .map_or(CYCLES, |cycles| cycles.parse().expect("MCP_SUB_SOAK is a number of cycles"));
    let soak = Soak::start(&Arc::default());
    let warm_up = WARM_UP.min(cycles);
    for cycle in 0..warm_up {
        soak.cycle(cycle).await;
    }
    let before = soak.settled().await;
    let start = Instant::now();
    for cycle in warm_up..warm_up + cycles {
        soak.cycle(cycle).await;
    }
    let after = soak.settled().await;
    println!(
        "{cycles} cycles in {:?}: {} accepted and closed, before {before:?}, after {after:?}",
        start.elapsed(),
        soak.book.closed.load(Ordering::SeqCst),
    );
    assert_eq!(after.tasks, before.tasks, "no task is left");
    assert!(after.resident <= before.resident + MARGIN, "memory is left: {before:?}, {after:?}");
}
