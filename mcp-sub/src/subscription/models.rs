//! A stream, between its transport, whoever ends it, and whoever publishes.

use loom::{future::block_on, thread};
use tokio::runtime::Runtime;

use super::*;
use crate::{
    SubscriptionHandle,
    hub::Hub,
    limits::Limits,
    models::{Event, HOUR, Probe, explore_on, frames, honoured, names, nobody},
    registry::Registry,
};

struct Opened {
    handler: Arc<Probe>,
    hub: Hub<Probe>,
    registry: Arc<Registry>,
    stream: Arc<Subscription<Event>>,
    handle: SubscriptionHandle,
}

/// A stream whose acknowledgement was taken, and which waits under a waker that is not its next one.
fn opened() -> Opened {
    let (handler, hub, registry) = (Arc::<Probe>::default(), Hub::new(), Registry::new(Limits::default()));
    let (permit, closer) = (registry.admit(None).unwrap(), registry.closer().unwrap());
    let handle = permit.handle().clone();
    let honoured = honoured(&["x:a"]);
    let registration = hub.register(honoured.clone(), 2);
    handle.opened(registration.slot());
    let stream = Subscription::start(Accepted {
        handler: handler.clone(),
        state: (),
        frames: frames(),
        honoured,
        registration,
        permit,
        closer,
        hold_empty: false,
        windows: Windows::default(),
        span: Span::none(),
    });
    assert!(stream.poll_frames(&mut nobody()).is_ready());
    assert!(stream.poll_frames(&mut nobody()).is_pending());
    Opened { handler, hub, registry, stream, handle }
}

impl Opened {
    fn spawn(&self, act: impl FnOnce(&Subscription<Event>) + 'static) -> thread::JoinHandle<()> {
        let stream = self.stream.clone();
        thread::spawn(move || act(&stream))
    }

    /// All frames up to the ending. A transport that is not woken is a deadlock.
    fn take_all(&self) -> Vec<String> {
        let mut taken = Vec::new();
        while let Some(frames) = block_on(poll_fn(|cx| self.stream.poll_frames(cx))) {
            taken.extend(names(&frames));
        }
        taken
    }

    /// Why it ended. The handle and `handle_close` have to agree, the latter runs once, and nothing is left.
    fn closed(&self, runtime: &Runtime) -> CloseReason {
        let reason = block_on(self.handle.closed()).unwrap();
        runtime.block_on(self.registry.shutdown(HOUR));
        assert_eq!(self.handler.closed.lock().unwrap().as_slice(), std::slice::from_ref(&reason));
        assert_eq!((self.registry.open_streams(), self.hub.publish(Event::Tools)), (0, 0));
        reason
    }
}

#[test]
fn an_abort_wakes_the_transport_and_all_learn_the_same() {
    explore_on(|runtime| {
        let opened = opened();
        let aborting = opened.spawn(|stream| stream.abort(CloseReason::Stalled));
        assert_eq!(opened.take_all(), ["stalled"]);
        aborting.join().unwrap();
        assert_eq!(opened.closed(runtime), CloseReason::Stalled);
    });
}

#[test]
fn an_end_wakes_the_transport_and_all_learn_the_same() {
    explore_on(|runtime| {
        let opened = opened();
        let ending = opened.spawn(|stream| stream.end(CloseReason::Shutdown));
        assert_eq!(opened.take_all(), ["result"]);
        ending.join().unwrap();
        assert_eq!(opened.closed(runtime), CloseReason::Shutdown);
    });
}

#[test]
fn of_an_end_and_an_abort_one_stands_for_all() {
    explore_on(|runtime| {
        let opened = opened();
        let ending = opened.spawn(|stream| stream.end(CloseReason::Shutdown));
        let aborting = opened.spawn(|stream| stream.abort(CloseReason::Expired));
        let taken = opened.take_all();
        ending.join().unwrap();
        aborting.join().unwrap();
        let frame = match opened.closed(runtime) {
            CloseReason::Shutdown => "result",
            reason => reason.name(),
        };
        assert_eq!(taken, [frame]);
    });
}

#[test]
fn of_two_aborts_one_stands_and_the_stream_is_closed_once() {
    explore_on(|runtime| {
        let opened = opened();
        let aborting = opened.spawn(|stream| stream.abort(CloseReason::Expired));
        opened.stream.abort(CloseReason::Stalled);
        aborting.join().unwrap();
        assert_eq!(opened.take_all(), [opened.closed(runtime).name()]);
    });
}

#[test]
fn what_is_published_is_told_once_before_the_end() {
    explore_on(|runtime| {
        let opened = opened();
        let publishing = thread::spawn({
            let (hub, stream) = (opened.hub.clone(), opened.stream.clone());
            move || {
                assert_eq!(hub.publish(Event::Tools), 1);
                stream.end(CloseReason::Shutdown);
            }
        });
        assert_eq!(opened.take_all(), ["tools", "result"]);
        publishing.join().unwrap();
        assert_eq!(opened.closed(runtime), CloseReason::Shutdown);
    });
}

#[test]
fn nothing_is_told_after_an_abort_that_meets_a_method() {
    explore_on(|runtime| {
        let opened = opened();
        opened.hub.publish(Event::Tools);
        let aborting = opened.spawn(|stream| stream.abort(CloseReason::Stalled));
        let taken = opened.take_all();
        assert!(taken == ["stalled"] || taken == ["tools", "stalled"], "{taken:?}");
        aborting.join().unwrap();
        assert_eq!(opened.closed(runtime), CloseReason::Stalled);
    });
}

#[test]
fn an_abort_reaches_a_method_that_waits_with_events_behind_it() {
    explore_on(|runtime| {
        let opened = opened();
        opened.hub.publish(Event::Hang);
        assert!(opened.stream.poll_frames(&mut nobody()).is_pending());
        let publishing = thread::spawn({
            let hub = opened.hub.clone();
            move || _ = hub.publish(Event::Tools)
        });
        let aborting = opened.spawn(|stream| stream.abort(CloseReason::Expired));
        assert_eq!(opened.take_all(), ["expired"]);
        publishing.join().unwrap();
        aborting.join().unwrap();
        assert_eq!(opened.closed(runtime), CloseReason::Expired);
    });
}

#[test]
fn what_is_counted_is_exact_whoever_looks_meanwhile() {
    explore_on(|runtime| {
        let opened = opened();
        opened.hub.publish(Event::Tools);
        let looking = opened.spawn(|stream| _ = (stream.progress(), stream.counts()));
        opened.stream.end(CloseReason::Shutdown);
        opened.take_all();
        looking.join().unwrap();
        let counts = opened.stream.counts();
        assert_eq!((counts.events, counts.notifications), (1, 1));
        assert_eq!(opened.closed(runtime), CloseReason::Shutdown);
    });
}
