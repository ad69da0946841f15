//! Promise 8: a shutdown is complete, bounded and can be repeated.

use std::{
    future::IntoFuture as _,
    time::{Duration, Instant},
};

use axum::serve::ListenerExt as _;
use mcp_sub::{CloseReason, SocketOptions};
use mcp_sub_tests::{
    Act, Client, PATIENCE, Probe, Request, Server, Tell, ToolsChanged, Updated, eventually, within,
};
use serde_json::json;
use tokio::sync::Semaphore;

const TOOLS: &str = r#"{"toolsListChanged":true}"#;

#[tokio::test]
async fn promise_8_every_stream_gets_its_result_and_new_ones_are_refused() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut streams = Vec::new();
    for _ in 0..20 {
        streams.push(server.listening("1", TOOLS).await);
    }
    let start = Instant::now();
    let shutdown = subscriptions.shutdown(PATIENCE).await;
    assert_eq!((shutdown.completed, shutdown.cut), (20, 0));
    assert!(start.elapsed() < PATIENCE / 2, "it does not wait for its budget");
    assert_eq!((subscriptions.open_streams(), subscriptions.handler().closes()), (0, 20));
    for stream in &mut streams {
        assert_eq!(stream.told().await, "result");
        assert!(stream.rest().await.is_empty());
    }

    let mut refused = server.send(&Request::listen("2", TOOLS)).await;
    assert_eq!((refused.status(), refused.header("retry-after")), (503, Some("5")));
    let error = refused.json().await;
    assert_eq!(error["id"], 2);
    assert_eq!(error["error"]["code"], -32603);
    assert_eq!(error["error"]["data"], json!({"limit": "shutdown"}));

    let again = subscriptions.shutdown(PATIENCE).await;
    assert_eq!(again, shutdown, "it can be repeated");
    assert_eq!(subscriptions.handler().closes(), 20);
}

#[tokio::test]
async fn promise_8_what_does_not_take_its_result_is_cut_inside_the_budget() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start_narrow(subscriptions.http());
    let uri = format!("a:{}", "x".repeat(10_000));
    let filter = format!(r#"{{"resourceSubscriptions":["{uri}"]}}"#);
    let stalled = Client::connect_narrow(server.address()).await.send(&Request::listen("1", &filter)).await;
    let mut reading = server.listening("2", TOOLS).await;
    // Far more than all buffers between here and there hold.
    for _ in 0..2_000 {
        subscriptions.publish_for(&uri, Updated(uri.clone()));
        tokio::task::yield_now().await;
    }
    let budget = Duration::from_millis(300);
    let start = Instant::now();
    let shutdown = subscriptions.shutdown(budget).await;
    assert!(start.elapsed() < PATIENCE / 2, "the budget is kept");
    assert_eq!((shutdown.completed, shutdown.cut), (1, 1));
    assert_eq!(reading.told().await, "result");
    let closed = subscriptions.handler().closed(2).await;
    assert!(closed.iter().all(|(_, reason)| *reason == CloseReason::Shutdown), "{closed:?}");
    assert_eq!(subscriptions.open_streams(), 0);
    assert_eq!(subscriptions.shutdown(budget).await, shutdown);
    drop(stalled);
}

#[tokio::test]
async fn promise_8_a_stream_that_opens_meanwhile_gets_its_acknowledgement_and_its_result() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut client = server.connect().await;
    client.write(&Request::listen("1", TOOLS).header("x-subscribe", "wait")).await;
    subscriptions.handler().waits().await;
    let shutdown = tokio::spawn({
        let subscriptions = subscriptions.clone();
        async move { subscriptions.shutdown(PATIENCE).await }
    });
    // It has begun: another one is refused.
    assert_eq!(server.send(&Request::listen("2", TOOLS)).await.status(), 503);
    subscriptions.handler().release.add_permits(1);
    let mut stream = client.response().await;
    stream.acknowledged().await;
    assert_eq!(stream.told().await, "result");
    assert!(stream.rest().await.is_empty());
    let shutdown = shutdown.await.unwrap();
    assert_eq!((shutdown.completed, shutdown.cut), (1, 0));
    assert_eq!(subscriptions.handler().closed(1).await[0].1, CloseReason::Shutdown);
}

