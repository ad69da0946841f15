//! Promise 5: `handle_close` runs exactly once for each subscription that `subscribe` accepted, with the reason.

use std::time::Duration;

use mcp_sub::{CloseReason, Limits, Subscriptions};
use mcp_sub_tests::{Act, Client, PATIENCE, Probe, Request, Server, Tell, ToolsChanged, Updated, eventually};

const TOOLS: &str = r#"{"toolsListChanged":true}"#;

/// Everything is over: as many closes as acceptances, and no stream left.
async fn settled(subscriptions: &Subscriptions<Probe>) {
    let probe = subscriptions.handler();
    eventually("all streams are gone", || subscriptions.open_streams() == 0).await;
    probe.closed(probe.accepted()).await;
    // What would run twice has its chance.
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert_eq!(probe.closes(), probe.accepted());
}

async fn reason(subscriptions: &Subscriptions<Probe>) -> CloseReason {
    let closed = subscriptions.handler().closed(1).await;
    settled(subscriptions).await;
    let [(id, reason)] = &closed[..] else { panic!("{closed:?}") };
    assert_eq!(id, "7");
    reason.clone()
}

#[tokio::test]
async fn promise_5_closed_when_the_client_leaves() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    server.listening("7", TOOLS).await.leave();
    assert_eq!(reason(&subscriptions).await, CloseReason::Disconnected);
}

#[tokio::test]
async fn promise_5_closed_when_the_client_resets_the_connection() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    server.listening("7", TOOLS).await.reset();
    assert_eq!(reason(&subscriptions).await, CloseReason::Disconnected);
}

#[tokio::test]
async fn promise_5_closed_when_a_method_stops_fails_or_panics() {
    for (act, expected) in [
        (Act::Stop("moved"), CloseReason::Stopped("moved".into())),
        (Act::TellAndFail("disk"), CloseReason::Failed("disk".into())),
        (Act::Panic, CloseReason::Panicked),
        (Act::PanicLater, CloseReason::Panicked),
    ] {
        let subscriptions = Probe::serve(|builder| builder);
        let server = Server::start(subscriptions.http());
        let mut stream = server.listening("7", TOOLS).await;
        subscriptions.handler().release.add_permits(1);
        subscriptions.publish(Tell::new("7", act));
        stream.rest().await;
        assert_eq!(reason(&subscriptions).await, expected);
    }
}

#[tokio::test]
async fn promise_5_closed_when_the_client_leaves_while_a_method_waits() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let stream = server.listening("7", TOOLS).await;
    subscriptions.publish(Tell::new("7", Act::Wait));
    subscriptions.handler().waits().await;
    stream.leave();
    assert_eq!(reason(&subscriptions).await, CloseReason::Disconnected);
    assert_eq!(subscriptions.handler().dropped(), 1);
}

#[tokio::test]
async fn promise_5_closed_by_a_shutdown() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut stream = server.listening("7", TOOLS).await;
    subscriptions.shutdown(PATIENCE).await;
    assert_eq!(subscriptions.handler().closes(), 1, "the shutdown waits for it");
    stream.rest().await;
    assert_eq!(reason(&subscriptions).await, CloseReason::Shutdown);
}

#[tokio::test]
async fn promise_5_closed_when_nothing_is_honoured() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    server.listening("7", "{}").await.rest().await;
    assert_eq!(reason(&subscriptions).await, CloseReason::Completed);
}

