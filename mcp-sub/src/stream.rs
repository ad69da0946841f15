//! What a transport and the registry see of a subscription.

#[cfg(feature = "rmcp")]
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;

use crate::{ending::CloseReason, stats::Counts};
#[cfg(feature = "rmcp")]
use crate::{filter::Honoured, outbox::Message};

/// An open stream, whatever its handler.
pub(crate) trait Stream: Send + Sync {
    /// The next frames, all that there are; `None` after the last one.
    fn poll_frames(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>>;

    /// The same but for the acknowledgement, for a transport that renders them itself.
    #[cfg(feature = "rmcp")]
    fn poll_messages(&self, cx: &mut Context<'_>) -> Poll<Option<Vec<Message>>>;

    /// What it may carry.
    #[cfg(feature = "rmcp")]
    fn honoured(&self) -> &Arc<Honoured>;

    /// Whether its last frame waits.
    #[cfg(feature = "rmcp")]
    fn is_ended(&self) -> bool;

    /// The same. If it does not, whoever polls is woken when it does.
    #[cfg(feature = "rmcp")]
    fn poll_ended(&self, cx: &Context<'_>) -> Poll<()>;

    /// Says that the transport sends something of its own, such as a keep-alive.
    fn note_sent(&self);

    /// Ends it in good order: first what waits, then the result.
    fn end(&self, reason: CloseReason);

    /// Ends it now. The client still finds the ending, if it takes it.
    fn abort(&self, reason: CloseReason);

    /// Whether the last frame was taken.
    fn is_finished(&self) -> bool;

    /// What it has counted so far.
    fn counts(&self) -> Counts;

    fn progress(&self) -> Progress;
}

/// How far the transport is, for the registry's sweeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// How often the transport came for frames.
    pub(crate) polls: u64,
    /// Whether it has taken frames, did not come back since, and more wait.
    pub(crate) behind: bool,
}
