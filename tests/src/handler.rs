//! Handlers that do as they are told.

use std::{
    fmt,
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_sub::{
    AnyNotification, Channel, CloseReason, Filter, Flow, Handles, Inbox, Kinds, ListenRequest,
    PromptsListChanged, Rejection, ResourcesListChanged, SubscriptionHandler, Subscriptions,
    ToolsListChanged, subscription_handler,
};
use tokio::sync::{Notify, Semaphore, SemaphorePermit};

use crate::within;

/// The list of tools changed.
#[derive(Debug)]
pub struct ToolsChanged;
/// The list of prompts changed.
#[derive(Debug)]
pub struct PromptsChanged;
/// The list of resources changed.
#[derive(Debug)]
pub struct ResourcesChanged;
/// The resource at this URI changed.
#[derive(Debug)]
pub struct Updated(pub String);
/// Concerns those who honour tools, and tells them nothing. Goes on by itself until the probe is hushed.
#[derive(Debug)]
pub struct Noise;

/// Something for one subscription alone, named by the JSON of its id.
#[derive(Debug)]
pub struct Tell {
    id: String,
    act: Act,
}

/// What a method is to do.
#[derive(Clone, Debug)]
pub enum Act {
    /// Tell of the tools, then stop.
    TellAndStop,
    /// Stop.
    Stop(&'static str),
    /// Tell of the tools, then fail.
    TellAndFail(&'static str),
    /// Panic at once.
    Panic,
    /// Wait for a permit of `release`, then panic.
    PanicLater,
    /// Wait for a permit of `release`, then tell of the tools.
    Wait,
    /// The same, and hold the thread meanwhile.
    Block,
    /// The same, and then panic.
    BlockThenPanic,
}

impl Tell {
    /// `id` is JSON.
    #[must_use]
    pub fn new(id: &str, act: Act) -> Self {
        Self { id: id.into(), act }
    }
}

/// A handler of every kind. What `subscribe` does, the headers of the request say, or members of its `_meta`:
///
/// - `x-subscribe: reject` (401), `invalid`, `panic`;
/// - `x-subscribe: wait`: gives `entered` a permit, and takes one of `release`;
/// - `x-subscribe: flood`: publishes from two other threads, 1,000 events in all, before it accepts;
/// - `x-deny: TEXT`: leaves out URIs with that text;
/// - `x-decline: tools|prompts|resources`.
#[derive(Debug)]
pub struct Probe {
    publisher: OnceLock<Publisher>,
    accepted: AtomicUsize,
    dropped: AtomicUsize,
    closed: Mutex<Vec<(String, CloseReason)>>,
    changed: Notify,
    hushed: AtomicUsize,
    /// Where a waiting method or `subscribe` says that it waits.
    pub entered: Semaphore,
    /// What it waits for.
    pub release: Semaphore,
    /// What `handle_close` waits for, if it is to wait.
    pub close_gate: Option<Semaphore>,
}

/// What the probe publishes by itself.
struct Publisher {
    flood: Box<dyn Fn() + Send + Sync>,
    noise: Box<dyn Fn() + Send + Sync>,
}

impl fmt::Debug for Publisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Publisher")
    }
}

/// The state of one subscription.
#[derive(Debug)]
pub struct Seat {
    id: String,
}

impl Default for Probe {
    fn default() -> Self {
        Self {
            publisher: OnceLock::new(),
            accepted: AtomicUsize::new(0),
            dropped: AtomicUsize::new(0),
            closed: Mutex::default(),
            changed: Notify::new(),
            hushed: AtomicUsize::new(0),
            entered: Semaphore::new(0),
            release: Semaphore::new(0),
            close_gate: None,
        }
    }
}

impl Probe {
    /// A server of a new one.
    ///
    /// # Panics
    ///
    /// Never.
    pub fn serve(
        build: impl FnOnce(mcp_sub::Builder<Self>) -> mcp_sub::Builder<Self>,
    ) -> Subscriptions<Self> {
        Self::default().served(build)
    }

    /// A server of this one.
    ///
    /// # Panics
    ///
    /// Never.
    pub fn served(
        self,
        build: impl FnOnce(mcp_sub::Builder<Self>) -> mcp_sub::Builder<Self>,
    ) -> Subscriptions<Self> {
        let builder = Subscriptions::builder(self).server_info("probe", "0.1").keep_alive(None);
        let subscriptions = build(builder).build();
        let (flood, noise) = (subscriptions.hub().clone(), subscriptions.hub().clone());
        let publisher = Publisher {
            flood: Box::new(move || {
                flood.publish(ToolsChanged);
                flood.publish_for("file:///a", Updated("file:///a".into()));
            }),
            noise: Box::new(move || {
                noise.publish(Noise);
            }),
        };
        subscriptions.handler().publisher.set(publisher).expect("it is new");
        subscriptions
    }

    /// How many `subscribe` returned `Ok`.
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// How many waiting `subscribe` or methods were dropped.
    pub fn dropped(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }

    /// How often `handle_close` ran.
    ///
    /// # Panics
    ///
    /// Never.
    pub fn closes(&self) -> usize {
        self.closed.lock().expect("no panic in there").len()
    }

    /// Waits until `handle_close` ran `count` times, and tells with what. Says nothing about later.
    ///
    /// # Panics
    ///
    /// If that does not happen, or it ran more often.
    pub async fn closed(&self, count: usize) -> Vec<(String, CloseReason)> {
        let what = format!("{count} calls of handle_close; there were {}", self.closes());
        within(&what, async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if self.closes() >= count {
                    break;
                }
                changed.await;
            }
        })
        .await;
        let closed = self.closed.lock().expect("no panic in there").clone();
        assert_eq!(closed.len(), count, "{closed:?}");
        closed
    }

    /// Waits until a `subscribe` or a method waits.
    ///
    /// # Panics
    ///
    /// If none does.
    pub async fn waits(&self) {
        within("a method waits", self.entered.acquire()).await.expect("never closed").forget();
    }

    /// Ends all noise.
    pub fn hush(&self) {
        self.hushed.store(1, Ordering::SeqCst);
    }

    fn publisher(&self) -> &Publisher {
        self.publisher.get().expect("it is served")
    }

    async fn wait(&self) {
        let guard = Waiting(&self.dropped);
        self.entered.add_permits(1);
        self.release.acquire().await.expect("never closed").forget();
        std::mem::forget(guard);
    }

    fn block(&self) {
        self.entered.add_permits(1);
        while self.release.try_acquire().map(SemaphorePermit::forget).is_err() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    async fn flood(&self) {
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..250 {
                        (self.publisher().flood)();
                    }
                });
            }
        });
        tokio::task::yield_now().await;
    }
}

