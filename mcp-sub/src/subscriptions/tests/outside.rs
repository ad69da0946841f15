//! Streams that are ended from outside: stalled ones, and those of a server that shuts down.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_stream_whose_frames_nobody_takes_ends_from_outside() {
    let (server, mut closed) = server(Decide::Accept, |builder| builder);
    let (stalled, idle, busy) = (open(&server).await, open(&server).await, open(&server).await);
    for stream in [&stalled, &idle, &busy] {
        assert_eq!(now(stream).unwrap(), [ACK]);
    }
    // Not stalled: one that the transport waits for, and one whose method takes its time.
    assert!(now(&idle).unwrap().is_empty());
    assert!(now(&busy).unwrap().is_empty());
    server.publish(Event::Hang);
    assert!(now(&idle).unwrap().is_empty());
    assert!(now(&busy).unwrap().is_empty());
    server.publish(Event::Tools);

    assert_eq!(closed.recv().await, Some(CloseReason::Stalled));
    assert_eq!(server.open_streams(), 2);
    assert_eq!(now(&stalled).unwrap(), ["stalled"], "the client still finds out, if it comes back");
    assert_eq!(now(&stalled), None);
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert!(closed.try_recv().is_err());
}

#[test]
fn what_is_stalled_is_found_on_whatever_runtime_is_left() {
    let limits = Limits::default().with_write_timeout(Duration::from_millis(40));
    let (server, mut closed) = server(Decide::Accept, |builder| builder.limits(limits));
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let first = runtime();
    drop(first.block_on(open(&server)));
    drop(first);
    _ = closed.try_recv();
    runtime().block_on(async {
        let _stalled = open(&server).await;
        assert_eq!(closed.recv().await, Some(CloseReason::Stalled));
    });
}

#[tokio::test(start_paused = true)]
async fn promise_8_a_shutdown_gives_results_and_cuts_who_does_not_take_them() {
    let (server, mut closed) = server(Decide::Accept, |builder| builder);
    let hanging = open(&server).await;
    assert_eq!(now(&hanging).unwrap(), [ACK]);
    server.publish(Event::Hang);
    assert!(now(&hanging).unwrap().is_empty());
    let (reading, stuck) = (open(&server).await, open(&server).await);
    server.publish(Event::Tools);

    let reader = async {
        assert_eq!(next(&reading).await.unwrap(), [ACK]);
        assert_eq!(next(&reading).await.unwrap(), [TOOLS, "complete"]);
        assert_eq!(next(&reading).await, None);
        drop(reading);
    };
    let began = tokio::time::Instant::now();
    let (shutdown, ()) = tokio::join!(server.shutdown(Duration::from_secs(10)), reader);
    assert!(began.elapsed() <= Duration::from_secs(10));
    assert_eq!((shutdown.completed, shutdown.cut), (1, 2));
    for _ in 0..3 {
        assert_eq!(closed.recv().await, Some(CloseReason::Shutdown));
    }
    assert!(closed.try_recv().is_err());
    let Err(rejection) = open_with(&server, Probe::DECLARED).await else { panic!("admitted") };
    assert_eq!(rejection.status(), 503);
    assert_eq!(server.shutdown(Duration::from_secs(10)).await, shutdown, "again is no error");
    assert_eq!(now(&hanging).unwrap(), ["complete"], "who comes back still finds it");
    drop((stuck, hanging));
}

#[tokio::test]
async fn a_stream_that_opens_while_the_server_shuts_down_gets_its_result() {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (server, mut closed) = server(Decide::Wait(begun.clone(), go_on.clone()), |builder| builder);
    let opening = async {
        let stream = open(&server).await;
        assert_eq!(next(&stream).await.unwrap(), [ACK]);
        assert_eq!(next(&stream).await.unwrap(), ["complete"]);
    };
    let shutdown = async {
        begun.notified().await;
        let shutdown = server.shutdown(Duration::from_secs(60));
        go_on.notify_one();
        shutdown.await
    };
    let ((), shutdown) = tokio::join!(opening, shutdown);
    assert_eq!((shutdown.completed, shutdown.cut), (1, 0));
    assert_eq!(closed.recv().await, Some(CloseReason::Shutdown));
}

#[tokio::test(start_paused = true)]
async fn what_decides_after_the_budget_is_cut_and_counted() {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (server, mut closed) = server(Decide::Wait(begun.clone(), go_on.clone()), |builder| builder);
    let mut opening = Box::pin(open_with(&server, Probe::DECLARED));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(opening.as_mut().poll(&mut cx).is_pending());
    go_on.notify_one();
    // Nobody polls it while the budget runs out.
    let shutdown = server.shutdown(Duration::from_secs(1)).await;
    assert_eq!((shutdown.completed, shutdown.cut), (0, 0));
    let Ok(stream) = opening.await else { panic!("it had decided") };
    assert_eq!(server.open_streams(), 0, "it never ran");
    assert_eq!(now(&stream).unwrap(), [ACK, "complete"]);
    assert_eq!(closed.recv().await, Some(CloseReason::Shutdown));
    drop(stream);
    assert_eq!(server.shutdown(Duration::from_secs(1)).await.cut, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_8_a_shutdown_waits_for_the_method_that_it_cuts() {
    let (server, mut closed) = server(Decide::Accept, |builder| builder);
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    let (release, go_on) = std_mpsc::channel();
    let waker = Waker::from(Arc::new(Hook(move || _ = release.send(()), || {})));
    assert!(stream.poll_frames(&mut Context::from_waker(&waker)).is_pending());
    server.publish(Event::Block(Mutex::new(go_on)));
    // The publish released it once; the cut will do so again.
    server.publish(Event::Hang);
    let holder = std::thread::spawn(move || {
        drop(stream.poll_frames(&mut Context::from_waker(&waker)));
        stream
    });
    server.shutdown(Duration::from_secs(2)).await;
    assert_eq!(closed.try_recv(), Ok(CloseReason::Shutdown), "it is closed when the shutdown returns");
    assert_eq!(now(&holder.join().unwrap()).unwrap(), ["complete"]);
}
