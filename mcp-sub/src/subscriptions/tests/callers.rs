//! What depends on who asks: how many streams, for how long, and who may end them.

use super::*;
use crate::SubscriptionHandle;

fn alice_and_bob() -> (Subscriptions<Probe>, Closed) {
    server(Decide::Accept, |builder| {
        builder
            .principal(|caller| caller.extension::<&'static str>().map(ToString::to_string))
            .limits(Limits::default().with_streams_per_principal(2))
    })
}

async fn open_as(server: &Subscriptions<Probe>, name: &'static str) -> Result<EventStream, Rejection> {
    let caller = named(name);
    let admission = server.admit(&caller)?;
    open_listen(server, admission, Listen { caller, ..listen() }).await
}

fn named(name: &'static str) -> Caller {
    let mut extensions = Extensions::new();
    extensions.insert(name);
    Caller::new(HeaderMap::new(), extensions, serde_json::Map::new())
}

#[tokio::test]
async fn one_principal_at_its_limit_takes_no_room_from_another() {
    let (server, _closed) = alice_and_bob();
    let first = open_as(&server, "alice").await.unwrap_or_else(|rejection| panic!("{rejection}"));
    let _second = open_as(&server, "alice").await.unwrap_or_else(|rejection| panic!("{rejection}"));
    for _ in 0..100 {
        let Err(rejection) = open_as(&server, "alice").await else { panic!("admitted") };
        assert_eq!((rejection.status().as_u16(), rejection.code()), (429, -32603));
        assert_eq!(rejection.data().unwrap()["limit"], "streams_per_principal");
        assert_eq!(rejection.headers()["retry-after"], "5");
    }
    assert!(open_as(&server, "bob").await.is_ok());
    let unknown = [open(&server).await, open(&server).await, open(&server).await];
    assert_eq!(server.open_streams(), 5, "who is nobody is not limited as somebody");
    drop((first, unknown));
    for _ in 0..100 {
        drop(open_as(&server, "alice").await.unwrap_or_else(|rejection| panic!("{rejection}")));
    }
    assert_eq!(server.open_streams(), 1);
}

#[tokio::test]
async fn a_limit_of_zero_refuses_all() {
    for (limits, status) in
        [(Limits::default().with_streams(0), 503), (Limits::default().with_streams_per_principal(0), 429)]
    {
        let (server, _closed) = server(Decide::Accept, |builder| {
            builder.principal(|_| Some(String::from("anyone"))).limits(limits)
        });
        let Err(rejection) = open_with(&server, Probe::DECLARED).await else { panic!("admitted") };
        assert_eq!(rejection.status(), status);
    }
}

#[tokio::test]
async fn all_of_one_principal_end_and_no_other() {
    let (server, mut closed) = alice_and_bob();
    let streams = [
        open_as(&server, "alice").await.unwrap_or_else(|rejection| panic!("{rejection}")),
        open_as(&server, "bob").await.unwrap_or_else(|rejection| panic!("{rejection}")),
        open_as(&server, "alice").await.unwrap_or_else(|rejection| panic!("{rejection}")),
    ];
    server.publish(Event::Tools);
    assert_eq!(server.end_all("alice", "revoked"), 2);
    assert_eq!(server.end_all("carol", "revoked"), 0);
    server.publish(Event::Saved("x:a"));
    for stream in [&streams[0], &streams[2]] {
        assert_eq!(now(stream).unwrap(), [ACK]);
        assert_eq!(now(stream).unwrap(), [TOOLS, "complete"], "what was published before is told");
        assert_eq!(closed.recv().await, Some(CloseReason::Stopped("revoked".into())));
    }
    assert_eq!(now(&streams[1]).unwrap(), [ACK]);
    assert_eq!(now(&streams[1]).unwrap(), [TOOLS, "x:a"]);
    assert_eq!(server.open_streams(), 1);
}

#[tokio::test]
async fn who_is_still_deciding_is_ended_as_well() {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (server, mut closed) = server(Decide::Wait(begun.clone(), go_on.clone()), |builder| {
        builder.principal(|_| Some(String::from("alice")))
    });
    let ended = async {
        begun.notified().await;
        assert_eq!(server.end_all("alice", "revoked"), 1);
        go_on.notify_one();
    };
    let (stream, ()) = tokio::join!(open(&server), ended);
    assert_eq!(now(&stream).unwrap(), [ACK]);
    assert_eq!(now(&stream).unwrap(), ["complete"]);
    assert_eq!(closed.recv().await, Some(CloseReason::Stopped("revoked".into())));
}

/// Opens a stream whose handle is given away.
async fn open_with_handle() -> (Subscriptions<Probe>, Closed, SubscriptionHandle, EventStream) {
    let (give, mut handles) = mpsc::unbounded_channel();
    let (server, closed) = server(Decide::Give(give), |builder| builder);
    let stream = open(&server).await;
    let handle = handles.recv().await.unwrap();
    (server, closed, handle, stream)
}

#[tokio::test]
async fn promise_5_a_handle_ends_its_stream_once_and_tells_why() {
    let (server, mut closed, handle, stream) = open_with_handle().await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    server.publish(Event::Tools);
    handle.end("moved");
    handle.clone().end("again");
    assert_eq!(server.publish(Event::Tools), 1, "it is offered, and not taken in");
    assert_eq!(now(&stream).unwrap(), [TOOLS, "complete"]);
    assert_eq!(now(&stream), None);
    let reason = CloseReason::Stopped("moved".into());
    assert_eq!(closed.recv().await.as_ref(), Some(&reason));
    assert_eq!(handle.closed().await.as_ref(), Some(&reason));
    assert_eq!(server.open_streams(), 0);
    handle.end("after the end");
    assert_eq!(server.publish(Event::Tools), 0);
    drop((stream, server));
    assert_eq!(closed.recv().await, None);
    assert_eq!(handle.closed().await, Some(reason), "as often as one likes");
}

/// At the very moment when it is woken.
#[tokio::test]
async fn whoever_hears_of_an_end_finds_room() {
    let (server, _closed, handle, stream) = open_with_handle().await;
    let open = Arc::new(AtomicUsize::new(usize::MAX));
    let look = {
        let (server, open) = (server.clone(), open.clone());
        move || open.store(server.open_streams(), Ordering::SeqCst)
    };
    let waker = Waker::from(Arc::new(Hook(look, || ())));
    let mut closed = std::pin::pin!(handle.closed());
    assert!(closed.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(stream);
    assert_eq!(open.load(Ordering::SeqCst), 0);
    assert_eq!(server.stats().closed, [("disconnected", 1)].into());
}

#[tokio::test]
async fn a_handle_tells_of_every_ending() {
    let (_server, _closed, handle, stream) = open_with_handle().await;
    let (reason, ()) = tokio::join!(handle.closed(), async { drop(stream) });
    assert_eq!(reason, Some(CloseReason::Disconnected));

    let (give, mut handles) = mpsc::unbounded_channel();
    let (server, _closed) = server(Decide::GiveAndReject(give), |builder| builder);
    assert!(open_with(&server, Probe::DECLARED).await.is_err());
    assert_eq!(handles.recv().await.unwrap().closed().await, None, "it never opened");
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_when_its_time_is_over_even_if_nobody_polls_it() {
    let minute = Duration::from_secs(60);
    let (server, mut closed) =
        server(Decide::Expire(minute), |builder| builder.limits(Limits::default().with_lifetime(minute * 2)));
    let began = tokio::time::Instant::now();
    let (stuck, polled) = (open(&server).await, open(&server).await);
    assert_eq!(now(&polled).unwrap(), [ACK]);
    assert_eq!(next(&polled).await.unwrap(), ["expired"]);
    assert_eq!(began.elapsed(), minute, "the earlier of the two, to the moment");
    for _ in 0..2 {
        assert_eq!(closed.recv().await, Some(CloseReason::Expired));
    }
    assert_eq!(server.open_streams(), 0, "there is room at once");
    assert_eq!(now(&stuck).unwrap(), [ACK, "expired"]);
}

#[tokio::test(start_paused = true)]
async fn a_lifetime_ends_whom_nothing_else_does() {
    let hour = Duration::from_secs(3600);
    let limits = Limits::default().with_lifetime(hour);
    let (server, mut closed) = server(Decide::Accept, |builder| builder.limits(limits));
    let stream = open(&server).await;
    let began = tokio::time::Instant::now();
    assert_eq!(now(&stream).unwrap(), [ACK]);
    assert_eq!(next(&stream).await.unwrap(), ["expired"]);
    assert_eq!((began.elapsed(), closed.recv().await), (hour, Some(CloseReason::Expired)));
}

#[tokio::test(start_paused = true)]
async fn a_time_that_is_over_already_leaves_the_acknowledgement() {
    let (server, mut closed) = server(Decide::Expire(Duration::ZERO), |builder| builder);
    let stream = open(&server).await;
    assert_eq!(server.publish(Event::Tools), 0, "it has ended before anything was told");
    assert_eq!(closed.recv().await, Some(CloseReason::Expired));
    assert_eq!(now(&stream).unwrap(), [ACK, "expired"]);
}

#[tokio::test]
async fn the_request_is_gone_when_subscribe_returns() {
    let (server, _closed) = server(Decide::Accept, |builder| builder);
    let held = Arc::new(());
    let mut extensions = Extensions::new();
    extensions.insert(held.clone());
    let caller = Caller::new(HeaderMap::new(), extensions, serde_json::Map::new());
    let admission = server.admit(&caller).unwrap_or_else(|rejection| panic!("{rejection}"));
    let opened = open_listen(&server, admission, Listen { caller, ..listen() }).await;
    assert!(opened.is_ok());
    assert_eq!(Arc::strong_count(&held), 1);
}

#[tokio::test]
async fn a_panic_in_a_users_function_refuses_one_listen_and_takes_no_room() {
    let (server, _closed) = server(Decide::Accept, |builder| {
        builder.principal(|caller| match caller.extension::<&'static str>() {
            Some(_) => panic!("in principal"),
            None => None,
        })
    });
    let Err(rejection) = open_as(&server, "alice").await else { panic!("admitted") };
    assert_eq!((rejection.status().as_u16(), server.open_streams()), (500, 0));
    assert_eq!(now(&open(&server).await).unwrap(), [ACK]);
}

#[tokio::test]
async fn servers_with_one_hub_hear_of_the_same() {
    let hub = crate::Hub::new();
    let (one, _closed_one) = server(Decide::Accept, |builder| builder.with_hub(hub.clone()));
    let (other, _closed_other) = server(Decide::Accept, |builder| builder.with_hub(hub.clone()));
    let streams = [open(&one).await, open(&other).await];
    assert_eq!(one.publish(Event::Tools), 2);
    for stream in &streams {
        assert_eq!(now(stream).unwrap(), [ACK]);
        assert_eq!(now(stream).unwrap(), [TOOLS]);
    }
    assert_eq!((one.open_streams(), other.open_streams()), (1, 1), "all else is each server's own");
    one.shutdown(Duration::from_secs(1)).await;
    assert_eq!(hub.publish(Event::Tools), 1);
    assert_eq!(now(&streams[1]).unwrap(), [TOOLS]);
    assert!(other.capabilities(&caller()).is_ok_and(|told| told.kinds == Probe::DECLARED));
    assert!(Kinds::ALL.contains(Probe::DECLARED));
}
