//! A client's channel, whose ends the plan moves.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What the client has written and not been asked for yet, and what it has read.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) input: Vec<u8>,
    pub(super) taken: usize,
    pub(super) input_ends: Option<Input>,
    pub(super) output: Vec<u8>,
    /// How much more the client takes.
    pub(super) room: usize,
    /// What was offered last, and not taken.
    pub(super) under_way: usize,
    pub(super) is_closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Input {
    Ends,
    Fails,
}

#[derive(Clone, Default)]
pub(super) struct Channel(Arc<Mutex<State>>);

pub(super) struct Reader(pub(super) Channel, pub(super) usize);
pub(super) struct Writer(pub(super) Channel);

impl Channel {
    /// Changes something, and wakes whoever waits for that.
    pub(super) fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.0.lock().expect("no panic in there");
        let output = change(&mut state);
        let wakers = [state.reader.take(), state.writer.take()];
        drop(state);
        wakers.into_iter().flatten().for_each(Waker::wake);
        output
    }
}

impl AsyncRead for Reader {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut state = self.0.0.lock().expect("no panic in there");
        let bytes = (state.input.len() - state.taken).min(self.1).min(buf.remaining());
        if bytes != 0 {
            buf.put_slice(&state.input[state.taken..state.taken + bytes]);
            state.taken += bytes;
            return Poll::Ready(Ok(()));
        }
        match state.input_ends {
            None => {
                state.reader = Some(cx.waker().clone());
                Poll::Pending
            }
            Some(Input::Ends) => Poll::Ready(Ok(())),
            Some(Input::Fails) => Poll::Ready(Err(io::Error::other("as told"))),
        }
    }
}

impl AsyncWrite for Writer {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = self.0.0.lock().expect("no panic in there");
        if state.is_closed {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let taken = bytes.len().min(state.room);
        if taken == 0 {
            state.under_way = bytes.len();
            state.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        state.output.extend_from_slice(&bytes[..taken]);
        state.room -= taken;
        state.under_way = 0;
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
