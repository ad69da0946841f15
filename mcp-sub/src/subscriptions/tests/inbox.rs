//! `Inbox`: what is for one subscription alone.

use std::{collections::VecDeque, pin::Pin};

use futures_core::Stream;

use super::*;

/// A stream that is told from outside what to do, and tells how often it was polled and whether it is gone.
#[derive(Clone, Default)]
struct Tap(Arc<Mutex<Tapped>>);

#[derive(Default)]
struct Tapped {
    items: VecDeque<Event>,
    over: bool,
    panics: bool,
    polls: usize,
    dropped: bool,
    waker: Option<Waker>,
}

impl Tap {
    fn tell(&self, change: impl FnOnce(&mut Tapped)) {
        let waker = {
            let mut tapped = self.0.lock().unwrap();
            change(&mut tapped);
            tapped.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn give(&self, event: Event) {
        self.tell(|tapped| tapped.items.push_back(event));
    }

    fn polls(&self) -> usize {
        self.0.lock().unwrap().polls
    }

    fn is_dropped(&self) -> bool {
        self.0.lock().unwrap().dropped
    }

    fn stream(&self) -> Water {
        Water(self.clone())
    }
}

struct Water(Tap);

impl Stream for Water {
    type Item = Event;
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        let mut tapped = self.0.0.lock().unwrap();
        tapped.polls += 1;
        let panics = tapped.panics;
        if let Some(item) = tapped.items.pop_front() {
            return Poll::Ready(Some(item));
        }
        if tapped.over {
            return Poll::Ready(None);
        }
        tapped.waker = Some(cx.waker().clone());
        drop(tapped);
        assert!(!panics, "as told");
        Poll::Pending
    }
}

impl Drop for Water {
    fn drop(&mut self) {
        self.0.0.lock().unwrap().dropped = true;
    }
}

fn filled(fill: impl Fn(&Inbox<Probe>) + Send + Sync + 'static) -> (Subscriptions<Probe>, Closed) {
    server(Decide::Fill(Box::new(fill)), |builder| builder)
}

/// A server whose streams have this source.
fn tapped(tap: &Tap) -> (Subscriptions<Probe>, Closed) {
    let tap = tap.clone();
    filled(move |inbox| assert!(inbox.attach(tap.stream())))
}

/// The inbox of the stream that opens, and that stream.
async fn with_inbox(
    set: impl FnOnce(Builder<Probe>) -> Builder<Probe>,
) -> (Subscriptions<Probe>, Closed, Inbox<Probe>, EventStream) {
    let kept = Arc::new(Mutex::new(None));
    let keeps = kept.clone();
    let fill: Fill = Box::new(move |inbox| *keeps.lock().unwrap() = Some(inbox.clone()));
    let (server, closed) = server(Decide::Fill(fill), set);
    let stream = open(&server).await;
    let inbox = kept.lock().unwrap().take().unwrap();
    (server, closed, inbox, stream)
}

#[tokio::test]
async fn promise_1_an_initial_notification_comes_after_the_acknowledgement() {
    let (server, _) = filled(|inbox| {
        assert!(inbox.send(Event::Tools));
        assert!(inbox.send_for("x:a", Event::Saved("x:a")));
        assert!(inbox.send_for("x:b", Event::Saved("x:b")), "it is narrowed away later");
        assert!(!inbox.send_for("x:c", Event::Saved("x:c")));
    });
    let (stream, other) = (open(&server).await, open(&server).await);
    assert_eq!(now(&stream).unwrap(), [ACK], "alone, and first");
    assert_eq!(now(&stream).unwrap(), [TOOLS, "x:a"], "without what was narrowed away");
    assert_eq!(server.handler().handled.load(Ordering::Relaxed), 2, "of this stream alone");
    assert!(now(&stream).unwrap().is_empty());
    assert_eq!(now(&other).unwrap(), [ACK]);
}

#[tokio::test]
async fn what_is_sent_goes_to_one_stream_and_wakes_it() {
    let (server, _, inbox, stream) = with_inbox(|builder| builder).await;
    let other = open(&server).await;
    assert_eq!((now(&stream).unwrap(), now(&other).unwrap()), (vec![ACK.into()], vec![ACK.into()]));
    let (woken, waits) = std_mpsc::channel();
    let waker = Waker::from(Arc::new(Hook(move || woken.send(()).unwrap(), || {})));
    assert!(stream.poll_frames(&mut Context::from_waker(&waker)).is_pending());
    assert!(inbox.send(Event::Tools));
    assert_eq!(waits.try_recv(), Ok(()));
    assert_eq!(now(&stream).unwrap(), [TOOLS]);
    assert!(now(&other).unwrap().is_empty());
}

#[tokio::test]
async fn promise_4_a_full_slot_takes_a_note_of_what_is_sent() {
    let (_server, _, inbox, stream) =
        with_inbox(|builder| builder.limits(Limits::default().with_slot(1))).await;
    assert!(inbox.send(Event::Tools));
    for _ in 0..1_000 {
        assert!(inbox.send_for("x:a", Event::Saved("x:a")));
    }
    assert_eq!(now(&stream).unwrap(), [ACK]);
    assert_eq!(now(&stream).unwrap(), [TOOLS, "x:a"]);
}

#[tokio::test]
async fn after_the_end_every_call_does_nothing() {
    let (server, mut closed, inbox, stream) = with_inbox(|builder| builder).await;
    server.publish(Event::Stop);
    assert_eq!(now(&stream).unwrap(), [ACK]);
    assert_eq!(now(&stream).unwrap(), ["complete"]);
    assert_eq!(closed.recv().await, Some(CloseReason::Stopped("enough".into())));
    let tap = Tap::default();
    let nothing = |inbox: &Inbox<Probe>| {
        !inbox.send(Event::Tools)
            && !inbox.send_for("x:a", Event::Saved("x:a"))
            && !inbox.attach(tap.stream())
            && !inbox.attach_or_end(tap.stream())
    };
    assert!(nothing(&inbox));
    assert!(tap.is_dropped());
    drop(stream);
    assert!(nothing(&inbox));
    drop(server);
    assert!(nothing(&inbox));
    assert_eq!(closed.recv().await, None, "it keeps no handler alive");
}

#[tokio::test]
async fn what_a_source_gives_is_an_event_of_its_stream() {
    let tap = Tap::default();
    let (server, _) = tapped(&tap);
    let stream = open(&server).await;
    tap.give(Event::Saved("x:a"));
    tap.give(Event::Saved("x:b"));
    assert_eq!(now(&stream).unwrap(), [ACK]);
    assert_eq!(now(&stream).unwrap(), ["x:a"]);
    assert!(now(&stream).unwrap().is_empty(), "it was narrowed away");
    tap.give(Event::Tools);
    assert_eq!(next(&stream).await.unwrap(), [TOOLS]);
    assert_eq!(server.handler().handled.load(Ordering::Relaxed), 3);
    // Of what is not honoured no method hears.
    let (server, _) = tapped(&tap);
    let stream = open_with(&server, Kinds::RESOURCES_UPDATED).await.unwrap_or_else(|_| panic!("refused"));
    assert_eq!(now(&stream).unwrap(), [ACK]);
    tap.give(Event::Tools);
    assert!(now(&stream).unwrap().is_empty());
    assert_eq!(server.handler().handled.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_source_is_not_polled_while_a_frame_is_untaken_or_the_slot_has_events() {
    let tap = Tap::default();
    let (server, _) = tapped(&tap);
    let stream = open(&server).await;
    for _ in 0..3 {
        tap.give(Event::Tools);
    }
    assert_eq!(tap.polls(), 0, "not before the acknowledgement is taken");
    assert_eq!(now(&stream).unwrap(), [ACK]);
    assert_eq!(tap.polls(), 0);
    server.publish(Event::Saved("x:a"));
    assert_eq!(now(&stream).unwrap(), ["x:a"], "the slot comes first");
    assert_eq!(tap.polls(), 0);
    for polls in 1..=3 {
        assert_eq!(now(&stream).unwrap(), [TOOLS], "one item at a time");
        assert_eq!(tap.polls(), polls);
    }
    assert!(now(&stream).unwrap().is_empty());
    assert_eq!(tap.polls(), 4);
}

#[tokio::test]
async fn a_source_that_always_has_something_lets_others_have_their_turn() {
    struct Always;
    impl Stream for Always {
        type Item = Event;
        fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Event>> {
            // It honours no such URI: the method sends nothing.
            Poll::Ready(Some(Event::Saved("x:c")))
        }
    }
    let (server, _) = filled(|inbox| assert!(inbox.attach(Always)));
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    assert!(now(&stream).unwrap().is_empty());
    server.publish(Event::Tools);
    assert_eq!(next(&stream).await.unwrap(), [TOOLS]);
}

#[tokio::test]
async fn a_source_may_come_later_and_when_it_is_over_the_stream_goes_on() {
    let (server, _closed, inbox, stream) = with_inbox(|builder| builder).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    let tap = Tap::default();
    let attached = async {
        tokio::task::yield_now().await;
        tap.give(Event::Tools);
        assert!(inbox.attach(tap.stream()));
    };
    let (frames, ()) = tokio::join!(next(&stream), attached);
    assert_eq!(frames.unwrap(), [TOOLS]);
    tap.tell(|tapped| tapped.over = true);
    assert!(now(&stream).unwrap().is_empty());
    assert!(tap.is_dropped());
    server.publish(Event::Tools);
    assert_eq!(now(&stream).unwrap(), [TOOLS]);
}

#[tokio::test]
async fn promise_5_with_its_source_the_stream_ends_and_what_waits_goes_out_before() {
    let tap = Tap::default();
    let attached = tap.clone();
    let (server, mut closed) = filled(move |inbox| assert!(inbox.attach_or_end(attached.stream())));
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    tap.give(Event::Tools);
    tap.tell(|tapped| tapped.over = true);
    assert_eq!(now(&stream).unwrap(), [TOOLS]);
    assert_eq!(now(&stream).unwrap(), ["complete"]);
    assert_eq!(now(&stream), None);
    assert_eq!(closed.recv().await, Some(CloseReason::SourceEnded));
    assert_eq!(server.open_streams(), 0, "its permit is free");
    assert!(tap.is_dropped());
}

#[tokio::test]
async fn a_source_goes_with_its_stream() {
    type End = fn(&Subscriptions<Probe>, EventStream) -> Option<EventStream>;
    let endings: [(End, CloseReason); 4] = [
        (|_, _| None, CloseReason::Disconnected),
        (
            |server, stream| (server.publish(Event::Stop) == 1).then_some(stream),
            CloseReason::Stopped("enough".into()),
        ),
        (|server, stream| (server.publish(Event::Panic) == 1).then_some(stream), CloseReason::Panicked),
        (|server, stream| (server.publish(Event::Hang) == 1).then_some(stream), CloseReason::Disconnected),
    ];
    for (end, reason) in endings {
        let tap = Tap::default();
        let (server, mut closed) = tapped(&tap);
        let stream = open(&server).await;
        assert_eq!(now(&stream).unwrap(), [ACK]);
        assert!(now(&stream).unwrap().is_empty());
        assert!(tap.polls() == 1 && !tap.is_dropped());
        let stream = end(&server, stream);
        if let Some(stream) = stream {
            let _ = now(&stream);
            if reason == CloseReason::Disconnected {
                drop(stream);
            } else {
                assert!(tap.is_dropped(), "before the transport lets go");
            }
        }
        assert_eq!(closed.recv().await, Some(reason));
        assert!(tap.is_dropped());
        assert_eq!(server.open_streams(), 0);
    }
}

#[tokio::test]
async fn a_source_of_what_is_rejected_or_never_runs_is_dropped() {
    let tap = Tap::default();
    let attached = tap.clone();
    let (server, _) = filled(move |inbox| {
        assert!(inbox.attach(attached.stream()));
        panic!("as told");
    });
    assert!(open_with(&server, Probe::DECLARED).await.is_err());
    assert!(tap.is_dropped());
    assert_eq!(tap.polls(), 0);
    // A stream that is gone before its first poll.
    let tap = Tap::default();
    let (server, mut closed) = tapped(&tap);
    drop(open(&server).await);
    assert!(tap.is_dropped());
    assert_eq!(tap.polls(), 0);
    assert_eq!(closed.recv().await, Some(CloseReason::Disconnected));
}

#[tokio::test]
async fn promise_6_a_source_that_panics_ends_its_stream_alone() {
    let tap = Tap::default();
    let (server, mut closed) = tapped(&tap);
    let (stream, other) = (open(&server).await, open(&server).await);
    assert_eq!((now(&stream).unwrap(), now(&other).unwrap()), (vec![ACK.into()], vec![ACK.into()]));
    tap.tell(|tapped| tapped.panics = true);
    assert_eq!(now(&stream).unwrap(), ["panicked"]);
    assert_eq!(closed.recv().await, Some(CloseReason::Panicked));
    assert_eq!(server.open_streams(), 1);
    tap.tell(|tapped| tapped.panics = false);
    tap.give(Event::Tools);
    assert_eq!(now(&other).unwrap(), [TOOLS]);
}

#[tokio::test]
async fn foreign_code_of_a_source_may_call_whatever_is_ours() {
    /// Publishes and sends whenever it is polled and when it is dropped.
    struct Caller(Subscriptions<Probe>, Inbox<Probe>);
    impl Caller {
        fn call(&self) {
            self.0.publish(Event::Saved("x:a"));
            self.1.send(Event::Saved("x:a"));
            let _ = self.0.open_streams();
            self.1.attach(Tap::default().stream());
        }
    }
    impl Stream for Caller {
        type Item = Event;
        fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Event>> {
            self.call();
            Poll::Ready(None)
        }
    }
    impl Drop for Caller {
        fn drop(&mut self) {
            self.call();
        }
    }
    let (server, mut closed, inbox, stream) = with_inbox(|builder| builder).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    assert!(inbox.attach(Caller(server.clone(), inbox.clone())));
    assert_eq!(next(&stream).await.unwrap(), ["x:a"]);
    assert!(inbox.attach(Caller(server.clone(), inbox.clone())), "never polled");
    drop(stream);
    assert_eq!(closed.recv().await, Some(CloseReason::Disconnected));
    assert!(!inbox.attach(Caller(server.clone(), inbox.clone())));
}

#[tokio::test]
async fn promise_4_what_was_lost_on_the_way_to_an_inbox_is_caught_up_with() {
    let (give, mut inboxes) = mpsc::unbounded_channel();
    let (server, mut closed) = filled(move |inbox| give.send(inbox.clone()).unwrap());
    let stream = open(&server).await;
    let inbox = inboxes.recv().await.unwrap();
    assert_eq!(now(&stream).unwrap(), [ACK]);
    server.publish(Event::Saved("x:a"));
    assert!(inbox.lagged());
    assert!(inbox.lagged(), "twice is once");
    assert_eq!(now(&stream).unwrap(), ["x:a", TOOLS], "all that is honoured, and what waits comes before");
    assert!(now(&stream).unwrap().is_empty());
    drop(stream);
    assert!(closed.recv().await.is_some());
    assert!(!inbox.lagged());
}
