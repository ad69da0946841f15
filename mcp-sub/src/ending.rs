//! How a subscription goes on or ends.

use std::{borrow::Cow, fmt};

/// What follows when a handler's method returns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flow {
    /// The subscription goes on.
    #[default]
    Continue,
    /// The subscription ends. The client sees the graceful result; the reason goes to
    /// [`handle_close`](crate::SubscriptionHandler::handle_close), as [`CloseReason::Stopped`], and to the log.
    Stop(Cow<'static, str>),
    /// The subscription ends, and no other does. The client is told that the handler failed, never why; the error goes to
    /// [`handle_close`](crate::SubscriptionHandler::handle_close), as [`CloseReason::Failed`], and to the log.
    Fail(String),
}

impl Flow {
    /// Ends the subscription, for a reason.
    #[must_use]
    pub fn stop(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::Stop(reason.into())
    }

    /// Ends the subscription, by an error.
    #[must_use]
    pub fn fail(error: impl fmt::Display) -> Self {
        // In its alternate form, an error that knows its causes shows them too.
        Self::Fail(format!("{error:#}"))
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for () {}
    impl Sealed for super::Flow {}
    impl<F: Sealed, E> Sealed for Result<F, E> {}
}

/// What a handler's method may return: `()`, [`Flow`], or a `Result` of either whose error is
/// [`Display`](std::fmt::Display).
///
/// An error is [`Flow::Fail`].
///
/// Sealed.
#[diagnostic::on_unimplemented(
    message = "a method that sends cannot return `{Self}`",
    label = "neither `()` nor `Flow`, nor a `Result` of one of these",
    note = "an error has to be `Display`: it is logged and given to `handle_close`"
)]
pub trait IntoFlow: sealed::Sealed {
    #[doc(hidden)]
    fn into_flow(self) -> Flow;
}

impl IntoFlow for () {
    fn into_flow(self) -> Flow {
        Flow::Continue
    }
}

impl IntoFlow for Flow {
    fn into_flow(self) -> Flow {
        self
    }
}

impl<F: IntoFlow, E: fmt::Display> IntoFlow for Result<F, E> {
    fn into_flow(self) -> Flow {
        match self {
            Ok(flow) => flow.into_flow(),
            Err(error) => Flow::fail(error),
        }
    }
}

/// Why a subscription ended, for [`handle_close`](crate::SubscriptionHandler::handle_close) and the log.
///
/// Specification: [Subscriptions, Cancellation][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#cancellation
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseReason {
    /// Nothing was honoured, so there was nothing to wait for: the client has the result.
    Completed,
    /// A stream is over that was given to [`Inbox::attach_or_end`](crate::Inbox::attach_or_end): the client has the result.
    SourceEnded,
    /// A method said [`Flow::Stop`], or a [`SubscriptionHandle`](crate::SubscriptionHandle) was told to end it: the client has
    /// the result.
    Stopped(Cow<'static, str>),
    /// The server shuts down: the client has the result, if it took it in time.
    Shutdown,
    /// The client went away. On HTTP this is how a client cancels. On stdio its input is over: it has the result, if it
    /// still takes it.
    Disconnected,
    /// The client cancelled the request, where messages share a channel. It is told nothing more.
    Cancelled,
    /// A method returned this error, or said [`Flow::Fail`]: the client has an error.
    Failed(String),
    /// A method panicked: the client has an error.
    Panicked,
    /// Frames waited for [`Limits::write_timeout`](crate::Limits::write_timeout), and the client took none.
    Stalled,
    /// The time was over that [`Filter::set_expiry`](crate::Filter::set_expiry) or
    /// [`Limits::lifetime`](crate::Limits::lifetime) gave it: the client has an error.
    Expired,
}

impl CloseReason {
    /// The name in the log and in `data.reason` of an error.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Failed(_) => Failure::HandlerFailed.name(),
            Self::Panicked => Failure::Panicked.name(),
            Self::Stalled => Failure::Stalled.name(),
            Self::Expired => Failure::Expired.name(),
            Self::Completed => "completed",
            Self::SourceEnded => "source_ended",
            Self::Stopped(_) => "stopped",
            Self::Shutdown => "shutdown",
            Self::Disconnected => "disconnected",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What a client is told of a stream that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    HandlerFailed,
    Panicked,
    Stalled,
    Expired,
}

impl Failure {
    /// For programs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::HandlerFailed => "handler_failed",
            Self::Panicked => "panicked",
            Self::Stalled => "stalled",
            Self::Expired => "expired",
        }
    }

    /// For people. Never why: that is for the log.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::HandlerFailed => "the server's subscription handler failed",
            Self::Panicked => "the server's subscription handler panicked",
            Self::Stalled => "the client took no frames for too long",
            Self::Expired => "the subscription's time is over: listen again",
        }
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Stopped(detail) => write!(f, ": {detail}"),
            Self::Failed(detail) => write!(f, ": {detail}"),
            _ => Ok(()),
        }
    }
}
