//! All streams of one server: how many there may be, which of them are stuck, how they end together.

mod admission;
#[cfg(test)]
#[cfg(mcp_sub_loom)]
mod models;
mod shutdown;
mod stream;
mod sweeper;

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use tokio::{task::AbortHandle, time::Instant};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::admission::Admitted;
#[cfg(feature = "rmcp")]
pub(crate) use self::admission::too_many_streams;
pub use self::shutdown::Shutdown;
pub(crate) use self::{
    admission::{Closer, Permit, subscribe_timed_out},
    stream::EventStream,
};
use crate::{
    ending::CloseReason,
    limits::Limits,
    stats::{Stats, Totals},
    stream::{Progress, Stream},
    sync::{Mutex, Notify, lock},
};

pub(crate) struct Registry {
    limits: Limits,
    state: Mutex<State>,
    /// Told when a stream or a permit goes.
    changed: Notify,
    /// The calls of `handle_close`.
    closing: TaskTracker,
    /// No `subscribe` is waited for any more.
    deciding: CancellationToken,
    sweeper: Mutex<Option<AbortHandle>>,
    /// Told when a deadline comes that is the first.
    sooner: Arc<Notify>,
    #[cfg(feature = "metrics")]
    report: Mutex<crate::report::Report>,
}

#[derive(Default)]
struct State {
    next_key: u64,
    admitted: HashMap<u64, Admitted>,
    /// How many streams each has, where that is limited.
    principals: HashMap<Arc<str>, usize>,
    streams: HashMap<u64, Watched>,
    /// Those that were cut: their transports may still take what is left.
    cut_off: HashMap<u64, Arc<dyn Stream>>,
    deadlines: BTreeSet<(Instant, u64)>,
    shutdown: Option<Shutdown>,
    totals: Totals,
    /// The budget of a shutdown is over: what opens is cut at once.
    cut: bool,
    /// Calls of `shutdown` whose streams are not in the outcome yet.
    counting: usize,
}

/// A stream, and how far it was when the sweeper came by.
struct Watched {
    stream: Arc<dyn Stream>,
    deadline: Option<Instant>,
    progress: Progress,
    since: Instant,
}

impl Registry {
    pub(crate) fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self {
            limits,
            state: Mutex::default(),
            changed: Notify::new(),
            closing: TaskTracker::new(),
            deciding: CancellationToken::new(),
            sweeper: Mutex::default(),
            sooner: Arc::default(),
            #[cfg(feature = "metrics")]
            report: Mutex::default(),
        })
    }

    /// Gives the stream that was admitted as `key` to a transport, and keeps an eye on it. At `expiry`, if there is one,
    /// it ends.
    pub(crate) fn watch(
        self: &Arc<Self>,
        key: u64,
        stream: Arc<dyn Stream>,
        expiry: Option<Instant>,
    ) -> EventStream {
        let now = Instant::now();
        let lifetime = self.limits.lifetime.and_then(|lifetime| now.checked_add(lifetime));
        let deadline = expiry.into_iter().chain(lifetime).min();
        let watched = Watched { stream: stream.clone(), deadline, progress: stream.progress(), since: now };
        let (shutdown, cut, first) = {
            let mut state = lock(&self.state);
            state.totals.opened += 1;
            let cut = state.cut;
            if let Some(shutdown) = state.shutdown.as_mut().filter(|_| cut) {
                shutdown.cut += 1;
            } else {
                state.deadlines.extend(deadline.map(|deadline| (deadline, key)));
                state.streams.insert(key, watched);
            }
            (state.shutdown.is_some(), cut, state.deadlines.first().is_some_and(|&(_, first)| first == key))
        };
        if cut {
            stream.abort(CloseReason::Shutdown);
        } else if shutdown {
            stream.end(CloseReason::Shutdown);
        }
        if deadline.is_some_and(|deadline| deadline <= now) {
            // Before it is told anything.
            stream.abort(CloseReason::Expired);
        }
        if first {
            self.sooner.notify_one();
        }
        EventStream { key, stream, registry: self.clone() }
    }
}

impl Registry {
    pub(crate) fn stats(&self) -> Stats {
        let state = lock(&self.state);
        let mut counts = state.totals.streams;
        for stream in state.streams.values().map(|watched| &watched.stream).chain(state.cut_off.values()) {
            counts += stream.counts();
        }
        state.totals.stats(state.admitted.len(), counts)
    }

    /// Something was refused at the limit of this name.
    pub(crate) fn refused(&self, limit: &str) {
        lock(&self.state).totals.refused(limit);
        tracing::warn!(limit, "refused at a limit");
    }

    /// `subscribe` refused.
    pub(crate) fn rejected(&self) {
        lock(&self.state).totals.rejected += 1;
    }
}

impl State {
    /// Whether the stream was there.
    fn forget(&mut self, key: u64) -> bool {
        let Some(watched) = self.streams.remove(&key) else { return false };
        if let Some(deadline) = watched.deadline {
            self.deadlines.remove(&(deadline, key));
        }
        true
    }
}
