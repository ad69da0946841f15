//! Many streams over one HTTP/2 connection of `mcp_sub::serve`.

use std::time::Duration;

use axum::Router;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    body::Incoming,
    client::conn::http2::{Builder, SendRequest},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use mcp_sub::{CloseReason, Limits, SocketOptions, Subscriptions};
use mcp_sub_tests::{META, PATIENCE, Probe, Server, Stop, ToolsChanged, Updated, eventually, within};
use serde_json::{Value, json};
use tokio::{net::TcpStream, runtime::Handle, task::JoinHandle};

const TOOLS: &str = r#"{"toolsListChanged":true}"#;

/// How many requests at a time one connection has, as the documentation of `serve` says.
const STREAMS: usize = 200;

async fn serving(limits: Limits) -> (Subscriptions<Probe>, Server, Stop) {
    let subscriptions = Probe::serve(|builder| builder.limits(limits));
    let (server, stop) = Server::serving(Router::new(), &subscriptions, SocketOptions::default()).await;
    (subscriptions, server, stop)
}

/// One connection.
struct Connection {
    socket: std::net::TcpStream,
    requests: SendRequest<Full<Bytes>>,
    task: JoinHandle<hyper::Result<()>>,
}

impl Connection {
    /// `window` is what each stream may have on its way; the connection as a whole has enough.
    async fn open(server: &Server, window: u32) -> Self {
        let connected = TcpStream::connect(server.address()).await.unwrap().into_std().unwrap();
        connected.set_nodelay(true).unwrap();
        let socket = connected.try_clone().unwrap();
        let (requests, connection) = Builder::new(TokioExecutor::new())
            .initial_stream_window_size(window)
            .initial_connection_window_size(16 * 1024 * 1024)
            .handshake(TokioIo::new(TcpStream::from_std(connected).unwrap()))
            .await
            .unwrap();
        Self { socket, requests, task: tokio::spawn(connection) }
    }

    /// Opens a stream.
    async fn listen(&mut self, id: usize, filter: &str) -> Stream {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{{{META},"notifications":{filter}}}}}"#
        );
        let request = http::Request::post("http://127.0.0.1/mcp")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "subscriptions/listen")
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body)))
            .unwrap();
        let response = within("a response", self.requests.send_request(request)).await.unwrap();
        assert_eq!(response.status(), 200);
        Stream { body: response.into_body(), received: String::new() }
    }

    /// The same, up to its acknowledgement.
    async fn listening(&mut self, id: usize, filter: &str) -> Stream {
        let mut stream = self.listen(id, filter).await;
        let acknowledged = stream.message().await.expect("an acknowledgement");
        assert_eq!(acknowledged["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
        assert_eq!(acknowledged["params"]["notifications"], serde_json::from_str::<Value>(filter).unwrap());
        stream
    }

    /// The connection ends, in good order.
    async fn ended(self) {
        within("the connection ends", self.task).await.unwrap().unwrap();
    }
}

/// A response, read as far as a test asks for it. Dropping it resets its stream of HTTP/2.
struct Stream {
    body: Incoming,
    received: String,
}

impl Stream {
    /// The next message; `None` at the proper end.
    async fn message(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.received.find("\n\n") {
                let event: String = self.received.drain(..end + 2).collect();
                return Some(serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap());
            }
            let Some(frame) = within("the server writes", self.body.frame()).await else {
                assert_eq!(self.received, "", "the stream ends with a whole event");
                return None;
            };
            self.received.push_str(std::str::from_utf8(&frame.unwrap().into_data().unwrap()).unwrap());
        }
    }

    /// The next message, which has to be an update: of what.
    async fn updated(&mut self) -> String {
        let message = self.message().await.expect("one more message");
        message["params"]["uri"].as_str().unwrap_or_else(|| panic!("{message}")).to_owned()
    }
}

fn uri(number: usize) -> String {
    format!("a:{number}")
}