/// Counts a wait that came to nothing.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[subscription_handler]
#[expect(clippy::unused_self, reason = "the attribute asks for this shape")]
impl Probe {
    async fn subscribe(&self, filter: &mut Filter<'_>, request: &ListenRequest) -> Result<Seat, Rejection> {
        let told = |name| {
            let header = request.headers().get(name).and_then(|value| value.to_str().ok());
            header.or_else(|| request.meta().get(name)?.as_str()).unwrap_or_default()
        };
        match told("x-subscribe") {
            "reject" => return Err(Rejection::unauthorized().challenge("Bearer")),
            "invalid" => return Err(Rejection::invalid("no such thing")),
            "panic" => panic!("as told, in subscribe"),
            "wait" => self.wait().await,
            "flood" => self.flood().await,
            _ => {}
        }
        let deny = told("x-deny");
        if !deny.is_empty() {
            filter.retain_resources(|uri| !uri.contains(deny));
        }
        match told("x-decline") {
            "tools" => filter.decline::<ToolsListChanged>(),
            "prompts" => filter.decline::<PromptsListChanged>(),
            "resources" => filter.decline::<ResourcesListChanged>(),
            _ => {}
        }
        self.accepted.fetch_add(1, Ordering::SeqCst);
        Ok(Seat { id: request.id().as_json().to_owned() })
    }

