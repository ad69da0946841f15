//! Over a server that exists: a listen is ours, the rest is the inner server's, to the byte.

use axum::body::Body;
use http::Response;
use mcp_sub::{Limits, Subscriptions};
use mcp_sub_tests::{
    Hostile, Probe, PromptsChanged, Request, Server, ToolsChanged, Updated, Whatever, within,
};
use serde_json::{Value, json};

use crate::inner::{ALL, Inner, OnlyWhenReady, answer_to, chunks, json_response, over};

fn discover() -> Request {
    Request::call("7", "server/discover", "")
}

async fn discovered(server: &Server) -> Value {
    let mut response = server.send(&discover()).await;
    assert_eq!(response.status(), 200);
    let answer = response.json().await;
    assert_eq!(answer["id"], 7);
    answer["result"].clone()
}

#[tokio::test]
async fn a_listen_never_reaches_the_inner_server() {
    let inner = Inner::advertising(&json!({"tools": {}, "prompts": {}, "resources": {}}));
    let (subscriptions, server) = over(&inner);
    let mut stream = server.listen("1", ALL).await;
    assert_eq!(stream.acknowledged().await, serde_json::from_str::<Value>(ALL).unwrap());
    subscriptions.publish(ToolsChanged);
    subscriptions.publish_for("a:1", Updated("a:1".into()));
    assert_eq!([stream.told().await, stream.told().await], ["tools", "a:1"]);
    assert_eq!(inner.called(), ["server/discover"], "it is asked what it carries, and nothing else");
}

#[tokio::test]
async fn a_family_that_the_inner_server_lacks_is_neither_added_nor_honoured() {
    for listen_first in [true, false] {
        let inner =
            Inner::advertising(&json!({"tools": {"listChanged": false}, "logging": {}, "prompts": null}));
        let (subscriptions, server) = over(&inner);
        if !listen_first {
            discovered(&server).await;
        }
        let mut stream = server.listen("1", ALL).await;
        assert_eq!(stream.acknowledged().await, json!({"toolsListChanged": true}));
        let mut empty = server.listen("2", r#"{"promptsListChanged":true}"#).await;
        assert_eq!(empty.acknowledged().await, json!({}));
        assert_eq!(empty.told().await, "result");
        assert_eq!(subscriptions.publish(PromptsChanged), 0);
        subscriptions.publish(ToolsChanged);
        assert_eq!(stream.told().await, "tools");
        let capabilities = discovered(&server).await["capabilities"].take();
        assert_eq!(capabilities, json!({"tools": {"listChanged": true}, "logging": {}, "prompts": null}));
    }
}

#[tokio::test]
async fn the_flags_are_ours_and_all_else_of_the_answer_stays() {
    let result = json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28", "2025-11-25"],
        "capabilities": {
            "tools": {"x": 1},
            "prompts": {"listChanged": true},
            "resources": {"listChanged": true, "subscribe": false},
            "logging": {},
            "extensions": {"com.example/x": {}}},
        "instructions": "inner's",
        "ttlMs": 900_000,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "inner", "version": "2"}}});
    let mut expected = result.clone();
    expected["capabilities"]["tools"]["listChanged"] = json!(true);
    expected["capabilities"]["prompts"] = json!({});
    expected["capabilities"]["resources"] = json!({"subscribe": true});
    expected["ttlMs"] = json!(300_000);
    for events in [false, true] {
        let result = result.clone();
        let inner = Inner::new(move |seen| {
            let answer = answer_to(seen, &result);
            let mut response = if events {
                let body =
                    format!(": hello\n\nid: 0\nretry: 3000\ndata:\n\nevent: message\ndata: {answer}\n\n");
                Response::builder()
                    .header("content-type", "text/event-stream")
                    .body(Body::from(body))
                    .unwrap()
            } else {
                json_response(&answer)
            };
            response.headers_mut().insert("x-inner", "kept".parse().unwrap());
            response
        });
        let subscriptions =
            Subscriptions::builder(Hostile).server_info("ours", "1").instructions("ours").build();
        let server = Server::start(subscriptions.layer(inner.clone()));
        let mut response =
            server.send(&discover().header("Accept-Encoding", "gzip").header("X-Caller", "c")).await;
        assert_eq!(response.header("x-inner"), Some("kept"));
        assert_eq!(response.header("content-encoding"), None);
        assert_eq!(response.json().await, json!({"jsonrpc": "2.0", "id": 7, "result": expected}));
        let [seen] = &inner.seen()[..] else { panic!("once") };
        assert!(!seen.headers.contains_key("accept-encoding"), "the answer has to be readable");
        assert_eq!(seen.headers["x-caller"], "c");

        let mut stream = server.listen("1", ALL).await;
        assert_eq!(
            stream.acknowledged().await,
            json!({"toolsListChanged": true, "resourceSubscriptions": ["a:1"]}),
            "promise 3, over an inner server"
        );
        subscriptions.publish(Whatever(vec!["a:1"]));
        assert_eq!([stream.told().await, stream.told().await], ["a:1", "tools"]);
    }
}

