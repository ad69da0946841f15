//! `mcp_sub::serve` ends on time, and owns its connections.

use std::{
    future::pending,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Router, body::Body, routing::get};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use mcp_sub::{CloseReason, Limits, Shutdown, SocketOptions, Subscriptions};
use mcp_sub_tests::{
    Client, PATIENCE, Probe, Request, Response, Server, Stop, ToolsChanged, Updated, alone, eventually,
    within,
};
use serde_json::json;
use tokio::{io::AsyncReadExt as _, net::TcpStream, sync::Semaphore};

const TOOLS: &str = r#"{"toolsListChanged":true}"#;

/// Far beyond what anything here takes, and far below what a test waits for.
const SOON: Duration = Duration::from_secs(10);

fn probe(drain: Duration) -> Subscriptions<Probe> {
    Probe::serve(|builder| builder.limits(Limits::default().with_drain(drain)))
}

async fn serving(subscriptions: &Subscriptions<Probe>) -> (Server, Stop) {
    Server::serving(Router::new(), subscriptions, SocketOptions::default()).await
}

fn counts(shutdown: Shutdown) -> (usize, usize) {
    (shutdown.completed, shutdown.cut)
}

/// The rest of a stream that ends as it should: how many results there are in it.
async fn results(mut stream: Response) -> usize {
    let rest = stream.rest().await;
    assert!(rest.last().is_some_and(|frame| frame["result"].is_object()), "the result is the last: {rest:?}");
    rest.iter().filter(|frame| frame["result"].is_object()).count()
}