    #[emits(tools_list_changed)]
    fn tools_changed(&self, _: &ToolsChanged, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(prompts_list_changed)]
    fn prompts_changed(&self, _: &PromptsChanged, channel: &mut Channel<'_>) {
        channel.prompts_list_changed();
    }

    #[emits(resources_list_changed)]
    fn resources_changed(&self, _: &ResourcesChanged, channel: &mut Channel<'_>) {
        channel.resources_list_changed();
    }

    #[emits(resources_updated)]
    fn updated(&self, event: &Updated, channel: &mut Channel<'_>) {
        channel.resources_updated(&event.0);
    }

    #[emits(tools_list_changed)]
    fn noise(&self, _: &Noise, channel: &mut Channel<'_>) {
        if self.hushed.load(Ordering::SeqCst) == 0 {
            (self.publisher().noise)();
        } else {
            channel.tools_list_changed();
        }
    }

    #[emits(tools_list_changed)]
    async fn tell(&self, event: &Tell, channel: &mut Channel<'_>, seat: &mut Seat) -> Result<Flow, String> {
        if event.id != seat.id {
            return Ok(Flow::Continue);
        }
        match event.act {
            Act::Stop(reason) => return Ok(Flow::stop(reason)),
            Act::TellAndStop => {
                channel.tools_list_changed();
                return Ok(Flow::stop("told"));
            }
            Act::TellAndFail(error) => {
                channel.tools_list_changed();
                return Err(error.into());
            }
            Act::Panic => panic!("as told, in a method"),
            Act::PanicLater => {
                self.wait().await;
                panic!("as told, after a wait");
            }
            Act::Wait => self.wait().await,
            Act::Block => self.block(),
            Act::BlockThenPanic => {
                self.block();
                panic!("as told, after holding its thread");
            }
        }
        channel.tools_list_changed();
        Ok(Flow::Continue)
    }

    async fn handle_close(&self, reason: CloseReason, seat: Seat) {
        if let Some(gate) = &self.close_gate {
            self.entered.add_permits(1);
            gate.acquire().await.expect("never closed").forget();
        }
        self.closed.lock().expect("no panic in there").push((seat.id, reason));
        self.changed.notify_waiters();
    }
}

/// Written by hand, and tries to send what it may not: it declares tools and updates alone.
#[derive(Debug)]
pub struct Hostile;

/// The event of [`Hostile`]: says that it is of every kind, and leads to one notification of each, and to updates of
/// these URIs.
#[derive(Debug)]
pub struct Whatever(pub Vec<&'static str>);

impl SubscriptionHandler for Hostile {
    type Event = Whatever;
    type State = ();
    const DECLARED: Kinds = Kinds::TOOLS_LIST_CHANGED.union(Kinds::RESOURCES_UPDATED);

    fn kinds(_: &Whatever) -> Kinds {
        [Kinds::PROMPTS_LIST_CHANGED, Kinds::RESOURCES_LIST_CHANGED]
            .into_iter()
            .fold(Self::DECLARED, Kinds::union)
    }

    async fn subscribe(
        &self,
        _: &mut Filter<'_, Self>,
        _: &ListenRequest,
        _: &Inbox<Self>,
    ) -> Result<(), Rejection> {
        Ok(())
    }

    async fn handle_event(
        &self,
        event: &Whatever,
        channel: &mut Channel<'_, AnyNotification>,
        (): &mut (),
    ) -> Flow {
        channel.prompts_list_changed();
        channel.resources_list_changed();
        for uri in &event.0 {
            channel.resources_updated(uri);
        }
        channel.tools_list_changed();
        Flow::Continue
    }
}

impl Handles<Whatever> for Hostile {
    type Events = Whatever;
    fn into_event(event: Whatever) -> Whatever {
        event
    }
}
