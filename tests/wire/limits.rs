//! Every limit holds, and says which it is.

use std::time::Duration;

use mcp_sub::{Limits, Subscriptions};
use mcp_sub_tests::{Act, Probe, Request, Server, Tell, ToolsChanged, eventually};
use serde_json::{Value, json};

const TOOLS: &str = r#"{"toolsListChanged":true}"#;

fn with(limits: Limits) -> (Subscriptions<Probe>, Server) {
    let subscriptions = Probe::serve(|builder| builder.limits(limits));
    let server = Server::start(subscriptions.http());
    (subscriptions, server)
}

/// Status, code, `data.limit`, and whether the id is there.
async fn refused(server: &Server, request: &Request) -> (u16, i64, Value, bool) {
    let mut response = server.send(request).await;
    let error = response.json().await;
    if response.status() == 503 {
        assert!(response.header("retry-after").is_some(), "when to come back: {error}");
    }
    let code = error["error"]["code"].as_i64().unwrap();
    (response.status(), code, error["error"]["data"]["limit"].clone(), error.get("id").is_some())
}

#[tokio::test]
async fn no_stream_at_all_may_be_the_limit() {
    let (subscriptions, server) = with(Limits::default().with_streams(0));
    assert_eq!(refused(&server, &Request::listen("1", TOOLS)).await, (503, -32603, json!("streams"), true));
    assert_eq!((subscriptions.open_streams(), subscriptions.handler().accepted()), (0, 0));
    assert_eq!(server.send(&Request::call("1", "server/discover", "")).await.status(), 200);
}

#[tokio::test]
async fn streams_above_the_limit_are_refused_and_every_end_makes_room() {
    let (subscriptions, server) = with(Limits::default().with_streams(2));
    let _first = server.listening("1", TOOLS).await;
    for round in 0..10 {
        let mut second = server.listening("2", TOOLS).await;
        let listen = Request::listen("3", TOOLS);
        assert_eq!(refused(&server, &listen).await, (503, -32603, json!("streams"), true));
        match round % 4 {
            0 => second.leave(),
            1 => second.reset(),
            2 => {
                subscriptions.publish(Tell::new("2", Act::Stop("room")));
                second.rest().await;
            }
            _ => {
                subscriptions.publish(Tell::new("2", Act::Panic));
                second.rest().await;
            }
        }
        eventually("there is room", || subscriptions.open_streams() == 1).await;
        let rejected = server.send(&listen.header("x-subscribe", "reject")).await;
        assert_eq!(rejected.status(), 401, "one that is rejected makes room at once");
    }
    assert_eq!(subscriptions.publish(ToolsChanged), 1);
}

/// Whoever has read the end of a stream finds its place: it is free before the end can be read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_place_is_free_when_its_stream_has_ended_a_hundred_times() {
    let limits = Limits::default().with_streams(2).with_streams_per_principal(2);
    let subscriptions = Probe::serve(|builder| builder.limits(limits).principal(|_| Some("anyone".into())));
    let server = Server::start(subscriptions.http());
    let mut first = server.listening("1", TOOLS).await;
    for round in 0..100 {
        let mut second = server.listening("2", TOOLS).await;
        let third = server.send(&Request::listen("3", TOOLS)).await;
        assert_eq!(third.status(), 503, "{round}");
        match round % 4 {
            0 => _ = subscriptions.publish(Tell::new("2", Act::Stop("room"))),
            1 => _ = subscriptions.publish(Tell::new("2", Act::TellAndFail("room"))),
            2 => _ = subscriptions.publish(Tell::new("2", Act::Panic)),
            _ => {
                // Both at once: each place is free.
                assert_eq!(subscriptions.end_all("anyone", "room"), 2);
                assert_eq!([first.told().await, second.told().await], ["result", "result"]);
                first = server.listening("1", TOOLS).await;
                continue;
            }
        }
        while !second.rest().await.is_empty() {}
    }
    assert_eq!(subscriptions.stats().refused, [("streams", 100)].into());
}

/// A client that leaves says so to its own end of the socket only: the server hears of it in a moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_place_is_free_once_its_client_has_left_a_hundred_times() {
    let (subscriptions, server) = with(Limits::default().with_streams(2));
    let _first = server.listening("1", TOOLS).await;
    for round in 0..100 {
        let second = server.listening("2", TOOLS).await;
        if round % 2 == 0 {
            second.leave();
        } else {
            second.reset();
        }
        eventually("there is room", || subscriptions.open_streams() == 1).await;
    }
    subscriptions.handler().closed(100).await;
}

#[tokio::test]
async fn a_subscribe_that_still_decides_counts() {
    let (subscriptions, server) = with(Limits::default().with_streams(1));
    let mut client = server.connect().await;
    client.write(&Request::listen("1", TOOLS).header("x-subscribe", "wait")).await;
    subscriptions.handler().waits().await;
    assert_eq!(refused(&server, &Request::listen("2", TOOLS)).await, (503, -32603, json!("streams"), true));
}