#[tokio::test]
async fn promise_8_a_subscribe_that_does_not_decide_in_time_is_refused() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut client = server.connect().await;
    client.write(&Request::listen("1", TOOLS).header("x-subscribe", "wait")).await;
    subscriptions.handler().waits().await;
    let shutdown = subscriptions.shutdown(Duration::from_millis(50)).await;
    assert_eq!((shutdown.completed, shutdown.cut), (0, 0));
    let mut refused = client.response().await;
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.json().await["error"]["data"], json!({"limit": "shutdown"}));
    assert_eq!((subscriptions.handler().dropped(), subscriptions.handler().accepted()), (1, 0));
}

#[tokio::test]
async fn promise_8_a_method_that_never_returns_is_dropped_at_the_end_of_the_budget() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut stream = server.listening("1", TOOLS).await;
    subscriptions.publish(Tell::new("1", Act::Wait));
    subscriptions.handler().waits().await;
    let shutdown = subscriptions.shutdown(Duration::from_millis(50)).await;
    assert_eq!((shutdown.completed, shutdown.cut), (0, 1));
    assert_eq!(subscriptions.handler().dropped(), 1);
    assert_eq!(subscriptions.handler().closed(1).await[0].1, CloseReason::Shutdown);
    assert_eq!(stream.told().await, "result", "it is still there to be taken");
    assert!(stream.rest().await.is_empty());
}

/// The shortest budget says: now. Each stream is closed all the same.
#[tokio::test]
async fn promise_8_without_any_budget_each_subscription_is_still_closed() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut streams = [server.listening("1", TOOLS).await, server.listening("2", TOOLS).await];
    subscriptions.shutdown(Duration::ZERO).await;
    for stream in &mut streams {
        assert_eq!(stream.told().await, "result");
    }
    subscriptions.handler().closed(2).await;
}

#[tokio::test]
async fn promise_8_a_budget_without_end_is_one() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let stream = server.listening("1", TOOLS).await;
    let shutdown = within("the shutdown", subscriptions.shutdown(Duration::MAX)).await;
    assert_eq!(shutdown.completed, 1);
    drop(stream);
}

#[tokio::test]
async fn promise_8_a_handle_close_that_does_not_return_does_not_hold_it_up() {
    let mut probe = Probe::default();
    probe.close_gate = Some(Semaphore::new(0));
    let subscriptions = probe.served(|builder| builder);
    let server = Server::start(subscriptions.http());
    let _stream = server.listening("1", TOOLS).await;
    let shutdown = subscriptions.shutdown(Duration::from_millis(50)).await;
    assert_eq!((shutdown.completed, shutdown.cut), (1, 0));
    subscriptions.handler().waits().await;
    assert_eq!(subscriptions.handler().closes(), 0);
}

/// An HTTP server that waits for its open responses ends, once the streams have.
#[tokio::test]
async fn promise_8_the_http_server_ends_after_the_streams() {
    let subscriptions = Probe::serve(|builder| builder);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = axum::Router::new().route_service("/mcp", subscriptions.http());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = axum::serve(listener, app).with_graceful_shutdown(async { _ = stopped.await });
    let serving = tokio::spawn(serving.into_future());
    let mut stream = Client::connect(address).await.send(&Request::listen("1", TOOLS)).await;
    stream.acknowledged().await;
    assert_eq!(subscriptions.shutdown(PATIENCE).await.completed, 1);
    drop(stop);
    within("the server ends", serving).await.unwrap().unwrap();
    assert_eq!(stream.told().await, "result");
    assert!(stream.rest().await.is_empty(), "the body has its proper end");
}

