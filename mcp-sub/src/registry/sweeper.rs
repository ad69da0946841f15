//! What ends streams from outside, since hyper does not poll a body while its socket is full: those that are stuck, and
//! those whose time is over.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::{
    task::AbortHandle,
    time::{Instant, timeout_at},
};

use super::Registry;
use crate::{
    ending::CloseReason,
    stream::Stream,
    sync::{Notify, lock},
};

impl Registry {
    /// Sees to it that the sweeper runs. It ends with its runtime; another one may serve on.
    pub(super) fn start_sweeper(self: &Arc<Self>) {
        let mut sweeper = lock(&self.sweeper);
        if sweeper.as_ref().is_none_or(AbortHandle::is_finished) {
            let task =
                tokio::spawn(sweep(Arc::downgrade(self), self.sooner.clone(), self.limits.write_timeout));
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
                !moved && now.duration_since(watched.since) >= self.limits.write_timeout
            };
            if stalled {
                stream.abort(CloseReason::Stalled);
            }
        }
    }

    /// Ends the streams whose deadline has come.
    fn end_expired(&self) {
        let now = Instant::now();
        let expired: Vec<Arc<dyn Stream>> = {
            let mut state = lock(&self.state);
            let mut keys = Vec::new();
            while let Some(&(deadline, key)) = state.deadlines.first()
                && deadline <= now
            {
                state.deadlines.pop_first();
                keys.push(key);
            }
            keys.iter()
                .filter_map(|key| state.streams.get(key))
                .map(|watched| watched.stream.clone())
                .collect()
        };
        for stream in expired {
            stream.abort(CloseReason::Expired);
        }
    }

    /// Tells the recorder of the crate `metrics` what is new.
    #[cfg(feature = "metrics")]
    fn report(&self) {
        // Out of its lock meanwhile: a recorder is foreign code.
        let mut report = std::mem::take(&mut *lock(&self.report));
        let stats = self.stats();
        let updated = crate::sync::catch_unwind(|| report.update(&stats));
        if updated.is_err() {
            tracing::error!("a recorder of metrics panicked");
        }
        *lock(&self.report) = report;
    }

    fn next_deadline(&self) -> Option<Instant> {
        lock(&self.state).deadlines.first().map(|&(deadline, _)| deadline)
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        #[cfg(feature = "metrics")]
        self.report();
        if let Some(sweeper) = lock(&self.sweeper).as_ref() {
            sweeper.abort();
        }
    }
}

async fn sweep(registry: Weak<Registry>, sooner: Arc<Notify>, write_timeout: Duration) {
    // Often enough that a stall is noticed in good time, seldom enough to cost nothing.
    let period = (write_timeout / 8).clamp(Duration::from_millis(1), Duration::from_secs(5));
    let mut next_sweep = Instant::now() + period;
    loop {
        let Some(deadline) = registry.upgrade().map(|registry| registry.next_deadline()) else { return };
        let wake_at = deadline.map_or(next_sweep, |deadline| deadline.min(next_sweep));
        // Woken early, where a deadline comes before all others.
        let _ = timeout_at(wake_at, sooner.notified()).await;
        let Some(registry) = registry.upgrade() else { return };
        registry.end_expired();
        if Instant::now() >= next_sweep {
            #[cfg(feature = "metrics")]
            registry.report();
            registry.end_stalled();
            next_sweep = Instant::now() + period;
        }
    }
}
