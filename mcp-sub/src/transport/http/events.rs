//! A subscription's stream as server-sent events.

use std::{
    future::Future,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    task::unconstrained,
    time::{Instant, Sleep},
};

use crate::{frame::Framing, registry::EventStream};

/// Each message is one `data` line. No `id` and no `retry`: these streams cannot be resumed.
pub(super) static SSE: Framing = Framing { before: b"data: ", after: b"\n\n", cancelled: false };

/// A comment, which clients ignore.
const KEEP_ALIVE: Bytes = Bytes::from_static(b": keep-alive\n\n");

/// Frames as they come, and a comment after each silence of the keep-alive's interval.
pub(super) struct Events {
    stream: EventStream,
    keep_alive: Option<KeepAlive>,
}

struct KeepAlive {
    interval: Duration,
    last_sent: Instant,
    sleep: Pin<Box<Sleep>>,
    /// Whom the timer wakes.
    waker: Option<Waker>,
}

impl Events {
    pub(super) fn new(stream: EventStream, interval: Option<Duration>) -> Self {
        let keep_alive = interval.map(|interval| KeepAlive {
            interval,
            last_sent: Instant::now(),
            sleep: Box::pin(tokio::time::sleep(interval)),
            waker: None,
        });
        Self { stream, keep_alive }
    }

    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Poll::Ready(frames) = self.stream.poll_frames(cx) {
            if let Some(keep_alive) = &mut self.keep_alive {
                keep_alive.last_sent = Instant::now();
            }
            return Poll::Ready(frames);
        }
        if let Some(keep_alive) = &mut self.keep_alive
            && keep_alive.poll_due(cx).is_ready()
        {
            self.stream.note_sent();
            return Poll::Ready(Some(KEEP_ALIVE));
        }
        Poll::Pending
    }
}

impl KeepAlive {
    fn poll_due(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // A timer that has not fired and wakes the right task needs no poll: most come because of an event.
        if !self.sleep.is_elapsed() && self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            return Poll::Pending;
        }
        self.waker = Some(cx.waker().clone());
        // Not to be put off because this task has done a lot already: it would not know whom to wake.
        while pin!(unconstrained(self.sleep.as_mut())).poll(cx).is_ready() {
            // The timer is moved only when it fires: a frame costs it nothing.
            let now = Instant::now();
            let left = self.interval.saturating_sub(now.duration_since(self.last_sent));
            if left.is_zero() {
                self.last_sent = now;
                self.sleep.as_mut().reset(now + self.interval);
                // It is registered again by the next poll.
                self.waker = None;
                return Poll::Ready(());
            }
            self.sleep.as_mut().reset(now + left);
        }
        Poll::Pending
    }
}
