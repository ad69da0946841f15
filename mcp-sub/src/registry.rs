//! All streams of one server: how many there may be, which of them are stuck, how they end together.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex, Weak},
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
    /// Streams whose transport took their ending.
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
    sweeper: Mutex<Option<AbortHandle>>,
}

#[derive(Default)]
struct State {
    permits: usize,
    next_key: u64,
    streams: HashMap<u64, Watched>,
    shutdown: Option<Shutdown>,
    /// The budget of a shutdown is over: what opens is cut at once.
    cut: bool,
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
            sweeper: Mutex::default(),
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
        let progress = stream.progress();
        let (key, shutdown, cut) = {
            let mut state = lock(&self.state);
            let key = state.next_key;
            state.next_key += 1;
            let cut = state.cut;
            if let Some(shutdown) = state.shutdown.as_mut().filter(|_| cut) {
                shutdown.cut += 1;
            } else {
                state
                    .streams
                    .insert(key, Watched { stream: stream.clone(), progress, since: Instant::now() });
            }
            (key, state.shutdown.is_some(), cut)
        };
        if cut {
            stream.abort(CloseReason::Shutdown);
        } else if shutdown {
            stream.end(CloseReason::Shutdown);
        }
        self.start_sweeper();
        EventStream { key, stream, registry: self.clone() }
    }

    /// Sees to it that the sweeper runs. It ends with its runtime; another one may serve on.
    fn start_sweeper(self: &Arc<Self>) {
        let mut sweeper = lock(&self.sweeper);
        if sweeper.as_ref().is_none_or(AbortHandle::is_finished) {
            let task = tokio::spawn(sweep(Arc::downgrade(self), self.write_timeout));
            *sweeper = Some(task.abort_handle());
        }
    }

    /// Ends the streams that have not moved since `write_timeout`.
    fn end_stalled(&self) {
        let now = Instant::now();
        let watched: Vec<_> =
            lock(&self.state).streams.iter().map(|(key, watched)| (*key, watched.stream.clone())).collect();
        // Asked one by one, with no lock of ours around it.
        for (key, stream) in watched {
            let progress = stream.progress();
            let stalled = {
                let mut state = lock(&self.state);
                let Some(watched) = state.streams.get_mut(&key) else { continue };
                let moved = !progress.behind || progress != watched.progress;
                if moved {
                    (watched.progress, watched.since) = (progress, now);
                }
                !moved && now.duration_since(watched.since) >= self.write_timeout
            };
            if stalled {
                stream.abort(CloseReason::Stalled);
            }
        }
    }

    pub(crate) async fn shutdown(&self, budget: Duration) -> Shutdown {
        let start = Instant::now();
        lock(&self.state).shutdown.get_or_insert_default();
        self.release();
        // The last tenth is for those that have to be cut.
        if tokio::time::timeout(budget / 10 * 9, self.drained()).await.is_err() {
            for stream in self.cut() {
                stream.abort(CloseReason::Shutdown);
            }
            // Another call may wait for the same.
            self.changed.notify_waiters();
        }
        self.closing.close();
        let closed = async {
            // A method that holds its thread is cut when it lets go.
            self.drained().await;
            self.closing.wait().await;
        };
        if tokio::time::timeout(budget.saturating_sub(start.elapsed()), closed).await.is_err() {
            tracing::warn!("some subscriptions were not closed inside the shutdown's budget");
        }
        lock(&self.state).shutdown.unwrap_or_default()
    }

    /// From now on nothing is waited for. Returns the streams that have not given their ending to their transport.
    fn cut(&self) -> Vec<Arc<dyn Stream>> {
        let left = {
            let mut state = lock(&self.state);
            state.cut = true;
            std::mem::take(&mut state.streams)
        };
        self.deciding.cancel();
        let (finished, cut): (Vec<_>, Vec<_>) =
            left.into_values().map(|watched| watched.stream).partition(|stream| stream.is_finished());
        if let Some(shutdown) = &mut lock(&self.state).shutdown {
            shutdown.completed += finished.len();
            shutdown.cut += cut.len();
        }
        cut
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
        if let Some(sweeper) = lock(&self.sweeper).as_ref() {
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
