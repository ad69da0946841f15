//! A body that comes as a plan says.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame};

/// Chunks, and what comes after them.
#[derive(Debug)]
pub(crate) struct Scripted {
    chunks: VecDeque<Bytes>,
    then: Then,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Then {
    End,
    BreakOff,
    Hang,
}

impl Scripted {
    pub(crate) fn new(bytes: &[u8], chunk: usize, then: Then) -> Self {
        Self { chunks: bytes.chunks(chunk).map(Bytes::copy_from_slice).collect(), then }
    }

    pub(crate) fn whole(bytes: impl AsRef<[u8]>) -> Self {
        Self::new(bytes.as_ref(), usize::MAX, Then::End)
    }
}

impl Body for Scripted {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match (self.chunks.pop_front(), self.then) {
            (Some(chunk), _) => Poll::Ready(Some(Ok(Frame::data(chunk)))),
            (None, Then::End) => Poll::Ready(None),
            (None, Then::BreakOff) => Poll::Ready(Some(Err("it broke off"))),
            (None, Then::Hang) => Poll::Pending,
        }
    }
}