/// The client keeps its connection, and takes nothing.
#[tokio::test]
async fn promise_5_closed_when_the_client_stalls() {
    let limits = Limits::default().with_write_timeout(Duration::from_millis(50)).with_streams(1);
    let subscriptions = Probe::serve(|builder| builder.limits(limits));
    let server = Server::start_narrow(subscriptions.http());
    let client = Client::connect_narrow(server.address()).await;
    let uri = format!("a:{}", "x".repeat(10_000));
    let filter = format!(r#"{{"resourceSubscriptions":["{uri}"]}}"#);
    let stalled = client.send(&Request::listen("7", &filter)).await;
    eventually("the stream is given up", || {
        subscriptions.publish_for(&uri, Updated(uri.clone()));
        subscriptions.open_streams() == 0
    })
    .await;
    assert_eq!(reason(&subscriptions).await, CloseReason::Stalled);
    // Its place is free, although its connection is still there.
    let mut other = server.listening("8", TOOLS).await;
    subscriptions.publish(ToolsChanged);
    assert_eq!(other.told().await, "tools");
    drop(stalled);
}

#[tokio::test]
async fn promise_5_a_client_that_reads_slowly_but_reads_is_not_stalled() {
    let limits = Limits::default().with_write_timeout(Duration::from_secs(600));
    let subscriptions = Probe::serve(|builder| builder.limits(limits));
    let server = Server::start_narrow(subscriptions.http());
    let client = Client::connect_narrow(server.address()).await;
    let uri = format!("a:{}", "x".repeat(10_000));
    let mut stream =
        client.send(&Request::listen("7", &format!(r#"{{"resourceSubscriptions":["{uri}"]}}"#))).await;
    stream.acknowledged().await;
    for _ in 0..200 {
        subscriptions.publish_for(&uri, Updated(uri.clone()));
        assert_eq!(stream.told().await, uri);
    }
    assert_eq!(subscriptions.handler().closes(), 0);
}

#[tokio::test]
async fn promise_5_not_closed_when_subscribe_refuses_or_panics() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    for (told, status, code) in [("reject", 401, -32603), ("invalid", 400, -32602), ("panic", 500, -32603)] {
        let mut response = server.send(&Request::listen("7", TOOLS).header("x-subscribe", told)).await;
        let error = response.json().await;
        assert_eq!((response.status(), &error["error"]["code"]), (status, &code.into()), "{told}: {error}");
        assert_eq!(error["id"], 7);
        assert_eq!(response.header("www-authenticate").is_some(), told == "reject");
        assert!(!error.to_string().contains("as told"), "a panic's text stays here");
    }
    settled(&subscriptions).await;
    assert_eq!(subscriptions.handler().accepted(), 0);
    server.listening("8", TOOLS).await;
}

#[tokio::test]
async fn promise_5_not_closed_when_the_client_leaves_while_subscribe_waits() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    for (round, reset) in [(1, false), (2, true)] {
        let mut client = server.connect().await;
        client.write(&Request::listen("7", TOOLS).header("x-subscribe", "wait")).await;
        subscriptions.handler().waits().await;
        assert_eq!(subscriptions.open_streams(), 1);
        if reset {
            client.reset();
        } else {
            client.leave();
        }
        eventually("`subscribe` is dropped", || subscriptions.handler().dropped() == round).await;
        settled(&subscriptions).await;
    }
    assert_eq!(subscriptions.publish(ToolsChanged), 0, "nobody listens");
    assert_eq!(subscriptions.handler().accepted(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_5_many_rapid_openings_and_closings_leave_nothing_behind() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let publisher = {
        let subscriptions = subscriptions.clone();
        let start = std::time::Instant::now();
        std::thread::spawn(move || {
            while subscriptions.handler().accepted() < 200 && start.elapsed() < PATIENCE {
                subscriptions.publish(ToolsChanged);
                std::thread::yield_now();
            }
        })
    };
    for cycle in 0..500 {
        let mut client = server.connect().await;
        client.write(&Request::listen("7", TOOLS)).await;
        match cycle % 4 {
            0 => client.leave(),
            1 => client.reset(),
            2 => client.response().await.leave(),
            _ => {
                let mut stream = client.response().await;
                stream.acknowledged().await;
                stream.reset();
            }
        }
    }
    eventually("all requests were seen", || subscriptions.handler().accepted() >= 250).await;
    settled(&subscriptions).await;
    publisher.join().unwrap();
    assert_eq!(subscriptions.publish(ToolsChanged), 0);
}

#[tokio::test]
async fn promise_5_a_hundred_quiet_streams_end_without_an_event() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut streams = Vec::new();
    for _ in 0..100 {
        streams.push(server.listening("7", TOOLS).await);
    }
    assert_eq!(subscriptions.open_streams(), 100);
    for (index, stream) in streams.into_iter().enumerate() {
        if index % 2 == 0 { stream.leave() } else { stream.reset() }
    }
    subscriptions.handler().closed(100).await;
    settled(&subscriptions).await;
}

#[tokio::test]
async fn promise_5_open_streams_end_when_nobody_can_publish_any_more() {
    let subscriptions = Probe::serve(|builder| builder);
    let response = crate::in_process::listen(&subscriptions, TOOLS).await;
    drop(subscriptions);
    let body = mcp_sub_tests::within("the end", http_body_util::BodyExt::collect(response.into_body()))
        .await
        .unwrap();
    let text = String::from_utf8(body.to_bytes().to_vec()).unwrap();
    assert!(text.contains(r#""resultType":"complete""#), "{text}");
}

/// As over HTTP/2, with a client that opens no window.
#[tokio::test(start_paused = true)]
async fn promise_5_closed_when_not_even_the_acknowledgement_is_taken() {
    let limits = Limits::default().with_write_timeout(Duration::from_secs(10));
    let subscriptions = Probe::serve(|builder| builder.limits(limits));
    let response = crate::in_process::listen(&subscriptions, TOOLS).await;
    let start = tokio::time::Instant::now();
    assert_eq!(reason(&subscriptions).await, CloseReason::Stalled);
    assert!((10..14).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
    drop(response);
}
