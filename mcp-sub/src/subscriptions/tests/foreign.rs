//! What foreign code may do, and harms nobody: wakers, destructors, recorders, inner servers, other runtimes.

use std::pin::Pin;

use super::*;

fn panics() -> Waker {
    Arc::new(Hook(|| panic!("in a waker"), || {})).into()
}

#[tokio::test]
async fn promise_5_a_waker_that_panics_costs_neither_an_ending_nor_another_waiter() {
    let (give, mut handles) = mpsc::unbounded_channel();
    let (server, mut closed) = server(Decide::Give(give), |builder| builder);
    let stream = open(&server).await;
    let handle = handles.recv().await.unwrap();
    let woken = Arc::new(AtomicUsize::new(0));
    let counted = woken.clone();
    let counts: Waker = Arc::new(Hook(move || _ = counted.fetch_add(1, Ordering::Relaxed), || {})).into();
    let (mut first, mut second) = (Box::pin(handle.closed()), Box::pin(handle.closed()));
    assert!(first.as_mut().poll(&mut Context::from_waker(&panics())).is_pending());
    assert!(second.as_mut().poll(&mut Context::from_waker(&counts)).is_pending());
    drop(stream);
    assert_eq!(woken.load(Ordering::Relaxed), 1);
    assert_eq!(closed.recv().await, Some(CloseReason::Disconnected));
    assert_eq!(second.await, Some(CloseReason::Disconnected));
}

#[tokio::test]
async fn promise_6_who_holds_an_event_last_is_not_ended_by_its_destructor() {
    let (server, mut closed) = server(Decide::Accept, |builder| builder);
    let streams = [open(&server).await, open(&server).await];
    for stream in &streams {
        assert_eq!(now(stream).unwrap(), [ACK]);
    }
    server.publish(Event::Bomb(Bomb));
    server.publish(Event::Tools);
    for stream in &streams {
        assert_eq!(now(stream).unwrap(), [TOOLS]);
    }
    assert!(closed.try_recv().is_err());
}

/// Always has something to say.
struct Endless;
impl futures_core::Stream for Endless {
    type Item = Event;
    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Event>> {
        Poll::Ready(Some(Event::Tools))
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_stops_reading_is_stalled_where_only_a_source_has_something_to_say() {
    let fill: Fill = Box::new(|inbox| assert!(inbox.attach(Endless)));
    let (server, mut closed) = server(Decide::Fill(fill), |builder| builder);
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    assert_eq!(now(&stream).unwrap(), [TOOLS]);
    let began = tokio::time::Instant::now();
    assert_eq!(closed.recv().await, Some(CloseReason::Stalled));
    assert!(began.elapsed() < Limits::default().write_timeout * 2);
}

#[test]
fn deadlines_hold_when_the_runtime_of_the_first_listen_is_gone() {
    let runtime =
        || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (first, second) = (runtime(), runtime());
    let (server, mut closed) = server(Decide::Expire(Duration::from_millis(100)), |builder| builder);
    drop(first.block_on(open(&server)));
    let other = second.block_on(open(&server));
    assert_eq!(now(&other).unwrap(), [ACK]);
    drop(first);
    second.block_on(async {
        // As with each keep-alive.
        other.note_sent();
        while closed.recv().await.unwrap() != CloseReason::Expired {}
    });
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_after_the_cut_is_counted_as_well() {
    let (server, _closed) = server(Decide::Accept, |builder| {
        builder.coalesce(Kinds::TOOLS_LIST_CHANGED, Duration::from_secs(60))
    });
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    server.publish(Event::Tools);
    assert_eq!(now(&stream).unwrap(), [TOOLS]);
    server.publish(Event::Tools);
    assert!(now(&stream).unwrap().is_empty(), "it is held");
    assert_eq!(server.shutdown(Duration::ZERO).await.cut, 1);
    assert_eq!(now(&stream).unwrap(), [TOOLS, "complete"]);
    assert_eq!(server.stats().notifications, 2);
    drop(stream);
    assert_eq!(server.stats().notifications, 2);
}

#[cfg(feature = "metrics")]
#[tokio::test(start_paused = true)]
async fn a_recorder_that_panics_keeps_no_stream_from_its_end() {
    use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};

    struct Bad;
    impl Recorder for Bad {
        fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
            panic!("in a recorder")
        }
        fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
            Gauge::noop()
        }
        fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
            Histogram::noop()
        }
    }

    let _recorder = metrics::set_default_local_recorder(&Bad);
    let (server, mut closed) = server(Decide::Expire(Duration::from_secs(3600)), |builder| builder);
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    assert_eq!(closed.recv().await, Some(CloseReason::Expired));
}
