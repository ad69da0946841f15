//! A handle, between `subscribe`, whoever ends the subscription, and its close.

use loom::{future::block_on, thread};

use super::*;
use crate::models::explore;

/// What it was told, in order.
#[derive(Default)]
struct Asked(Mutex<Vec<CloseReason>>);
impl End for Asked {
    fn end(&self, reason: CloseReason) {
        lock(&self.0).push(reason);
    }
}

fn stopped(reason: &'static str) -> CloseReason {
    CloseReason::Stopped(reason.into())
}

#[test]
fn an_end_that_is_asked_for_while_deciding_is_not_lost() {
    explore(|| {
        let (handle, stream) = (SubscriptionHandle::new(), Arc::new(Asked::default()));
        let ending = thread::spawn({
            let handle = handle.clone();
            move || handle.end("a")
        });
        handle.opened(&stream);
        ending.join().unwrap();
        assert_eq!(*lock(&stream.0), [stopped("a")]);
    });
}

#[test]
fn the_first_reason_stands_that_is_asked_for_while_deciding() {
    explore(|| {
        let (handle, stream) = (SubscriptionHandle::new(), Arc::new(Asked::default()));
        handle.end("a");
        let ending = thread::spawn({
            let handle = handle.clone();
            move || handle.end("b")
        });
        handle.opened(&stream);
        ending.join().unwrap();
        assert_eq!(lock(&stream.0).first(), Some(&stopped("a")));
    });
}

#[test]
fn a_close_wakes_all_who_wait_for_it() {
    explore(|| {
        let handle = SubscriptionHandle::new();
        let wait = |handle: SubscriptionHandle| move || block_on(handle.closed());
        let waiting = thread::spawn(wait(handle.clone()));
        let closing = thread::spawn({
            let handle = handle.clone();
            move || {
                handle.close(Some(CloseReason::Stalled));
                handle.close(None);
            }
        });
        assert_eq!(wait(handle)(), Some(CloseReason::Stalled));
        assert_eq!(waiting.join().unwrap(), Some(CloseReason::Stalled));
        closing.join().unwrap();
    });
}

#[test]
fn a_handle_that_is_closed_holds_no_stream() {
    explore(|| {
        let (handle, stream) = (SubscriptionHandle::new(), Arc::new(Asked::default()));
        let ending = thread::spawn({
            let handle = handle.clone();
            move || handle.end("a")
        });
        let opening = thread::spawn({
            let (handle, stream) = (handle.clone(), stream.clone());
            move || handle.opened(&stream)
        });
        handle.close(None);
        ending.join().unwrap();
        opening.join().unwrap();
        assert_eq!(Arc::strong_count(&stream), 1);
        assert_eq!(block_on(handle.closed()), None);
    });
}
