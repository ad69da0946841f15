//! What the models of the modules share. A model is a test that loom runs in every order which its locks allow.

use std::{
    sync::{Arc, atomic::Ordering::SeqCst},
    task::{Context, Waker},
    time::Duration,
};

use loom::sync::atomic::AtomicUsize;
use serde_json::value::RawValue;
use tokio::{runtime::Runtime, sync::futures::Notified};

use crate::{
    AnyNotification, Channel, CloseReason, Filter, Flow, Handles, Inbox, Kinds, ListenRequest, Rejection,
    RequestId, SubscriptionHandler,
    filter::Honoured,
    frame::{Frames, Framing},
    protocol::filter::RequestedFilter,
};

/// Nothing drives the runtime's timers in a model, so what would take this long does not happen.
pub(crate) const HOUR: Duration = Duration::from_secs(60 * 60);

/// Explores a model. In the context of a runtime, since there are things that only spawn; but nothing runs there.
pub(crate) fn explore(model: impl Fn() + Send + Sync + 'static) {
    explore_on(move |_| model());
}

/// Explores a model that runs by itself what was spawned.
pub(crate) fn explore_on(model: impl Fn(&Runtime) + Send + Sync + 'static) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let runtime = Arc::new(runtime);
    let _entered = runtime.enter();
    let mut builder = loom::model::Builder::new();
    // What goes wrong does so with few switches, and without a bound there are too many orders.
    builder.preemption_bound.get_or_insert(3);
    builder.check({
        let runtime = runtime.clone();
        move || model(&runtime)
    });
}

/// tokio's, as loom sees it: each call is one step, before which threads may switch.
#[derive(Debug, Default)]
pub(crate) struct Notify {
    inner: tokio::sync::Notify,
    steps: AtomicUsize,
}

impl Notify {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn notified(&self) -> Notified<'_> {
        self.steps.fetch_add(1, SeqCst);
        self.inner.notified()
    }

    pub(crate) fn notify_one(&self) {
        self.steps.fetch_add(1, SeqCst);
        self.inner.notify_one();
    }

    pub(crate) fn notify_waiters(&self) {
        self.steps.fetch_add(1, SeqCst);
        self.inner.notify_waiters();
    }
}

/// The context of somebody who was here before, and whom it is of no use to wake.
pub(crate) fn nobody() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// Tools, and updates of these URIs.
pub(crate) fn honoured(uris: &[&str]) -> Arc<Honoured> {
    let kinds = Kinds::TOOLS_LIST_CHANGED.union(Kinds::RESOURCES_UPDATED);
    Arc::new(Honoured::new(RequestedFilter { kinds, uris: uris.iter().map(|&uri| uri.into()).collect() }))
}

pub(crate) fn frames() -> Frames {
    static LINES: Framing = Framing { before: b"", after: b"\n", cancelled: false };
    let id: Box<RawValue> = serde_json::from_str("1").unwrap();
    Frames { id: RequestId::of(&id, 8).unwrap(), framing: &LINES, server_info: None }
}

/// Each frame by a name: `ack`, `tools`, a URI, `result`, or why the stream failed.
pub(crate) fn names(frames: &[u8]) -> Vec<String> {
    std::str::from_utf8(frames).unwrap().lines().map(name).collect()
}

fn name(frame: &str) -> String {
    let after = |key: &str| frame.split_once(key).and_then(|(_, rest)| rest.split('"').next());
    let name = match after("\"method\":\"notifications/") {
        Some("subscriptions/acknowledged") => Some("ack"),
        Some("tools/list_changed") => Some("tools"),
        Some(_) => after("\"uri\":\""),
        None if frame.contains("\"result\":") => Some("result"),
        None => after("\"reason\":\""),
    };
    name.unwrap_or(frame).to_owned()
}

/// What changed.
pub(crate) enum Event {
    Tools,
    Saved(&'static str),
    /// Waits for ever, in the middle of a method.
    Hang,
}

/// Sends what it hears of, and keeps the reasons of `handle_close`.
#[derive(Default)]
pub(crate) struct Probe {
    pub(crate) closed: std::sync::Mutex<Vec<CloseReason>>,
}

impl Handles<Event> for Probe {
    type Events = Event;

    fn into_event(event: Event) -> Event {
        event
    }
}

impl SubscriptionHandler for Probe {
    type Event = Event;
    type State = ();
    const DECLARED: Kinds = Kinds::TOOLS_LIST_CHANGED.union(Kinds::RESOURCES_UPDATED);

    fn kinds(event: &Event) -> Kinds {
        match event {
            Event::Tools | Event::Hang => Kinds::TOOLS_LIST_CHANGED,
            Event::Saved(_) => Kinds::RESOURCES_UPDATED,
        }
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
        event: &Event,
        channel: &mut Channel<'_, AnyNotification>,
        (): &mut (),
    ) -> Flow {
        match event {
            Event::Tools => channel.tools_list_changed(),
            Event::Saved(uri) => channel.resources_updated(uri),
            Event::Hang => std::future::pending().await,
        }
        Flow::Continue
    }

    async fn handle_close(&self, reason: CloseReason, (): ()) {
        self.closed.lock().unwrap().push(reason);
    }
}
