//! Every bound, in one place.

use std::time::Duration;

use crate::protocol::filter::FilterLimits;

/// How much a server takes on. The defaults suit a server on the open internet; a number of streams, URIs or bytes of
/// zero refuses all.
///
/// ```
/// use mcp_sub::Limits;
///
/// let limits = Limits::default().with_streams(500).with_uris(100);
/// assert_eq!(limits.streams, 500);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Open streams, those whose `subscribe` still runs included. Default: 10,000. Above it: 503.
    pub streams: usize,
    /// Open streams of one principal, likewise. Default: no limit. Above it: 429. Who the principal is, says
    /// [`Builder::principal`](crate::Builder::principal); a caller without one is not limited here.
    pub streams_per_principal: Option<usize>,
    /// URIs in one listen. Default: 1,000. Above it: `-32602`. Each costs its stream some 300 bytes of memory, and its
    /// length.
    pub uris: usize,
    /// Bytes of all URIs in one listen. Default: 64 KiB. Above it: `-32602`.
    pub uri_bytes: usize,
    /// Bytes of a request's id, as JSON. Default: 8 KiB. Above it: `-32600`.
    pub id_bytes: usize,
    /// Bytes of a request's body, or of a client's line on [`stdio`](crate::Subscriptions::stdio). Default: 1 MiB where
    /// subscriptions are alone, and 16 MiB over an inner server ([`layer`](crate::Subscriptions::layer),
    /// [`over`](crate::stdio::Stdio::over)), whose every call it has to hold. Above it: 413, or `-32600` on a line.
    pub body: Option<usize>,
    /// How long a request's body may take to come, over HTTP. Default: 60 s. Above it: 408.
    pub body_timeout: Duration,
    /// Events that wait for one stream. Default: 256. Above it they are not queued, and their methods are not called for
    /// this stream: it is told afterwards, once for each kind and URI, what they can have changed. With zero, that is
    /// how it is told of everything.
    pub slot: usize,
    /// How long `subscribe` may take. Default: 30 s. Above it: 503.
    pub subscribe_timeout: Duration,
    /// How long frames may wait for a client that takes none. Default: 60 s. Above it the stream ends, as
    /// [`Stalled`](crate::CloseReason::Stalled).
    pub write_timeout: Duration,
    /// How long a stream may be open. Default: no limit. Then it ends, as [`Expired`](crate::CloseReason::Expired), without
    /// what it has not been told yet; its client listens again, and lists again.
    pub lifetime: Option<Duration>,
    /// How long a server that was told to stop gives its streams and connections to end. Default: 10 s. Above it they
    /// are cut. It is the budget of `mcp_sub::serve` (feature `serve`) and of
    /// [`Stdio::serve`](crate::stdio::Stdio::serve); who serves otherwise gives one to
    /// [`shutdown`](crate::Subscriptions::shutdown).
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            streams: 10_000,
            streams_per_principal: None,
            uris: 1_000,
            uri_bytes: 64 * 1024,
            id_bytes: 8 * 1024,
            body: None,
            body_timeout: Duration::from_secs(60),
            slot: 256,
            subscribe_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(60),
            lifetime: None,
            drain: Duration::from_secs(10),
        }
    }
}

impl Limits {
    /// Sets [`streams`](Self::streams).
    #[must_use]
    pub fn with_streams(mut self, streams: usize) -> Self {
        self.streams = streams;
        self
    }

    /// Sets [`streams_per_principal`](Self::streams_per_principal).
    #[must_use]
    pub fn with_streams_per_principal(mut self, streams: impl Into<Option<usize>>) -> Self {
        self.streams_per_principal = streams.into();
        self
    }

    /// Sets [`uris`](Self::uris).
    #[must_use]
    pub fn with_uris(mut self, uris: usize) -> Self {
        self.uris = uris;
        self
    }

    /// Sets [`uri_bytes`](Self::uri_bytes).
    #[must_use]
    pub fn with_uri_bytes(mut self, bytes: usize) -> Self {
        self.uri_bytes = bytes;
        self
    }

    /// Sets [`id_bytes`](Self::id_bytes).
    #[must_use]
    pub fn with_id_bytes(mut self, bytes: usize) -> Self {
        self.id_bytes = bytes;
        self
    }

    /// Sets [`body`](Self::body).
    #[must_use]
    pub fn with_body(mut self, bytes: usize) -> Self {
        self.body = Some(bytes);
        self
    }

    /// Sets [`body_timeout`](Self::body_timeout).
    #[must_use]
    pub fn with_body_timeout(mut self, timeout: Duration) -> Self {
        self.body_timeout = timeout;
        self
    }

    /// Sets [`slot`](Self::slot).
    #[must_use]
    pub fn with_slot(mut self, events: usize) -> Self {
        self.slot = events;
        self
    }

    /// Sets [`subscribe_timeout`](Self::subscribe_timeout).
    #[must_use]
    pub fn with_subscribe_timeout(mut self, timeout: Duration) -> Self {
        self.subscribe_timeout = timeout;
        self
    }

    /// Sets [`write_timeout`](Self::write_timeout).
    #[must_use]
    pub fn with_write_timeout(mut self, timeout: Duration) -> Self {
        self.write_timeout = timeout;
        self
    }

    /// Sets [`lifetime`](Self::lifetime).
    #[must_use]
    pub fn with_lifetime(mut self, lifetime: impl Into<Option<Duration>>) -> Self {
        self.lifetime = lifetime.into();
        self
    }

    /// Sets [`drain`](Self::drain).
    #[must_use]
    pub fn with_drain(mut self, budget: Duration) -> Self {
        self.drain = budget;
        self
    }

    pub(crate) fn filter(&self) -> FilterLimits {
        FilterLimits { uris: self.uris, uri_bytes: self.uri_bytes }
    }
}