fn updates_of(uri: &str) -> String {
    format!(r#"{{"resourceSubscriptions":["{uri}"]}}"#)
}

#[tokio::test]
async fn each_of_many_streams_over_one_connection_hears_its_own() {
    let (subscriptions, server, stop) = serving(Limits::default().with_streams(STREAMS)).await;
    let mut connection = Connection::open(&server, 64 * 1024).await;
    let mut streams = Vec::new();
    for number in 0..STREAMS {
        streams.push(connection.listening(number, &updates_of(&uri(number))).await);
    }
    assert_eq!(subscriptions.open_streams(), STREAMS);
    for number in 0..STREAMS {
        assert_eq!(subscriptions.publish_for(uri(number), Updated(uri(number))), 1);
    }
    for (number, stream) in streams.iter_mut().enumerate() {
        assert_eq!(stream.updated().await, uri(number));
    }

    // A place is free, here and in the connection, as soon as its stream is cancelled.
    for round in 1..=3 {
        let number = 50 * round;
        drop(streams.remove(number));
        assert_eq!(
            subscriptions.handler().closed(round).await[round - 1],
            (number.to_string(), CloseReason::Disconnected)
        );
        streams.insert(number, connection.listening(number, &updates_of(&uri(number))).await);
    }
    assert_eq!(subscriptions.open_streams(), STREAMS);
    for number in 0..STREAMS {
        assert_eq!(subscriptions.publish_for(uri(number), Updated(uri(number))), 1);
    }
    for (number, stream) in streams.iter_mut().enumerate() {
        assert_eq!(stream.updated().await, uri(number), "the others are not harmed");
    }

    let shutdown = stop.ended().await;
    assert_eq!((shutdown.completed, shutdown.cut), (STREAMS, 0));
    for (number, stream) in streams.iter_mut().enumerate() {
        let result = stream.message().await.expect("the result");
        assert_eq!((&result["id"], &result["result"]["resultType"]), (&json!(number), &json!("complete")));
        assert_eq!(stream.message().await, None, "nothing comes after it");
    }
    connection.ended().await;
}

/// A request more than a connection takes waits for a place in it, and is not refused.
#[tokio::test]
async fn one_request_too_many_waits_until_another_is_over() {
    let (subscriptions, server, stop) = serving(Limits::default()).await;
    let mut connection = Connection::open(&server, 64 * 1024).await;
    let mut streams = Vec::new();
    for number in 0..STREAMS {
        streams.push(connection.listening(number, TOOLS).await);
    }
    let waiting = tokio::spawn(async move { connection.listening(STREAMS, TOOLS).await });
    // What the others are told later was there before.
    subscriptions.publish(ToolsChanged);
    for stream in &mut streams {
        assert_eq!(stream.message().await.unwrap()["method"], "notifications/tools/list_changed");
    }
    assert_eq!(subscriptions.handler().accepted(), STREAMS);
    assert!(!waiting.is_finished());
    streams.truncate(STREAMS - 1);
    let last = within("its turn", waiting).await.unwrap();
    drop((streams, last));
    assert_eq!(stop.ended().await.cut, 0);
}

#[tokio::test]
async fn a_stream_without_a_window_holds_back_only_itself() {
    let limits = Limits::default().with_write_timeout(Duration::from_secs(1));
    let (subscriptions, server, stop) = serving(limits).await;
    let mut connection = Connection::open(&server, 4 * 1024).await;
    let large = format!("a:{}", "x".repeat(10_000));
    let mut stalled = connection.listen(1, &updates_of(&large)).await;
    let mut reads = connection.listening(2, TOOLS).await;
    let closed = async {
        loop {
            subscriptions.publish_for(&large, Updated(large.clone()));
            subscriptions.publish(ToolsChanged);
            assert_eq!(reads.message().await.unwrap()["method"], "notifications/tools/list_changed");
            if subscriptions.handler().closes() == 1 {
                return;
            }
        }
    };
    within("it is given up", closed).await;
    assert_eq!(subscriptions.handler().closed(1).await[0], ("1".into(), CloseReason::Stalled));
    assert_eq!(subscriptions.open_streams(), 1);
    subscriptions.publish(ToolsChanged);
    assert_eq!(reads.message().await.unwrap()["method"], "notifications/tools/list_changed");

    // It comes back: what it had not taken, and why that is all.
    let mut last = Value::Null;
    while let Some(message) = stalled.message().await {
        last = message;
    }
    assert_eq!((&last["id"], &last["error"]["data"]["reason"]), (&json!(1), &json!("stalled")));
    drop(reads);
    assert_eq!(stop.ended().await.cut, 0);
}

/// hyper keeps a response that its client does not take, whether or not its subscription is over. It counts among the
/// requests of its connection, which bounds them, and ends with it.
#[tokio::test]
async fn what_is_left_untaken_of_streams_that_are_over_ends_with_their_connection() {
    // A window that takes nothing, and one that takes a part of the acknowledgement.
    for window in [0, 1024] {
        let limits = Limits::default().with_write_timeout(Duration::from_millis(100)).with_drain(PATIENCE);
        let (subscriptions, server, stop) = serving(limits).await;
        let large = format!("a:{}", "x".repeat(10_000));
        let tasks = || Handle::current().metrics().num_alive_tasks();
        let before = tasks();
        let mut connection = Connection::open(&server, window).await;
        let mut streams = Vec::new();
        for number in 0..20 {
            streams.push(connection.listen(number, &updates_of(&large)).await);
        }
        eventually("they are given up", || {
            subscriptions.publish_for(&large, Updated(large.clone()));
            subscriptions.handler().closes() == 20
        })
        .await;
        assert_eq!(subscriptions.open_streams(), 0, "their places are free");
        let held = tasks();
        streams.truncate(10);
        eventually("what is reset is gone", || tasks() <= held - 10).await;
        connection.socket.shutdown(std::net::Shutdown::Both).unwrap();
        drop((connection.requests, streams));
        // At most one more than before: the sweeper began with the first listen.
        eventually("all of it is gone", || tasks() <= before + 1).await;
        assert_eq!(stop.ended().await.cut, 0);
    }
}
