//! The body of a response.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use http_body_util::Empty;
use pin_project_lite::pin_project;

use super::events::Events;

pin_project! {
    /// The body of a response: an answer, a stream of events, or, behind a
    /// [layer](crate::Subscriptions::layer), the inner server's own body `B`.
    pub struct Body<B = Empty<Bytes>> {
        #[pin]
        kind: Kind<B>,
    }
}

pin_project! {
    #[project = KindProjection]
    enum Kind<B> {
        Answer { bytes: Option<Bytes> },
        Events { events: Events },
        Inner { #[pin] inner: B },
    }
}

impl<B> Body<B> {
    pub(super) fn answer(bytes: Bytes) -> Self {
        Self { kind: Kind::Answer { bytes: Some(bytes).filter(|bytes| !bytes.is_empty()) } }
    }

    pub(super) fn events(events: Events) -> Self {
        Self { kind: Kind::Events { events } }
    }

    pub(super) fn inner(inner: B) -> Self {
        Self { kind: Kind::Inner { inner } }
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
            KindProjection::Answer { bytes } => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            KindProjection::Events { events } => {
                events.poll_next(cx).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
            }
            KindProjection::Inner { inner } => inner.poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Answer { bytes } => bytes.is_none(),
            Kind::Events { .. } => false,
            Kind::Inner { inner } => inner.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Answer { bytes } => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Kind::Events { .. } => SizeHint::default(),
            Kind::Inner { inner } => inner.size_hint(),
        }
    }
}

impl<B> fmt::Debug for Body<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.kind {
            Kind::Answer { .. } => "answer",
            Kind::Events { .. } => "events",
            Kind::Inner { .. } => "inner",
        };
        f.debug_tuple("Body").field(&kind).finish()
    }
}
