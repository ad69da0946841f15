//! What is published, and what comes of it.

use super::*;

#[tokio::test]
async fn promise_1_what_is_published_before_the_acknowledgement_comes_after_it() {
    let cell = Arc::new(OnceLock::new());
    let (server, _) = server(Decide::PublishAndNarrow(cell.clone()), |builder| builder);
    cell.set(server.clone()).unwrap();
    let stream = open(&server).await;
    server.publish(Event::Saved("x:b"));
    assert_eq!(now(&stream).unwrap(), [ACK], "alone, and first");
    assert_eq!(now(&stream).unwrap(), ["x:a", "x:b"], "without what was narrowed away");
}

#[tokio::test]
async fn promise_2_what_was_not_asked_for_or_not_declared_is_never_written() {
    let (server, _) = server(Decide::Narrow, |builder| builder);
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    assert_eq!(server.publish(Event::Tools), 0);
    assert_eq!(server.publish(Event::Lie), 0);
    assert_eq!(server.publish_for("x:c", Event::Saved("x:c")), 0);
    assert_eq!(server.publish(Event::Saved("x:c")), 1, "without a URI it may concern whoever has one");
    assert!(now(&stream).unwrap().is_empty());
}

#[tokio::test]
async fn promise_2_a_handler_that_lies_is_not_believed() {
    let (server, _) = server(Decide::Accept, |builder| builder);
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    assert_eq!(server.publish(Event::Lie), 1);
    assert!(now(&stream).unwrap().is_empty());
}

#[tokio::test]
async fn promise_4_while_frames_are_untaken_no_event_is_taken_and_what_waits_merges() {
    let (server, _) = server(Decide::Accept, |builder| builder);
    let stream = open(&server).await;
    for _ in 0..100 {
        server.publish(Event::Tools);
        server.publish_for("x:b", Event::Saved("x:b"));
    }
    assert_eq!(server.handler().handled.load(Ordering::Relaxed), 0);
    assert_eq!(now(&stream).unwrap(), [ACK]);
    assert_eq!(now(&stream).unwrap(), [TOOLS, "x:b"]);
    assert_eq!(server.handler().handled.load(Ordering::Relaxed), 200);
    assert!(now(&stream).unwrap().is_empty());
}

#[tokio::test]
async fn promise_4_after_an_overflow_each_kind_and_uri_is_told_of_once_more() {
    let (server, _) = server(Decide::Accept, |builder| builder.limits(Limits::default().with_slot(1)));
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    server.publish(Event::Tools);
    for _ in 0..1_000 {
        server.publish_for("x:b", Event::Saved("x:b"));
        server.publish_for("x:none", Event::Saved("x:none"));
    }
    assert_eq!(now(&stream).unwrap(), [TOOLS, "x:b"]);
    assert_eq!(server.handler().handled.load(Ordering::Relaxed), 1, "the catch-up passes by the methods");
    server.publish_for("x:a", Event::Saved("x:a"));
    assert_eq!(now(&stream).unwrap(), ["x:a"]);
}

#[tokio::test]
async fn an_event_wakes_the_transport() {
    let (server, _) = server(Decide::Accept, |builder| builder);
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    let publisher = server.clone();
    let (frames, ()) = tokio::join!(next(&stream), async move {
        publisher.publish(Event::Tools);
    });
    assert_eq!(frames.unwrap(), [TOOLS]);
}
