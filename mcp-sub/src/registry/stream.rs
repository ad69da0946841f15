//! A stream as its transport holds it.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;

use super::Registry;
use crate::{ending::CloseReason, stream::Stream, sync::lock};
#[cfg(feature = "rmcp")]
use crate::{filter::Honoured, outbox::Message};

/// A stream in the hands of its transport. Dropping it is the client's going away.
pub(crate) struct EventStream {
    pub(super) key: u64,
    pub(super) stream: Arc<dyn Stream>,
    pub(super) registry: Arc<Registry>,
}

impl EventStream {
    pub(crate) fn poll_frames(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.stream.poll_frames(cx)
    }

    /// Whether the last frame was taken.
    pub(crate) fn is_finished(&self) -> bool {
        self.stream.is_finished()
    }

    #[cfg(feature = "rmcp")]
    pub(crate) fn poll_messages(&self, cx: &mut Context<'_>) -> Poll<Option<Vec<Message>>> {
        self.stream.poll_messages(cx)
    }

    #[cfg(feature = "rmcp")]
    pub(crate) fn honoured(&self) -> &Arc<Honoured> {
        self.stream.honoured()
    }

    #[cfg(feature = "rmcp")]
    pub(crate) fn is_ended(&self) -> bool {
        self.stream.is_ended()
    }

    /// Whether its last frame waits. If not, whoever polls is woken when it does.
    #[cfg(feature = "rmcp")]
    pub(crate) fn poll_ended(&self, cx: &Context<'_>) -> Poll<()> {
        self.stream.poll_ended(cx)
    }

    /// Ends it now, for `reason`.
    pub(crate) fn abort(&self, reason: CloseReason) {
        self.stream.abort(reason);
    }

    pub(crate) fn note_sent(&self) {
        self.stream.note_sent();
        // The runtime that the sweeper began on may be gone, and this one is not.
        self.registry.start_sweeper();
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        // After its own ending this changes nothing.
        self.stream.abort(CloseReason::Disconnected);
        {
            let counts = self.stream.counts();
            let mut state = lock(&self.registry.state);
            if state.cut_off.remove(&self.key).is_some() {
                state.totals.streams += counts;
            } else if state.forget(self.key) {
                state.totals.streams += counts;
                if self.stream.is_finished()
                    && let Some(shutdown) = &mut state.shutdown
                {
                    shutdown.completed += 1;
                }
            }
        }
        self.registry.changed.notify_waiters();
    }
}