/// It may answer each caller differently, whatever it said to another one.
#[tokio::test]
async fn the_inner_server_is_asked_in_the_name_of_each_caller() {
    let inner = Inner::new(|seen| {
        let capabilities = match seen.headers.get("authorization") {
            Some(_) => json!({"tools": {}}),
            None => return Response::builder().status(401).body("no".into()).unwrap(),
        };
        let result = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": capabilities, "ttlMs": 60_000, "cacheScope": "public"});
        json_response(&answer_to(seen, &result))
    });
    let (_, server) = over(&inner);
    let known =
        || Request::listen("1", ALL).header("Authorization", "Bearer x").header("Accept-Encoding", "br");
    let mut stream = server.send(&known()).await;
    assert_eq!(stream.acknowledged().await, json!({"toolsListChanged": true}));
    assert_eq!(server.send(&Request::listen("1", ALL)).await.status(), 401);
    assert_eq!(server.send(&known()).await.status(), 200);
    let seen = inner.seen();
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[0].headers["authorization"], "Bearer x");
    assert_eq!(seen[0].headers["mcp-method"], "server/discover");
    assert!(!seen[0].headers.contains_key("accept-encoding"));
}

/// Its body is another one than that of the listen, and it is of no session.
#[tokio::test]
async fn what_describes_the_listen_alone_is_not_said_to_the_inner_server() {
    let inner = Inner::advertising(&json!({"tools": {}}));
    let (_, server) = over(&inner);
    let of_the_listen = [
        ("Content-Digest", "sha-256=:AAAA:"),
        ("Repr-Digest", "sha-256=:AAAA:"),
        ("Mcp-Name", "x"),
        ("Mcp-Session-Id", "x"),
        ("Last-Event-ID", "5"),
    ];
    let listen = Request::listen("1", ALL).header("Cookie", "a=b");
    let listen = of_the_listen.iter().fold(listen, |listen, (name, value)| listen.header(name, value));
    server.send(&listen).await.acknowledged().await;
    let [seen] = &inner.seen()[..] else { panic!("once") };
    for (name, _) in of_the_listen {
        assert!(!seen.headers.contains_key(name), "{name}: {seen:?}");
    }
    assert!(!seen.headers.contains_key("content-length"));
    assert_eq!(seen.headers["cookie"], "a=b");
}

#[tokio::test]
async fn an_answer_about_which_there_is_nothing_to_say_stays_as_it_is() {
    let body = r#"{"jsonrpc" : "2.0", "id":7, "error":{"code":-32000,"message":"inner"}}"#;
    let inner = Inner::new(move |_| {
        let response = Response::builder().header("content-type", "application/json").header("etag", "\"e\"");
        response
            .header("content-digest", "sha-256=:AAAA:")
            .header("content-length", body.len())
            .body(body.into())
            .unwrap()
    });
    let (_, server) = over(&inner);
    let mut response = server.send(&discover()).await;
    assert_eq!(response.header("etag"), Some("\"e\""));
    assert_eq!(response.header("content-digest"), Some("sha-256=:AAAA:"));
    assert_eq!(response.bytes().await, body.as_bytes());
}

