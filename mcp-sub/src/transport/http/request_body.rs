//! The body of a request that a layer sends on.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use pin_project_lite::pin_project;

pin_project! {
    /// The body of a request that a [layer](crate::Subscriptions::layer) sends on: read already, or as it came.
    pub struct RequestBody<B> {
        #[pin]
        kind: RequestKind<B>,
    }
}

pin_project! {
    #[project = RequestKindProjection]
    enum RequestKind<B> {
        Buffered { bytes: Option<Bytes> },
        Passed { #[pin] body: B },
    }
}

impl<B> RequestBody<B> {
    pub(super) fn buffered(bytes: Bytes) -> Self {
        Self { kind: RequestKind::Buffered { bytes: Some(bytes) } }
    }

    pub(super) fn passed(body: B) -> Self {
        Self { kind: RequestKind::Passed { body } }
    }
}

impl<B: http_body::Body<Data = Bytes>> http_body::Body for RequestBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match self.project().kind.project() {
            RequestKindProjection::Buffered { bytes } => {
                Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes))))
            }
            RequestKindProjection::Passed { body } => body.poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            RequestKind::Buffered { bytes } => bytes.is_none(),
            RequestKind::Passed { body } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            RequestKind::Buffered { bytes } => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            RequestKind::Passed { body } => body.size_hint(),
        }
    }
}

impl<B> fmt::Debug for RequestBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestBody").finish_non_exhaustive()
    }
}
