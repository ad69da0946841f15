//! Wakers are foreign code.

use super::*;

#[tokio::test]
async fn wakers_are_foreign_code_and_run_outside_of_every_lock() {
    let (server, _) = server(Decide::Accept, |builder| builder);
    let stream = Arc::new(open(&server).await);
    assert_eq!(now(&stream).unwrap(), [ACK]);
    for _ in 0..4 {
        let (on_wake, on_drop) = (server.clone(), (server.clone(), stream.clone()));
        let touch_all = move || {
            on_drop.0.publish(Event::Tools);
            assert_eq!(on_drop.0.open_streams(), 1);
            on_drop.1.note_sent();
        };
        let hook = Hook(move || _ = on_wake.publish_for("x:a", Event::Saved("x:a")), touch_all);
        let waker = Waker::from(Arc::new(hook));
        drop(stream.poll_frames(&mut Context::from_waker(&waker)));
        drop(stream.poll_frames(&mut Context::from_waker(&waker)));
    }
    server.publish(Event::Tools);
    assert!(now(&stream).unwrap().contains(&TOOLS.to_owned()));
}

#[tokio::test]
async fn promise_6_a_waker_that_panics_keeps_nobody_asleep() {
    let (server, _) = server(Decide::Accept, |builder| builder);
    let (first, second) = (open(&server).await, open(&server).await);
    let woken = Arc::new(AtomicUsize::new(0));
    for stream in [&first, &second] {
        assert_eq!(now(stream).unwrap(), [ACK]);
        let woken = woken.clone();
        let panics = move || panic!("waker {}", woken.fetch_add(1, Ordering::Relaxed));
        let waker = Waker::from(Arc::new(Hook(panics, || {})));
        assert!(stream.poll_frames(&mut Context::from_waker(&waker)).is_pending());
    }
    assert_eq!(server.publish(Event::Tools), 2);
    assert_eq!(woken.load(Ordering::Relaxed), 2);
}
