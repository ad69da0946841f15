//! The body of a response, and of a request that a layer sends on.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Frame, SizeHint};
use http_body_util::Empty;
use pin_project_lite::pin_project;

use super::events::Events;

pin_project! {
    /// A body: whole, a stream of events, or one that passes through a [layer](crate::Subscriptions::layer) as it came,
    /// as `B`. The layer's inner server gets such bodies, and what it answers comes back as one.
    pub struct Body<B = Empty<Bytes>> {
        #[pin]
        kind: Kind<B>,
    }
}

pin_project! {
    #[project = KindProjection]
    enum Kind<B> {
        Whole { bytes: Option<Bytes>, trailers: Option<HeaderMap> },
        Events { events: Events },
        Passed { #[pin] body: B },
    }
}

impl<B> Body<B> {
    pub(super) fn whole(bytes: Bytes) -> Self {
        Self::received(bytes, None)
    }

    /// The same, with the trailers that came after it.
    pub(super) fn received(bytes: Bytes, trailers: Option<HeaderMap>) -> Self {
        Self { kind: Kind::Whole { bytes: Some(bytes).filter(|bytes| !bytes.is_empty()), trailers } }
    }

    pub(super) fn events(events: Events) -> Self {
        Self { kind: Kind::Events { events } }
    }

    pub(super) fn passed(body: B) -> Self {
        Self { kind: Kind::Passed { body } }
    }
}

impl<B: http_body::Body<Data = Bytes>> http_body::Body for Body<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match self.project().kind.project() {
            KindProjection::Whole { bytes, trailers } => {
                let frame = bytes.take().map(Frame::data).or_else(|| trailers.take().map(Frame::trailers));
                Poll::Ready(frame.map(Ok))
            }
            KindProjection::Events { events } => {
                events.poll_next(cx).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
            }
            KindProjection::Passed { body } => body.poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Whole { bytes, trailers } => bytes.is_none() && trailers.is_none(),
            Kind::Events { .. } => false,
            Kind::Passed { body } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Whole { bytes, .. } => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Kind::Events { .. } => SizeHint::default(),
            Kind::Passed { body } => body.size_hint(),
        }
    }
}

impl<B> fmt::Debug for Body<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.kind {
            Kind::Whole { .. } => "whole",
            Kind::Events { .. } => "events",
            Kind::Passed { .. } => "passed",
        };
        f.debug_tuple("Body").field(&kind).finish()
    }
}