#[tokio::test]
async fn an_inner_server_that_knows_no_discover_leaves_all_that_is_declared() {
    let inner = Inner::new(|seen| {
        let request: Value = serde_json::from_slice(&seen.body).unwrap();
        let error = json!({"code": -32601, "message": "method not found"});
        json_response(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
    });
    let (_, server) = over(&inner);
    let mut stream = server.listen("1", ALL).await;
    assert_eq!(stream.acknowledged().await, serde_json::from_str::<Value>(ALL).unwrap());
}

/// Promise 3: what it does not say is not granted, whoever is to blame for that.
#[tokio::test]
async fn an_inner_server_that_does_not_say_what_it_has_gets_no_stream() {
    for (answered, status) in [(404, 404), (400, 400), (500, 500), (200, 502)] {
        let inner = Inner::new(move |_| Response::builder().status(answered).body("not MCP".into()).unwrap());
        let (subscriptions, server) = over(&inner);
        let mut response = server.send(&Request::listen("7", ALL)).await;
        assert_eq!(response.status(), status);
        assert_eq!(response.json().await["id"], 7);
        assert_eq!(subscriptions.handler().accepted(), 0);
    }
    let error = json!({"code": -32602, "message": "roots must be an object", "data": {"at": "roots"}});
    let expected = error.clone();
    let inner = Inner::new(move |_| {
        let mut response = json_response(&json!({"jsonrpc": "2.0", "id": "discover", "error": error}));
        *response.status_mut() = http::StatusCode::BAD_REQUEST;
        response.headers_mut().insert("retry-after", "9".parse().unwrap());
        response
    });
    let (_, server) = over(&inner);
    let mut response = server.send(&Request::listen("7", ALL)).await;
    assert_eq!((response.status(), response.header("retry-after")), (400, Some("9")));
    assert_eq!(response.json().await, json!({"jsonrpc": "2.0", "id": 7, "error": expected}));
}

#[tokio::test]
async fn a_listen_that_is_refused_anyway_does_not_reach_the_inner_server() {
    let inner = Inner::advertising(&json!({"tools": {}}));
    let subscriptions = Probe::serve(|builder| builder.limits(Limits::default().with_streams(0)));
    let server = Server::start(subscriptions.layer(inner.clone()));
    for (request, status) in [
        (Request::listen("7", ALL).set("Accept", "application/json"), 406),
        (Request::listen("7", "[]"), 400),
        (Request::listen("7", ALL), 503),
    ] {
        assert_eq!(server.send(&request).await.status(), status);
    }
    assert_eq!(inner.called(), [""; 0]);
}

/// The end of the stream is a SHOULD.
#[tokio::test]
async fn an_answer_in_a_stream_of_events_that_stays_open_is_enough() {
    let result = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"});
    let inner = Inner::new(move |seen| {
        let event = format!("data: {}\n\n", answer_to(seen, &result));
        let (sender, body) = chunks();
        sender.send(event.leak()).unwrap();
        // Never closed.
        std::mem::forget(sender);
        Response::builder().header("content-type", "text/event-stream").body(Body::new(body)).unwrap()
    });
    let (_, server) = over(&inner);
    assert_eq!(discovered(&server).await["capabilities"], json!({"tools": {"listChanged": true}}));
    let mut stream = server.listen("1", ALL).await;
    assert_eq!(stream.acknowledged().await, json!({"toolsListChanged": true}));
}

#[tokio::test]
async fn who_the_inner_server_refuses_gets_no_stream() {
    for status in [401, 403] {
        let inner = Inner::new(move |_| {
            let response =
                Response::builder().status(status).header("www-authenticate", "Bearer realm=\"x\"");
            response.body("no".into()).unwrap()
        });
        let (subscriptions, server) = over(&inner);
        let mut response = server.send(&Request::listen("7", ALL)).await;
        assert_eq!(response.status(), status);
        assert_eq!(response.header("www-authenticate"), Some("Bearer realm=\"x\""));
        assert_eq!(response.json().await["id"], 7);
        assert_eq!(subscriptions.handler().accepted(), 0);
    }
}

#[tokio::test]
async fn a_response_is_streamed() {
    let (sender, body) = chunks();
    let body = std::sync::Mutex::new(Some(body));
    let inner = Inner::new(move |_| Response::new(Body::new(body.lock().unwrap().take().unwrap())));
    let (_, server) = over(&inner);
    let mut response = server.send(&Request::call("1", "tools/list", "")).await;
    for chunk in ["first", "second", "third"] {
        sender.send(chunk).unwrap();
        assert!(response.more().await);
        assert!(response.received().ends_with(chunk.as_bytes()));
    }
    drop(sender);
    assert!(!response.more().await);
}

#[tokio::test]
async fn what_the_inner_server_refuses_stays_refused() {
    for (status, media) in
        [(400, "application/json"), (404, "text/plain"), (500, "application/json"), (503, "text/html")]
    {
        let body = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"inner"}}"#;
        let inner = Inner::new(move |_| {
            let response =
                Response::builder().status(status).header("content-type", media).header("retry-after", "9");
            response.body(body.into()).unwrap()
        });
        let (_, server) = over(&inner);
        for request in [discover(), Request::call("7", "tools/list", "")] {
            let mut response = server.send(&request).await;
            assert_eq!((response.status(), response.header("retry-after")), (status, Some("9")));
            assert_eq!(response.header("content-type"), Some(media));
            assert_eq!(response.bytes().await, body.as_bytes());
        }
    }
}

