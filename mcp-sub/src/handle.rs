//! The handle by which a subscription is ended from outside.

use std::{
    borrow::Cow,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::{
    ending::CloseReason,
    sync::{Mutex, Notify, catch_unwind, lock},
};

/// Ends one subscription from outside, and tells when it has ended. From
/// [`ListenRequest::handle`](crate::ListenRequest::handle). Cheap to clone, and keeps nothing open.
#[derive(Clone)]
pub struct SubscriptionHandle {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// How many wait in `closed`.
    waiting: AtomicUsize,
    closed: Notify,
}

enum State {
    /// `subscribe` has not returned, and may be told already that its subscription ends.
    Deciding(Option<CloseReason>),
    Open(Arc<dyn End>),
    /// `None`: it never opened.
    Closed(Option<CloseReason>),
}

/// What can be ended in good order.
pub(crate) trait End: Send + Sync {
    fn end(&self, reason: CloseReason);
}

impl SubscriptionHandle {
    pub(crate) fn new() -> Self {
        let state = Mutex::new(State::Deciding(None));
        let shared = Shared { state, waiting: AtomicUsize::new(0), closed: Notify::new() };
        Self { shared: Arc::new(shared) }
    }

    /// Ends the subscription, as a method does with [`Flow::stop`](crate::Flow::stop): what was published before is told,
    /// then the client gets the graceful result. [`handle_close`](crate::SubscriptionHandler::handle_close) gets
    /// [`CloseReason::Stopped`] with this reason. While `subscribe` runs, the stream ends after its acknowledgement.
    ///
    /// The first reason stands. After the end it does nothing. A client that does not read gets no result either: its
    /// stream ends after [`Limits::write_timeout`](crate::Limits::write_timeout), as stalled.
    pub fn end(&self, reason: impl Into<Cow<'static, str>>) {
        self.end_for(CloseReason::Stopped(reason.into()));
    }

    /// Waits until the subscription has ended, and tells why. `None`: it never opened. It does not wait for
    /// [`handle_close`](crate::SubscriptionHandler::handle_close).
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if the future is dropped.
    pub async fn closed(&self) -> Option<CloseReason> {
        let _waiting = Waiting::new(&self.shared.waiting);
        loop {
            let mut closed = std::pin::pin!(self.shared.closed.notified());
            closed.as_mut().enable();
            if let State::Closed(reason) = &*lock(&self.shared.state) {
                return reason.clone();
            }
            closed.await;
        }
    }

    pub(crate) fn end_for(&self, reason: CloseReason) {
        let stream = {
            let mut state = lock(&self.shared.state);
            match &mut *state {
                State::Deciding(asked) => {
                    asked.get_or_insert(reason);
                    return;
                }
                State::Open(stream) => stream.clone(),
                State::Closed(_) => return,
            }
        };
        stream.end(reason);
    }

    /// From now on there is something to end.
    pub(crate) fn opened(&self, stream: &Arc<impl End + 'static>) {
        loop {
            let asked = {
                let mut state = lock(&self.shared.state);
                let State::Deciding(asked) = &mut *state else { return };
                let Some(asked) = asked.take() else {
                    *state = State::Open(stream.clone());
                    return;
                };
                asked
            };
            // Before others can reach the stream, since the first reason stands; and not under the lock, since it wakes.
            stream.end(asked);
        }
    }

    /// The first reason stands.
    pub(crate) fn close(&self, reason: Option<CloseReason>) {
        let open = {
            let mut state = lock(&self.shared.state);
            if matches!(*state, State::Closed(_)) {
                return;
            }
            std::mem::replace(&mut *state, State::Closed(reason))
        };
        // It may be the last to hold the slot, and so a user's events.
        drop(open);
        // One by one: a waker is foreign code, and one that panics keeps no other asleep.
        for _ in 0..self.shared.waiting.load(Ordering::SeqCst) {
            if catch_unwind(|| self.shared.closed.notify_one()).is_err() {
                tracing::error!("a waker panicked");
            }
        }
    }
}

/// One that waits in `closed`.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::SeqCst);
        Self(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl fmt::Debug for SubscriptionHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tuple = f.debug_tuple("SubscriptionHandle");
        match &*lock(&self.shared.state) {
            State::Deciding(_) => tuple.field(&"deciding"),
            State::Open(_) => tuple.field(&"open"),
            State::Closed(reason) => tuple.field(reason),
        };
        tuple.finish()
    }
}

#[cfg(test)]
#[cfg(mcp_sub_loom)]
mod models;

#[cfg(test)]
#[cfg(not(mcp_sub_loom))]
mod tests {
    use super::*;

    /// Somebody asks for another end just before this one is told to end.
    struct Meddled(SubscriptionHandle, Mutex<Vec<CloseReason>>);
    impl End for Meddled {
        fn end(&self, reason: CloseReason) {
            if reason == CloseReason::Shutdown {
                self.0.end("later");
            }
            lock(&self.1).push(reason);
        }
    }

    #[test]
    fn what_is_asked_for_while_deciding_comes_before_what_is_asked_for_while_it_opens() {
        let handle = SubscriptionHandle::new();
        let stream = Arc::new(Meddled(handle.clone(), Mutex::default()));
        handle.end_for(CloseReason::Shutdown);
        handle.opened(&stream);
        assert_eq!(*lock(&stream.1), [CloseReason::Shutdown, CloseReason::Stopped("later".into())]);
    }
}
