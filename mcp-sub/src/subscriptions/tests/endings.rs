//! How a stream begins, or does not, and ends.

use super::*;

#[tokio::test]
async fn promise_5_and_7_each_ending_is_told_once_to_both_sides() {
    for (event, last, reason) in [
        (Event::Stop, "complete", CloseReason::Stopped("enough".into())),
        (Event::Fail, "handler_failed", CloseReason::Failed("it broke".into())),
        (Event::Panic, "panicked", CloseReason::Panicked),
    ] {
        let (server, mut closed) = server(Decide::Accept, |builder| builder);
        let (stream, other) = (open(&server).await, open(&server).await);
        assert_eq!(now(&stream).unwrap(), [ACK]);
        server.publish(Event::Tools);
        server.publish(event);
        server.publish(Event::Tools);
        assert_eq!(now(&stream).unwrap(), [TOOLS, last], "what was sent before goes out before");
        assert_eq!(closed.recv().await, Some(reason));
        assert_eq!(server.open_streams(), 1, "there is room at once");
        assert_eq!(now(&stream), None);
        assert_eq!(now(&stream), None);
        drop(stream);
        assert_eq!(now(&other).unwrap(), [ACK]);
        drop(other);
        assert_eq!(closed.recv().await, Some(CloseReason::Disconnected));
        assert!(closed.try_recv().is_err());
    }
}

#[tokio::test]
async fn promise_5_a_client_that_goes_away_ends_a_method_at_its_await() {
    let (server, mut closed) = server(Decide::Accept, |builder| builder);
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    server.publish(Event::Hang);
    assert!(now(&stream).unwrap().is_empty());
    drop(stream);
    assert_eq!(server.open_streams(), 0);
    assert_eq!(closed.recv().await, Some(CloseReason::Disconnected));
}

#[tokio::test]
async fn promise_5_what_subscribe_does_not_accept_is_never_closed() {
    for decide in [Decide::Reject, Decide::Panic] {
        let panics = matches!(decide, Decide::Panic);
        let (server, mut closed) = server(decide, |builder| builder);
        let Err(rejection) = open_with(&server, Probe::DECLARED).await else { panic!("accepted") };
        assert_eq!(rejection.code(), if panics { -32603 } else { -32602 });
        assert_eq!(server.open_streams(), 0);
        assert_eq!(server.publish(Event::Tools), 0, "its slot is gone");
        drop(server);
        assert_eq!(closed.recv().await, None);
    }
}

#[tokio::test]
async fn a_stream_that_honours_nothing_is_completed_at_once_or_held() {
    let (server, mut closed) = server(Decide::Accept, |builder| builder);
    let stream = open_with(&server, Kinds::NONE).await.unwrap_or_else(|rejection| panic!("{rejection}"));
    assert_eq!(next(&stream).await.unwrap(), [ACK]);
    assert_eq!(next(&stream).await.unwrap(), ["complete"]);
    assert_eq!(next(&stream).await, None);
    assert_eq!(closed.recv().await, Some(CloseReason::Completed));
    assert_eq!(server.open_streams(), 0);

    let (server, _) = self::server(Decide::Accept, |builder| builder.hold_empty(true));
    let stream = open_with(&server, Kinds::NONE).await.unwrap_or_else(|rejection| panic!("{rejection}"));
    assert_eq!(now(&stream).unwrap(), [ACK]);
    assert!(now(&stream).unwrap().is_empty());
    assert_eq!(server.open_streams(), 1);
}

#[tokio::test]
async fn the_limit_of_streams_is_named_and_room_is_there_when_one_ends() {
    let (server, _) = server(Decide::Accept, |builder| builder.limits(Limits::default().with_streams(1)));
    let stream = open(&server).await;
    let Err(rejection) = open_with(&server, Probe::DECLARED).await else { panic!("admitted") };
    assert_eq!(rejection.status(), 503);
    assert!(rejection.message().contains("limit of 1 open"), "{rejection}");
    drop(stream);
    open(&server).await;
}

#[tokio::test(start_paused = true)]
async fn a_subscribe_that_does_not_decide_is_given_up() {
    let (begun, never) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (server, _) = server(Decide::Wait(begun, never), |builder| builder);
    let Err(rejection) = open_with(&server, Probe::DECLARED).await else { panic!("decided") };
    assert_eq!(rejection.status(), 503);
    assert_eq!(server.open_streams(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_subscribe_that_panics_as_it_is_given_up_is_a_refusal_like_others() {
    let (server, _) = server(Decide::Bomb, |builder| builder);
    let Err(rejection) = open_with(&server, Probe::DECLARED).await else { panic!("decided") };
    assert_eq!(rejection.status(), 503);
    assert_eq!(server.open_streams(), 0);
}

#[tokio::test]
async fn when_nobody_can_publish_any_more_streams_get_their_result() {
    let (server, mut closed) = server(Decide::Accept, |builder| builder);
    let stream = open(&server).await;
    drop(server);
    assert_eq!(next(&stream).await.unwrap(), [ACK]);
    assert_eq!(next(&stream).await.unwrap(), ["complete"]);
    assert_eq!(closed.recv().await, Some(CloseReason::Shutdown));
}

#[tokio::test]
async fn promise_6_an_event_that_panics_when_it_is_dropped_costs_no_ending() {
    let (server, mut closed) = server(Decide::Accept, |builder| builder);
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    server.publish(Event::Bomb(Bomb));
    server.publish(Event::Bomb(Bomb));
    // The stream is the last to hold them, and goes before it has taken them.
    drop(stream);
    assert_eq!(closed.recv().await, Some(CloseReason::Disconnected));
    assert_eq!(server.open_streams(), 0);
    assert_eq!(now(&open(&server).await).unwrap(), [ACK]);
}
