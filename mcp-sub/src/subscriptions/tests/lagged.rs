//! `handle_lagged`.

use super::*;

/// A stream of a slot for one event that was published four, and that is told of the rest in this way.
async fn lagging(lag: Lag) -> (Subscriptions<Probe>, Closed, EventStream) {
    let (server, closed) = server(Decide::Lag(lag), |builder| builder.limits(Limits::default().with_slot(1)));
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    assert_eq!(server.publish(Event::Tools), 1);
    assert_eq!(server.publish_for("x:b", Event::Saved("x:b")), 1);
    assert_eq!(server.publish_for("x:none", Event::Saved("x:none")), 0);
    assert_eq!(server.publish_for("x:b", Event::Saved("x:b")), 1);
    (server, closed, stream)
}

#[tokio::test]
async fn promise_4_it_is_called_once_instead_of_the_catch_up_with_what_was_missed() {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = calls.clone();
    let lag = move |tools, uris: Vec<&str>, channel: &mut Channel<'_, AnyNotification>| {
        seen.lock().unwrap().push((tools, uris.join(" ")));
        channel.resources_updated("x:a");
        channel.resources_updated("x:never-asked");
        Flow::Continue
    };
    let (server, _closed, stream) = lagging(Box::new(lag)).await;
    assert_eq!(now(&stream).unwrap(), [TOOLS, "x:a"], "what it sends, and nothing else");
    assert_eq!(*calls.lock().unwrap(), [(false, "x:b".to_owned())]);
    assert_eq!(server.handler().handled.load(Ordering::Relaxed), 1, "instead of the methods");
    server.publish_for("x:b", Event::Saved("x:b"));
    assert_eq!(now(&stream).unwrap(), ["x:b"], "after it events are taken in again");
    assert_eq!(calls.lock().unwrap().len(), 1);
    for event in [Event::Saved("x:a"), Event::Tools, Event::Saved("x:a")] {
        server.publish(event);
    }
    assert_eq!(now(&stream).unwrap(), ["x:a"]);
    assert_eq!(calls.lock().unwrap()[1], (true, "x:a x:b".to_owned()), "without a URI it can be each");
}

#[tokio::test]
async fn promise_5_its_flow_is_obeyed_and_its_panic_ends_its_stream_alone() {
    for (flow, last, reason) in [
        (Some(Flow::stop("too slow")), "complete", CloseReason::Stopped("too slow".into())),
        (Some(Flow::fail("cannot")), "handler_failed", CloseReason::Failed("cannot".into())),
        (None, "panicked", CloseReason::Panicked),
    ] {
        let lag = move |_, _: Vec<&str>, channel: &mut Channel<'_, AnyNotification>| {
            channel.resources_updated("x:a");
            flow.clone().expect("as told")
        };
        let (server, mut closed, stream) = lagging(Box::new(lag)).await;
        let other = open(&server).await;
        assert_eq!(now(&stream).unwrap(), [TOOLS, "x:a", last]);
        assert_eq!(now(&stream), None);
        assert_eq!(closed.recv().await, Some(reason));
        assert_eq!(server.open_streams(), 1);
        assert_eq!(now(&other).unwrap(), [ACK]);
        server.publish(Event::Tools);
        assert_eq!(now(&other).unwrap(), [TOOLS]);
    }
}