/// Connected, and served: the listener has nothing to do with it any more.
async fn begun(server: &Server) -> Client {
    server.send(&Request::call("0", "server/discover", "")).await.into_client().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_ends_in_time_whatever_a_thousand_clients_do() {
    let more_files = r#"ulimit -n 4096 || ulimit -n "$(ulimit -H -n)" || exit 77; exec "$@""#;
    if !alone("serve::it_ends_in_time_whatever_a_thousand_clients_do", more_files) {
        return;
    }
    let drain = Duration::from_secs(2);
    let subscriptions = probe(drain);
    let (server, stop) = serving(&subscriptions).await;

    let mut readers = Vec::new();
    for _ in 0..930 {
        readers.push(server.listening("1", TOOLS).await);
    }
    let uri = format!("a:{}", "x".repeat(10_000));
    let filter = format!(r#"{{"resourceSubscriptions":["{uri}"]}}"#);
    let mut stalled = Vec::new();
    for _ in 0..49 {
        let client = Client::connect_narrow(server.address()).await;
        stalled.push(client.send(&Request::listen("2", &filter)).await);
    }
    // One that reads: what it has read, the others could have read as well. More than all buffers hold.
    let mut pace = server.listening("3", &filter).await;
    for _ in 0..100 {
        subscriptions.publish_for(&uri, Updated(uri.clone()));
        assert_eq!(pace.told().await, uri);
    }
    let mut deciding = Vec::new();
    for _ in 0..20 {
        let mut client = server.connect().await;
        client.write(&Request::listen("4", TOOLS).header("x-subscribe", "wait")).await;
        subscriptions.handler().waits().await;
        deciding.push(client);
    }
    assert_eq!(subscriptions.open_streams(), 1000);
    let listen = Request::listen("5", TOOLS).bytes();
    let mut silent = Vec::new();
    for sent in [0, 0, 0, 1, 20, 100, listen.len() - 1] {
        let mut client = server.connect().await;
        client.write_bytes(&listen[..sent]).await;
        silent.push(client);
    }
    for _ in 0..5 {
        silent.push(begun(&server).await);
    }

    let readers: Vec<_> = readers.into_iter().map(|stream| tokio::spawn(results(stream))).collect();
    let start = Instant::now();
    let shutdown = stop.ended().await;
    let took = start.elapsed();
    assert!(took < drain + SOON, "{took:?}");
    assert_eq!(counts(shutdown), (931, 49), "those that read, and those that do not");
    assert_eq!(subscriptions.handler().dropped(), 20, "those that were not decided are neither");
    assert_eq!(subscriptions.open_streams(), 0);
    let closed = subscriptions.handler().closed(980).await;
    assert!(closed.iter().all(|(_, reason)| *reason == CloseReason::Shutdown));
    for reader in readers {
        assert_eq!(within("a reader has its result", reader).await.unwrap(), 1);
    }
    assert_eq!(results(pace).await, 1);
    for client in deciding {
        assert_eq!(client.response().await.json().await["error"]["data"], json!({"limit": "shutdown"}));
    }
    for stream in stalled {
        stream.closed().await;
    }
    for client in silent {
        client.closed().await;
    }
    println!("a thousand streams: it took {took:?}");
}

#[tokio::test]
async fn it_does_not_wait_for_its_budget() {
    let subscriptions = probe(PATIENCE * 10);
    let (server, stop) = serving(&subscriptions).await;
    let stream = server.listening("1", TOOLS).await;
    let (idle, silent) = (begun(&server).await, server.connect().await);
    let start = Instant::now();
    assert_eq!(counts(stop.ended().await), (1, 0));
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    assert_eq!(results(stream).await, 1);
    idle.closed().await;
    silent.closed().await;
}

#[tokio::test]
async fn a_listen_during_the_shutdown_is_refused() {
    let subscriptions = probe(PATIENCE);
    let (server, mut stop) = serving(&subscriptions).await;
    let mut opening = server.connect().await;
    opening.write(&Request::listen("1", TOOLS).header("x-subscribe", "wait")).await;
    subscriptions.handler().waits().await;
    // The connection is begun, and the request is under way.
    let mut late = begun(&server).await;
    let listen = Request::listen("2", TOOLS).bytes();
    let (first, last) = listen.split_at(listen.len() - 1);
    late.write_bytes(first).await;
    // It is read when what came later is.
    begun(&server).await;

    stop.signal();
    within("connections are refused", async {
        while TcpStream::connect(server.address()).await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    late.write_bytes(last).await;
    let mut refused = late.response().await;
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.json().await["error"]["data"], json!({"limit": "shutdown"}));

    // The one that was opening then opens, and ends at once.
    subscriptions.handler().release.add_permits(1);
    let mut stream = opening.response().await;
    stream.acknowledged().await;
    assert_eq!(results(stream).await, 1);
    assert_eq!(counts(stop.ended().await), (1, 0));
}

/// Whatever the moment is: a whole stream, a refusal, or no answer at all, and never a part of a stream.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_opens_while_the_signal_comes_is_whole_or_none() {
    let (mut whole, mut none) = (0, 0);
    for round in 0..10_u64 {
        let subscriptions = probe(PATIENCE);
        let (server, mut stop) = serving(&subscriptions).await;
        let mut clients = Vec::new();
        for _ in 0..20 {
            clients.push(server.connect().await);
        }
        let opening: Vec<_> = clients
            .into_iter()
            .map(|mut client| {
                tokio::spawn(async move {
                    if client.try_write(&Request::listen("1", TOOLS)).await.is_err() {
                        return false;
                    }
                    let Some(mut response) = client.answered().await else { return false };
                    if response.status() == 503 {
                        assert_eq!(response.json().await["error"]["data"], json!({"limit": "shutdown"}));
                        return false;
                    }
                    response.acknowledged().await;
                    assert_eq!(results(response).await, 1);
                    true
                })
            })
            .collect();
        eventually("some have come", || subscriptions.handler().accepted() as u64 >= round).await;
        stop.signal();
        let mut completed = 0;
        for client in opening {
            completed += usize::from(client.await.unwrap());
        }
        assert_eq!(counts(stop.ended().await), (completed, 0));
        whole += completed;
        none += 20 - completed;
    }
    println!("{whole} whole, {none} none");
}

#[tokio::test]
async fn requests_under_way_are_answered_and_what_does_not_end_is_cut() {
    let subscriptions = probe(Duration::from_millis(500));
    let gate = Arc::new(Semaphore::new(0));
    let entered = Arc::new(Semaphore::new(0));
    let (at_gate, has_entered) = (gate.clone(), entered.clone());
    let app = Router::new()
        .route(
            "/slow",
            get(async move |request: axum::extract::Request| {
                has_entered.add_permits(1);
                at_gate.acquire().await.unwrap().forget();
                request.extensions().get::<SocketAddr>().unwrap().ip().to_string()
            }),
        )
        .route("/never", get(async || pending::<String>().await))
        .route("/endless", get(async || Body::new(Endless)))
        .route("/panic", get(async || -> String { panic!("as told, in a service") }));
    let (server, mut stop) = Server::serving(app, &subscriptions, SocketOptions::default()).await;
    let request = |target: &str| Request::post("").method("GET").target(target);
    let mut slow = server.connect().await;
    slow.write(&request("/slow")).await;
    within("it is there", entered.acquire()).await.unwrap().forget();
    let mut never = server.connect().await;
    never.write(&request("/never")).await;
    let endless = server.send(&request("/endless")).await;
    let mut panics = server.connect().await;
    panics.write(&request("/panic")).await;
    assert!(panics.answered().await.is_none());

    let start = Instant::now();
    stop.signal();
    gate.add_permits(1);
    assert_eq!(slow.response().await.bytes().await, b"127.0.0.1");
    assert_eq!(counts(stop.ended().await), (0, 0));
    assert!(start.elapsed() < SOON);
    never.closed().await;
    endless.closed().await;
}

/// A body that begins, and never ends.
struct Endless;

impl http_body::Body for Endless {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        std::task::Poll::Pending
    }
}

#[tokio::test]
async fn dropping_it_ends_all_connections() {
    let subscriptions = probe(PATIENCE);
    let (server, stop) = serving(&subscriptions).await;
    let stream = server.listening("1", TOOLS).await;
    let mut deciding = server.connect().await;
    deciding.write(&Request::listen("2", TOOLS).header("x-subscribe", "wait")).await;
    subscriptions.handler().waits().await;
    let (idle, silent) = (begun(&server).await, server.connect().await);
    drop(server);
    stream.closed().await;
    deciding.closed().await;
    idle.closed().await;
    silent.closed().await;
    assert_eq!(subscriptions.handler().closed(1).await[0].1, CloseReason::Disconnected);
    eventually("`subscribe` is dropped", || subscriptions.handler().dropped() == 1).await;
    assert_eq!(subscriptions.open_streams(), 0);
    drop(stop);
}

#[tokio::test]
async fn it_goes_on_when_no_file_descriptor_is_left() {
    let few_files = r#"ulimit -n 64 || exit 77; exec "$@""#;
    if !alone("serve::it_goes_on_when_no_file_descriptor_is_left", few_files) {
        return;
    }
    let subscriptions = probe(PATIENCE);
    let (server, stop) = serving(&subscriptions).await;
    let mut stream = server.listening("1", TOOLS).await;
    // The server, on the same thread, sees them when there is nothing left to accept them with.
    let mut crowd = Vec::new();
    while let Ok(socket) = std::net::TcpStream::connect(server.address()) {
        crowd.push(socket);
    }
    assert!(crowd.len() > 10);
    subscriptions.publish(ToolsChanged);
    assert_eq!(stream.told().await, "tools");
    drop(crowd);
    let other = server.listening("2", TOOLS).await;
    assert_eq!(counts(stop.ended().await), (2, 0));
    assert_eq!([results(stream).await, results(other).await], [1, 1]);
}

/// The clock jumps to the next timer when nothing else happens.
#[tokio::test(start_paused = true)]
async fn a_connection_that_does_not_get_to_a_request_is_closed() {
    let subscriptions = probe(PATIENCE);
    let (server, _stop) = serving(&subscriptions).await;
    let listen = Request::call("1", "server/discover", "").bytes();
    for sent in [0, 1, 30, listen.len()] {
        let start = tokio::time::Instant::now();
        let mut socket = TcpStream::connect(server.address()).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut socket, &listen[..sent]).await.unwrap();
        let mut received = Vec::new();
        let _ = socket.read_to_end(&mut received).await;
        assert!((70..160).contains(&start.elapsed().as_secs()), "{sent}: {:?}", start.elapsed());
        assert_eq!(received.is_empty(), sent < listen.len(), "{sent}");
    }
}

