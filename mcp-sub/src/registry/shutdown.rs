//! How all streams of a server end together.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::Registry;
use crate::{ending::CloseReason, stream::Stream, sync::lock};

/// How many streams got their ending in time when a server was shut down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shutdown {
    /// Streams whose transport took their ending.
    pub completed: usize,
    /// Streams that were cut, since it did not.
    pub cut: usize,
}

impl Registry {
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
    pub(super) fn cut(&self) -> Vec<Arc<dyn Stream>> {
        let left = {
            let mut state = lock(&self.state);
            state.cut = true;
            state.counting += 1;
            state.deadlines.clear();
            let left = std::mem::take(&mut state.streams);
            state.cut_off.extend(left.iter().map(|(key, watched)| (*key, watched.stream.clone())));
            left
        };
        self.deciding.cancel();
        let (finished, cut): (Vec<_>, Vec<_>) =
            left.into_values().map(|watched| watched.stream).partition(|stream| stream.is_finished());
        {
            let mut state = lock(&self.state);
            state.counting -= 1;
            if let Some(shutdown) = &mut state.shutdown {
                shutdown.completed += finished.len();
                shutdown.cut += cut.len();
            }
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
                if state.admitted.is_empty() && state.streams.is_empty() && state.counting == 0 {
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