/// As the documentation says it: the same for who serves with axum alone, as long as clients read.
#[tokio::test]
async fn promise_8_with_axum_alone_it_ends_when_its_signal_ends_the_streams() {
    let subscriptions = Probe::serve(|builder| builder);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let options = SocketOptions::default();
    let listener = listener.tap_io(move |socket| options.apply(socket).unwrap());
    let app = axum::Router::new().route_service("/mcp", subscriptions.http());
    let (signal, signalled) = tokio::sync::oneshot::channel::<()>();
    let stop = {
        let subscriptions = subscriptions.clone();
        async move {
            _ = signalled.await;
            subscriptions.shutdown(PATIENCE).await;
        }
    };
    let serving = tokio::spawn(axum::serve(listener, app).with_graceful_shutdown(stop).into_future());
    let mut streams = Vec::new();
    for _ in 0..20 {
        let mut stream = Client::connect(address).await.send(&Request::listen("1", TOOLS)).await;
        stream.acknowledged().await;
        streams.push(stream);
    }
    let start = Instant::now();
    drop(signal);
    within("the server ends", serving).await.unwrap().unwrap();
    assert!(start.elapsed() < PATIENCE / 2, "it does not wait for its budget");
    for mut stream in streams {
        assert_eq!(stream.told().await, "result");
        assert!(stream.rest().await.is_empty(), "the body has its proper end");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_8_under_load_each_stream_gets_exactly_one_result() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut readers = Vec::new();
    for _ in 0..50 {
        let mut stream = server.listening("1", TOOLS).await;
        readers.push(tokio::spawn(async move {
            let rest = stream.rest().await;
            let results = rest.iter().filter(|frame| frame["result"].is_object()).count();
            assert!(rest.last().is_some_and(|frame| frame["result"].is_object()), "the result is the last");
            results
        }));
    }
    let start = Instant::now();
    let publisher = std::thread::spawn({
        let subscriptions = subscriptions.clone();
        move || {
            while subscriptions.open_streams() > 0 && start.elapsed() < PATIENCE {
                subscriptions.publish(ToolsChanged);
            }
        }
    });
    tokio::task::yield_now().await;
    let shutdown = subscriptions.shutdown(PATIENCE).await;
    assert_eq!((shutdown.completed, shutdown.cut), (50, 0));
    for reader in readers {
        assert_eq!(reader.await.unwrap(), 1);
    }
    publisher.join().unwrap();
    eventually("nothing is left", || subscriptions.open_streams() == 0).await;
}

/// Nothing can drop a method that holds its thread. Its subscription is closed when it returns, however late; what it
/// does then, the client is not told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_8_what_outlives_the_shutdown_is_still_closed() {
    for act in [Act::Block, Act::BlockThenPanic] {
        let subscriptions = Probe::serve(|builder| builder);
        let server = Server::start(subscriptions.http());
        let mut stream = server.listening("1", TOOLS).await;
        subscriptions.publish(Tell::new("1", act));
        subscriptions.handler().waits().await;
        let shutdown = subscriptions.shutdown(Duration::from_millis(20)).await;
        assert_eq!((shutdown.completed, shutdown.cut), (0, 1));
        assert_eq!(subscriptions.handler().closes(), 0);
        subscriptions.handler().release.add_permits(1);
        assert_eq!(subscriptions.handler().closed(1).await.len(), 1);
        assert_eq!(stream.told().await, "result");
        assert!(stream.rest().await.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn promise_8_one_that_is_called_while_another_waits_takes_no_longer() {
    let limits = mcp_sub::Limits::default().with_write_timeout(Duration::from_secs(1));
    let subscriptions = Probe::serve(|builder| builder.limits(limits));
    // A transport that has its response, and never looks at the body. Its subscription is closed; it is still there.
    let _response = crate::in_process::listen(&subscriptions, TOOLS).await;
    assert_eq!(subscriptions.handler().closed(1).await[0].1, CloseReason::Stalled);
    let start = tokio::time::Instant::now();
    let (long, short) = tokio::join!(
        subscriptions.shutdown(Duration::from_secs(3600)),
        subscriptions.shutdown(Duration::from_secs(10))
    );
    assert_eq!(long, short);
    assert_eq!((long.completed, long.cut), (0, 1));
    assert!(start.elapsed() < Duration::from_secs(11), "{:?}", start.elapsed());
}

/// Never answers.
#[derive(Clone)]
struct Silent;

impl<B> tower_service::Service<http::Request<B>> for Silent {
    type Response = http::Response<axum::body::Body>;
    type Error = std::convert::Infallible;
    type Future = std::future::Pending<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Self::Error>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Request<B>) -> Self::Future {
        std::future::pending()
    }
}

#[tokio::test]
async fn promise_8_a_listen_that_waits_for_the_inner_server_is_refused_in_time() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.layer(Silent));
    let mut client = server.connect().await;
    client.write(&Request::listen("1", r#"{"toolsListChanged":true}"#)).await;
    mcp_sub_tests::eventually("it is admitted", || subscriptions.open_streams() == 1).await;
    subscriptions.shutdown(Duration::from_millis(200)).await;
    let mut refused = client.response().await;
    assert_eq!((refused.status(), subscriptions.open_streams()), (503, 0));
    assert_eq!(refused.json().await["error"]["data"]["limit"], "shutdown");
}