#[tokio::test]
async fn over_http2_requests_end_with_their_connection() {
    for (drops, expected) in [(false, CloseReason::Shutdown), (true, CloseReason::Disconnected)] {
        let subscriptions = probe(Duration::from_millis(500));
        let (server, stop) = serving(&subscriptions).await;
        let socket = TcpStream::connect(server.address()).await.unwrap();
        let (mut client, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(socket)).await.unwrap();
        let connection = tokio::spawn(connection);
        let mut listen = |told: &str| {
            let body = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{{{},"notifications":{TOOLS}}}}}"#,
                mcp_sub_tests::META
            );
            let request = http::Request::post("http://127.0.0.1/mcp")
                .header("mcp-protocol-version", "2026-07-28")
                .header("mcp-method", "subscriptions/listen")
                .header("content-type", "application/json")
                .header("x-subscribe", told);
            tokio::spawn(client.send_request(request.body(Full::new(Bytes::from(body))).unwrap()))
        };
        let stream = within("a response", listen("")).await.unwrap().unwrap().into_body();
        let deciding = listen("wait");
        subscriptions.handler().waits().await;
        if drops {
            drop(server);
        } else {
            assert_eq!(counts(stop.ended().await), (1, 0));
        }
        let stream = within("the end", stream.collect()).await;
        assert_eq!(stream.is_err(), drops, "a stream that is not over is no whole one");
        if let Ok(stream) = stream {
            let text = String::from_utf8(stream.to_bytes().to_vec()).unwrap();
            assert_eq!(text.matches(r#""resultType":"complete""#).count(), 1, "{text}");
        }
        let deciding = within("an answer", deciding).await.unwrap();
        assert_eq!(deciding.map(|response| response.status().as_u16()).ok(), (!drops).then_some(503));
        assert_eq!(subscriptions.handler().closed(1).await[0].1, expected);
        eventually("`subscribe` is dropped", || subscriptions.handler().dropped() == 1).await;
        let _ = within("the connection ends", connection).await.unwrap();
    }
}
