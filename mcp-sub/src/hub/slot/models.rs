//! A slot, between whoever publishes and the one stream that takes.

use std::{future::poll_fn, pin::Pin};

use futures_core::Stream;
use loom::{future::block_on, thread};

use super::*;
use crate::{
    models::{explore, honoured, nobody},
    pending::Entry,
};

const TOOLS: u32 = 0;

fn published(event: u32, uri: Option<&str>) -> Arc<Published<u32>> {
    let kinds = if uri.is_some() { Kinds::RESOURCES_UPDATED } else { Kinds::TOOLS_LIST_CHANGED };
    Arc::new(Published { event: Held::new(event), kinds, uri: uri.map(Into::into) })
}

/// As the hub does.
fn offer(slot: &Slot<u32>, published: &Arc<Published<u32>>) {
    if let Some(waker) = slot.offer(published) {
        wake(waker);
    }
}

/// A source that never gives anything.
struct Silent(#[expect(dead_code, reason = "it counts who is left")] Arc<()>);
impl Stream for Silent {
    type Item = Arc<Published<u32>>;
    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Pending
    }
}

fn poll_next(slot: &Slot<u32>, cx: &Context<'_>) -> Poll<Next<u32>> {
    match slot.poll_ready(cx) {
        Poll::Ready(()) => slot.try_next().map_or(Poll::Pending, Poll::Ready),
        Poll::Pending => Poll::Pending,
    }
}

/// Waits for the next thing, as a stream's task does that comes with another waker than the time before.
fn wait(slot: &Slot<u32>) -> Next<u32> {
    if let Poll::Ready(next) = poll_next(slot, &nobody()) {
        return next;
    }
    block_on(poll_fn(|cx| poll_next(slot, cx)))
}

/// A waiter that is not woken is a deadlock, which loom finds.
fn wakes(act: impl Fn(&Slot<u32>) + Copy + Send + Sync + 'static) {
    explore(move || {
        let slot = Arc::new(Slot::new(honoured(&[]), 1));
        let acting = thread::spawn({
            let slot = slot.clone();
            move || act(&slot)
        });
        wait(&slot);
        acting.join().unwrap();
    });
}

#[test]
fn an_offer_wakes_who_waits() {
    wakes(|slot| offer(slot, &published(TOOLS, None)));
}

#[test]
fn what_is_sent_wakes_who_waits() {
    wakes(|slot| assert!(slot.send(&published(TOOLS, None))));
}

#[test]
fn an_end_wakes_who_waits() {
    wakes(|slot| slot.end(CloseReason::Shutdown));
}

#[test]
fn what_is_attached_wakes_who_waits() {
    explore(|| {
        let slot = Arc::new(Slot::new(honoured(&[]), 1));
        let attaching = thread::spawn({
            let slot = slot.clone();
            move || assert!(slot.attach(Source::new(Silent(Arc::default()), false)))
        });
        // In the order of the stream's task: first it says whom to wake.
        block_on(poll_fn(|cx| {
            let _ = slot.poll_ready(cx);
            if slot.fetch_attached().is_empty() { Poll::Pending } else { Poll::Ready(()) }
        }));
        attaching.join().unwrap();
    });
}

/// Which of the events that were sent were told, in one way or the other.
#[derive(Debug, Default, PartialEq)]
struct Told {
    tools: bool,
    resource: bool,
}

/// Takes all until the end. What is taken twice, or after the end, fails.
fn told(slot: &Slot<u32>) -> Told {
    let mut told = Told::default();
    loop {
        match wait(slot) {
            Next::Event(published) => {
                let first = if published.uri.is_some() { &mut told.resource } else { &mut told.tools };
                assert!(!std::mem::replace(first, true));
            }
            Next::CatchUp(mut missed) => missed.drain(|entry| {
                let first = if entry == Entry::Uri(0) { &mut told.resource } else { &mut told.tools };
                assert!(!std::mem::replace(first, true));
            }),
            Next::End(reason) => {
                assert_eq!(reason, CloseReason::Shutdown);
                return told;
            }
        }
    }
}

/// Two events and then the end come while the stream takes. All that was taken in is told, and nothing else.
fn is_told(capacity: usize) {
    explore(move || {
        let slot = Arc::new(Slot::new(honoured(&["x:a"]), capacity));
        let publishing = thread::spawn({
            let slot = slot.clone();
            move || Told {
                tools: slot.send(&published(TOOLS, None)),
                resource: slot.send(&published(1, Some("x:a"))),
            }
        });
        let ending = thread::spawn({
            let slot = slot.clone();
            move || slot.end(CloseReason::Shutdown)
        });
        let told = told(&slot);
        assert_eq!(told, publishing.join().unwrap());
        ending.join().unwrap();
    });
}

#[test]
fn what_is_taken_in_is_told_before_the_end() {
    is_told(2);
}

#[test]
fn what_does_not_fit_is_told_before_the_end() {
    is_told(1);
}

#[test]
fn what_is_left_when_all_is_missed_is_told_before_the_end() {
    is_told(0);
}

#[test]
fn after_a_close_nothing_is_queued() {
    explore(|| {
        let slot = Arc::new(Slot::new(honoured(&[]), 2));
        let (event, source) = (published(TOOLS, None), Arc::new(()));
        let coming = thread::spawn({
            let (slot, event, source) = (slot.clone(), event.clone(), source.clone());
            move || {
                slot.send(&event);
                slot.attach(Source::new(Silent(source), false));
                offer(&slot, &event);
            }
        });
        slot.close();
        coming.join().unwrap();
        assert_eq!((Arc::strong_count(&event), Arc::strong_count(&source)), (1, 1));
    });
}