#[tokio::test]
async fn a_body_is_limited_and_the_limit_is_larger_than_alone() {
    let inner = Inner::advertising(&json!({"tools": {}}));
    let (_, server) = over(&inner);
    let padded =
        |length: usize| Request::call("1", "tools/list", &format!(r#""pad":"{}""#, "x".repeat(length)));
    let mut response = server.send(&padded(3 * 1024 * 1024)).await;
    assert_eq!((response.status(), response.bytes().await), (200, &b"inner"[..]));

    let subscriptions = Probe::serve(|builder| builder.limits(Limits::default().with_body(1000)));
    let server = Server::start(subscriptions.layer(inner.clone()));
    let mut response = server.send(&padded(1000)).await;
    assert_eq!(response.status(), 413);
    assert_eq!(response.json().await["error"]["data"]["limit"], "body");
    assert_eq!(inner.seen().len(), 1);
}

#[tokio::test]
async fn the_inner_server_is_called_only_when_it_is_ready() {
    let inner = Inner::advertising(&json!({"tools": {}}));
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.layer(OnlyWhenReady { inner: inner.clone(), ready: false }));
    for request in [Request::call("1", "tools/list", ""), discover(), Request::listen("1", ALL)] {
        assert_eq!(server.send(&request).await.status(), 200);
    }
    assert_eq!(inner.seen().len(), 3);
}

#[tokio::test]
async fn an_inner_server_that_never_answers_holds_up_its_own_callers_alone() {
    let (sender, body) = chunks();
    let body = std::sync::Mutex::new(Some(body));
    let result = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}}, "ttlMs": 60_000, "cacheScope": "public"});
    let inner = Inner::new(move |seen| match seen.called().as_deref() {
        Some("server/discover") => json_response(&answer_to(seen, &result)),
        _ => Response::new(Body::new(body.lock().unwrap().take().unwrap())),
    });
    let (subscriptions, server) = over(&inner);
    let waiting = server.send(&Request::call("1", "tools/list", "")).await;
    let mut stream = server.listen("2", ALL).await;
    stream.acknowledged().await;
    subscriptions.publish(ToolsChanged);
    assert_eq!(within("a change is told", stream.told()).await, "tools");
    drop((waiting, sender));
}
