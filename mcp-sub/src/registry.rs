//! All streams of one server: how many there may be, which of them are stuck, how they end together.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex, OnceLock, Weak},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, StatusCode, header::RETRY_AFTER};
use tokio::{
    runtime::Handle,
    sync::Notify,
    task::AbortHandle,
    time::{Instant, MissedTickBehavior},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    ending::CloseReason,
    protocol::error::Error,
    rejection::Rejection,
    stream::{Progress, Stream},
    sync::lock,
};

/// How many streams got their ending in time when a server was shut down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shutdown {
    /// Streams whose transport took the result.
    pub completed: usize,
    /// Streams that were cut, since it did not.
    pub cut: usize,
}

pub(crate) struct Registry {
    limit: usize,
    write_timeout: Duration,
    state: Mutex<State>,
    /// Told when a stream or a permit goes.
    changed: Notify,
    /// The calls of `handle_close`.
    closing: TaskTracker,
    /// No `subscribe` is waited for any more.
    deciding: CancellationToken,
    sweeper: OnceLock<AbortHandle>,
}

#[derive(Default)]
struct State {
    permits: usize,
    next_key: u64,
    streams: HashMap<u64, Watched>,
    shutdown: Option<Shutdown>,
}

/// A stream, and how far it was when the sweeper came by.
struct Watched {
    stream: Arc<dyn Stream>,
    progress: Progress,
    since: Instant,
}

impl Registry {
    pub(crate) fn new(limit: usize, write_timeout: Duration) -> Arc<Self> {
        Arc::new(Self {
            limit,
            write_timeout,
            state: Mutex::default(),
            changed: Notify::new(),
            closing: TaskTracker::new(),
            deciding: CancellationToken::new(),
            sweeper: OnceLock::new(),
        })
    }

    /// Admits one more stream, or says which limit forbids it.
    pub(crate) fn admit(self: &Arc<Self>) -> Result<Permit, Rejection> {
        let mut state = lock(&self.state);
        if state.shutdown.is_some() {
            return Err(shutting_down());
        }
        if state.permits >= self.limit {
            let message = format!("the server is at its limit of {} open streams", self.limit);
            return Err(unavailable("streams", message));
        }
        state.permits += 1;
        Ok(Permit { registry: self.clone() })
    }

    pub(crate) fn open_streams(&self) -> usize {
        lock(&self.state).permits
    }

    /// Lets a `subscribe` decide, while the shutdown's budget lasts.
    pub(crate) async fn decide<T>(&self, future: impl Future<Output = T>) -> Result<T, Rejection> {
        self.deciding.run_until_cancelled(future).await.ok_or_else(shutting_down)
    }

    /// Calls `handle_close` of streams that open now. `None` outside of a runtime.
    pub(crate) fn closer(&self) -> Option<Closer> {
        let runtime = Handle::try_current().ok()?;
        Some(Closer { runtime, closing: self.closing.clone() })
    }

    /// Gives the stream to a transport, and keeps an eye on it.
    pub(crate) fn watch(self: &Arc<Self>, stream: Arc<dyn Stream>) -> EventStream {
        let (key, shutdown) = {
            let mut state = lock(&self.state);
            let key = state.next_key;
            state.next_key += 1;
            let watched =
                Watched { stream: stream.clone(), progress: stream.progress(), since: Instant::now() };
            state.streams.insert(key, watched);
            (key, state.shutdown.is_some())
        };
        if shutdown {
            stream.end(CloseReason::Shutdown);
        }
        self.sweeper
            .get_or_init(|| tokio::spawn(sweep(Arc::downgrade(self), self.write_timeout)).abort_handle());
        EventStream { key, stream, registry: self.clone() }
    }

    /// Ends the streams that have not moved since `write_timeout`.
    fn end_stalled(&self) {
        let now = Instant::now();
        let mut stalled = Vec::new();
        for watched in lock(&self.state).streams.values_mut() {
            let progress = watched.stream.progress();
            if !progress.behind || progress != watched.progress {
                (watched.progress, watched.since) = (progress, now);
            } else if now.duration_since(watched.since) >= self.write_timeout {
                stalled.push(watched.stream.clone());
            }
        }
        for stream in stalled {
            stream.abort(CloseReason::Stalled);
        }
    }

