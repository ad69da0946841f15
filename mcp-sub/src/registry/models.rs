//! The registry, between listens that come, streams that go, and whoever ends them all.

use std::{
    future::poll_fn,
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use loom::{future::block_on, thread};

use super::*;
use crate::{
    handle::End,
    models::{HOUR, explore},
    stats::Counts,
    sync::wake,
};

/// A stream that has sent one notification, and whose transport waits for its end.
#[derive(Default)]
struct Sent(Mutex<Progressed>);

#[derive(Default)]
struct Progressed {
    reason: Option<CloseReason>,
    waker: Option<Waker>,
    finished: bool,
}

impl Sent {
    fn reason(&self) -> Option<CloseReason> {
        lock(&self.0).reason.clone()
    }

    fn end(&self, reason: CloseReason) {
        let waker = {
            let mut progressed = lock(&self.0);
            progressed.reason.get_or_insert(reason);
            progressed.waker.take()
        };
        waker.into_iter().for_each(wake);
    }
}

impl End for Sent {
    fn end(&self, reason: CloseReason) {
        Self::end(self, reason);
    }
}

impl Stream for Sent {
    fn poll_frames(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut progressed = lock(&self.0);
        if progressed.reason.is_some() {
            progressed.finished = true;
            return Poll::Ready(None);
        }
        progressed.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    #[cfg(feature = "rmcp")]
    fn poll_messages(&self, _: &mut Context<'_>) -> Poll<Option<Vec<crate::outbox::Message>>> {
        unreachable!("it is polled for frames")
    }

    #[cfg(feature = "rmcp")]
    fn honoured(&self) -> &Arc<crate::filter::Honoured> {
        unreachable!("it is polled for frames")
    }

    #[cfg(feature = "rmcp")]
    fn is_ended(&self) -> bool {
        unreachable!("it is polled for frames")
    }

    #[cfg(feature = "rmcp")]
    fn poll_ended(&self, _: &Context<'_>) -> Poll<()> {
        unreachable!("it is polled for frames")
    }

    fn note_sent(&self) {}

    fn end(&self, reason: CloseReason) {
        Self::end(self, reason);
    }

    fn abort(&self, reason: CloseReason) {
        Self::end(self, reason);
    }

    fn is_finished(&self) -> bool {
        lock(&self.0).finished
    }

    fn counts(&self) -> Counts {
        Counts { notifications: 1, ..Counts::default() }
    }

    fn progress(&self) -> Progress {
        Progress { polls: 0, behind: false }
    }
}

fn registry() -> Arc<Registry> {
    Registry::new(Limits::default().with_streams_per_principal(1))
}

fn admit(registry: &Arc<Registry>) -> Option<Permit> {
    registry.admit(Some("a".into())).ok()
}

fn holds_nobody(registry: &Registry) -> bool {
    let state = lock(&registry.state);
    state.admitted.is_empty() && state.principals.is_empty()
}

#[test]
fn of_two_who_come_at_once_for_one_place_one_is_admitted() {
    explore(|| {
        let registry = registry();
        let other = thread::spawn({
            let registry = registry.clone();
            move || admit(&registry)
        });
        let permits = (admit(&registry), other.join().unwrap());
        assert!(permits.0.is_some() ^ permits.1.is_some());
        drop(permits);
        assert!(holds_nobody(&registry));
    });
}

#[test]
fn a_place_is_free_once_it_was_given_back_and_counted_once() {
    explore(|| {
        let registry = registry();
        let first = admit(&registry).unwrap();
        let leaving = thread::spawn(move || drop(first));
        let second = admit(&registry);
        leaving.join().unwrap();
        assert_eq!(second.is_none(), holds_nobody(&registry));
        assert_eq!(admit(&registry).is_some(), second.is_none());
        drop(second);
        assert!(holds_nobody(&registry));
    });
}

#[test]
fn an_end_of_all_reaches_what_opens_meanwhile() {
    explore(|| {
        let (registry, stream) = (registry(), Arc::new(Sent::default()));
        let permit = admit(&registry).unwrap();
        let opening = thread::spawn({
            let stream = stream.clone();
            move || {
                permit.handle().opened(&stream);
                permit
            }
        });
        assert_eq!(registry.end_all("a", &CloseReason::Expired), 1);
        let permit = opening.join().unwrap();
        assert_eq!(stream.reason(), Some(CloseReason::Expired));
        drop(permit);
    });
}

#[test]
fn who_is_gone_when_all_are_ended_never_opened_and_is_not_held() {
    explore(|| {
        let registry = registry();
        let permit = admit(&registry).unwrap();
        let handle = permit.handle().clone();
        let leaving = thread::spawn(move || drop(permit));
        assert!(registry.end_all("a", &CloseReason::Expired) <= 1);
        assert_eq!(block_on(handle.closed()), None);
        leaving.join().unwrap();
        assert!(holds_nobody(&registry));
    });
}

/// A listen that comes while the server is shut down. A stream that is not ended, or a shutdown that does not see it go,
/// is a deadlock.
#[test]
fn a_shutdown_ends_what_opens_meanwhile_and_waits_for_it() {
    explore(|| {
        let registry = registry();
        let listening = thread::spawn({
            let registry = registry.clone();
            move || {
                let Some(permit) = admit(&registry) else { return 0 };
                let stream = registry.watch(permit.key(), Arc::new(Sent::default()), None);
                block_on(poll_fn(|cx| stream.poll_frames(cx)));
                drop(permit);
                drop(stream);
                1
            }
        });
        let shutdown = block_on(registry.shutdown(HOUR));
        let opened = listening.join().unwrap();
        assert_eq!((shutdown.completed, shutdown.cut), (opened, 0));
    });
}

#[test]
fn a_stream_that_goes_while_it_is_cut_is_in_the_outcome_once() {
    explore(|| {
        let registry = registry();
        let stream = Arc::new(Sent::default());
        let held = registry.watch(0, stream.clone(), None);
        lock(&registry.state).shutdown.get_or_insert_default();
        stream.end(CloseReason::Shutdown);
        let going = thread::spawn(move || {
            block_on(poll_fn(|cx| held.poll_frames(cx)));
            drop(held);
        });
        registry.cut();
        going.join().unwrap();
        let Shutdown { completed, cut } = lock(&registry.state).shutdown.unwrap();
        assert_eq!(completed + cut, 1);
    });
}

#[test]
fn what_a_stream_has_counted_is_in_the_totals_once_while_it_goes() {
    explore(|| {
        let registry = registry();
        let held = registry.watch(0, Arc::new(Sent::default()), None);
        let going = thread::spawn(move || drop(held));
        assert_eq!(registry.stats().notifications, 1);
        going.join().unwrap();
        assert_eq!(registry.stats().notifications, 1);
    });
}

#[test]
fn what_a_stream_has_counted_is_in_the_totals_once_while_it_is_cut() {
    explore(|| {
        let registry = registry();
        let held = registry.watch(0, Arc::new(Sent::default()), None);
        let cutting = thread::spawn({
            let registry = registry.clone();
            move || registry.cut()
        });
        assert_eq!(registry.stats().notifications, 1);
        cutting.join().unwrap();
        assert_eq!(registry.stats().notifications, 1);
        drop(held);
        assert_eq!(registry.stats().notifications, 1);
    });
}