#[tokio::test]
async fn uris_are_limited_in_number_and_in_bytes() {
    let (_, server) = with(Limits::default().with_uris(3).with_uri_bytes(20));
    server.listening("1", r#"{"resourceSubscriptions":["a:1","a:2","a:3"]}"#).await;
    server.listening("1", r#"{"resourceSubscriptions":["a:34567890","a:34567891"]}"#).await;
    let many = Request::listen("1", r#"{"resourceSubscriptions":["a:1","a:2","a:3","a:4"]}"#);
    assert_eq!(refused(&server, &many).await, (400, -32602, json!("uris"), true));
    let long = Request::listen("1", r#"{"resourceSubscriptions":["a:34567890","a:345678901"]}"#);
    assert_eq!(refused(&server, &long).await, (400, -32602, json!("uri_bytes"), true));
}

#[tokio::test]
async fn the_limits_that_are_set_where_nothing_is_are_as_documented() {
    let (_, server) = with(Limits::default());
    let uris = |count: usize, length: usize| {
        let uris: Vec<String> = (0..count).map(|i| format!("a:{i:0>length$}")).collect();
        Request::listen("1", &format!(r#"{{"resourceSubscriptions":{}}}"#, json!(uris)))
    };
    assert_eq!(server.send(&uris(1000, 5)).await.status(), 200);
    assert_eq!(refused(&server, &uris(1001, 5)).await, (400, -32602, json!("uris"), true));
    assert_eq!(refused(&server, &uris(100, 700)).await, (400, -32602, json!("uri_bytes"), true));
    let id = |length: usize| Request::listen(&format!("\"{}\"", "x".repeat(length - 2)), TOOLS);
    assert_eq!(server.send(&id(8192)).await.status(), 200);
    assert_eq!(refused(&server, &id(8193)).await, (400, -32600, json!("id_bytes"), false));
}

/// The body would have them all: what is refused are the URIs.
#[tokio::test]
async fn a_hundred_thousand_uris_and_one_of_a_megabyte_are_refused() {
    let (subscriptions, server) = with(Limits::default().with_body(8 * 1024 * 1024));
    let many: Vec<String> = (0..100_000).map(|i| format!("a:{i}")).collect();
    let long = [format!("a:{}", "x".repeat(1024 * 1024))];
    for (uris, limit) in [(&many[..], "uris"), (&long, "uri_bytes")] {
        let listen = Request::listen("1", &format!(r#"{{"resourceSubscriptions":{}}}"#, json!(uris)));
        assert_eq!(refused(&server, &listen).await, (400, -32602, json!(limit), true));
    }
    assert_eq!(subscriptions.handler().accepted(), 0);
}

#[tokio::test]
async fn an_id_is_limited() {
    let (_, server) = with(Limits::default().with_id_bytes(5));
    for id in ["12345", r#""123""#] {
        server.listening(id, TOOLS).await;
    }
    for id in ["123456", r#""1234""#] {
        assert_eq!(
            refused(&server, &Request::listen(id, TOOLS)).await,
            (400, -32600, json!("id_bytes"), false)
        );
    }
}

#[tokio::test]
async fn a_body_is_limited() {
    let (_, server) = with(Limits::default().with_body(1000));
    let padded = |length: usize| {
        let request = Request::call("1", "server/discover", r#""pad":"""#);
        let missing = length - body_of(&request).len();
        request.replace(r#""pad":"""#, &format!(r#""pad":"{}""#, "x".repeat(missing)))
    };
    assert_eq!(server.send(&padded(1000)).await.status(), 200);
    assert_eq!(refused(&server, &padded(1001)).await, (413, -32600, json!("body"), false));
    // One that does not say how long it is.
    let chunked = padded(1001);
    let head = String::from_utf8(chunked.bytes()).unwrap();
    let body = body_of(&chunked);
    let chunked = Request::post(format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len()))
        .header("Transfer-Encoding", "chunked")
        .set("Mcp-Method", "server/discover");
    assert!(head.contains("Content-Length: 1001"));
    assert_eq!(refused(&server, &chunked.without_length()).await, (413, -32600, json!("body"), false));
}

fn body_of(request: &Request) -> String {
    let bytes = String::from_utf8(request.bytes()).unwrap();
    bytes.split_once("\r\n\r\n").unwrap().1.to_owned()
}

#[tokio::test]
async fn subscribe_has_a_limited_time() {
    let (subscriptions, server) = with(Limits::default().with_subscribe_timeout(Duration::from_millis(20)));
    let request = Request::listen("1", TOOLS).header("x-subscribe", "wait");
    assert_eq!(refused(&server, &request).await, (503, -32603, json!("subscribe_timeout"), true));
    assert_eq!(subscriptions.handler().dropped(), 1);
    eventually("its place is free", || subscriptions.open_streams() == 0).await;
    assert_eq!(subscriptions.publish(ToolsChanged), 0);
    assert_eq!((subscriptions.handler().accepted(), subscriptions.handler().closes()), (0, 0));
    server.listening("1", TOOLS).await;
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let limits = Limits::default().with_body_timeout(Duration::from_millis(50));
    let subscriptions = Probe::serve(|builder| builder.limits(limits));
    let server = Server::start(subscriptions.http());
    let request = Request::listen("1", r#"{"toolsListChanged":true}"#).bytes();
    let mut client = server.connect().await;
    client.write_bytes(&request[..request.len() - 10]).await;
    let mut refused = client.response().await;
    assert_eq!(refused.status(), 408);
    assert_eq!(refused.json().await["error"]["data"]["limit"], "body_timeout");
    assert_eq!(subscriptions.stats().refused["body_timeout"], 1);
}