    pub(crate) async fn shutdown(&self, budget: Duration) -> Shutdown {
        let start = Instant::now();
        lock(&self.state).shutdown.get_or_insert_default();
        self.release();
        // The last tenth is for the `handle_close` of those that have to be cut.
        if tokio::time::timeout(budget / 10 * 9, self.drained()).await.is_err() {
            self.deciding.cancel();
            let left = std::mem::take(&mut lock(&self.state).streams);
            let (finished, cut): (Vec<_>, Vec<_>) =
                left.into_values().map(|watched| watched.stream).partition(|stream| stream.is_finished());
            if let Some(shutdown) = &mut lock(&self.state).shutdown {
                shutdown.completed += finished.len();
                shutdown.cut += cut.len();
            }
            for stream in cut {
                stream.abort(CloseReason::Shutdown);
            }
            // Another call may wait for the same.
            self.changed.notify_waiters();
        }
        self.closing.close();
        let closed = tokio::time::timeout(budget.saturating_sub(start.elapsed()), self.closing.wait()).await;
        if closed.is_err() {
            tracing::warn!(
                "`handle_close` of some subscriptions did not return inside the shutdown's budget"
            );
        }
        lock(&self.state).shutdown.unwrap_or_default()
    }

    fn streams(&self) -> Vec<Arc<dyn Stream>> {
        lock(&self.state).streams.values().map(|watched| watched.stream.clone()).collect()
    }

    async fn drained(&self) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            {
                let state = lock(&self.state);
                if state.permits == 0 && state.streams.is_empty() {
                    return;
                }
            }
            changed.await;
        }
    }

    /// Ends everything in good order, without waiting for it.
    pub(crate) fn release(&self) {
        for stream in self.streams() {
            stream.end(CloseReason::Shutdown);
        }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        if let Some(sweeper) = self.sweeper.get() {
            sweeper.abort();
        }
    }
}

async fn sweep(registry: Weak<Registry>, write_timeout: Duration) {
    // Often enough that a stall is noticed in good time, seldom enough to cost nothing.
    let period = (write_timeout / 8).max(Duration::from_millis(1));
    let mut interval = tokio::time::interval(period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        let Some(registry) = registry.upgrade() else { return };
        registry.end_stalled();
    }
}

fn shutting_down() -> Rejection {
    unavailable("shutdown", "the server is shutting down".into())
}

fn unavailable(limit: &str, message: String) -> Rejection {
    let error = Error::at_limit(limit, message);
    tracing::warn!(limit, "listen refused");
    Rejection::from_error(StatusCode::SERVICE_UNAVAILABLE, error)
        .with_header(RETRY_AFTER, HeaderValue::from_static("5"))
}

pub(crate) fn subscribe_timed_out() -> Rejection {
    unavailable("subscribe_timeout", "the server could not decide about this subscription in time".into())
}

/// One of the streams that may be open. Dropping it makes room.
pub(crate) struct Permit {
    registry: Arc<Registry>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        lock(&self.registry.state).permits -= 1;
        self.registry.changed.notify_waiters();
    }
}

/// Calls `handle_close`, wherever a stream happens to end.
#[derive(Clone)]
pub(crate) struct Closer {
    runtime: Handle,
    closing: TaskTracker,
}

impl Closer {
    pub(crate) fn spawn(&self, close: impl Future<Output = ()> + Send + 'static) {
        self.closing.spawn_on(close, &self.runtime);
    }
}

/// A stream in the hands of its transport. Dropping it is the client's going away.
pub(crate) struct EventStream {
    key: u64,
    stream: Arc<dyn Stream>,
    registry: Arc<Registry>,
}

impl EventStream {
    pub(crate) fn poll_frames(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.stream.poll_frames(cx)
    }

    pub(crate) fn note_sent(&self) {
        self.stream.note_sent();
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        // After its own ending this changes nothing.
        self.stream.abort(CloseReason::Disconnected);
        {
            let mut state = lock(&self.registry.state);
            if state.streams.remove(&self.key).is_some()
                && self.stream.is_finished()
                && let Some(shutdown) = &mut state.shutdown
            {
                shutdown.completed += 1;
            }
        }
        self.registry.changed.notify_waiters();
    }
}
