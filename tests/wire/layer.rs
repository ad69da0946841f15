//! Over a server that exists: a listen is ours, the rest is the inner server's, to the byte.

use axum::body::Body;
use http::{Method, Response};
use mcp_sub::{Limits, Subscriptions};
use mcp_sub_tests::{
    Hostile, META, Probe, PromptsChanged, Request, Server, ToolsChanged, Updated, Whatever, within,
};
use serde_json::{Value, json};

use crate::inner::{Inner, OnlyWhenReady, Seen, answer_to, chunks, json_response};

const ALL: &str = r#"{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a:1"]}"#;

fn over(inner: &Inner) -> (Subscriptions<Probe>, Server) {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.layer(inner.clone()));
    (subscriptions, server)
}

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

/// What is not of this revision passes through to the byte, and so does what is right.
#[tokio::test]
async fn what_is_not_ours_passes_through_untouched() {
    let inner = Inner::new(|seen| {
        let body = format!("answer to {}", String::from_utf8_lossy(&seen.body));
        let response = Response::builder().status(418).header("mcp-session-id", "s").header("x-inner", "1");
        response.body(body.into()).unwrap()
    });
    let (_, server) = over(&inner);
    let legacy = |body: &str| {
        Request::post(body.as_bytes())
            .set("MCP-Protocol-Version", "2025-11-25")
            .without("Mcp-Method")
            .header("Mcp-Session-Id", "s")
    };
    let initialize = r#"{ "jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","name":"y"}}"#;
    for request in [
        Request::post("").method("GET").set("Accept", "text/event-stream"),
        Request::post("").method("GET").without("MCP-Protocol-Version").header("Last-Event-ID", "5"),
        Request::post("").method("DELETE").header("Mcp-Session-Id", "s"),
        Request::post("").method("OPTIONS").header("Access-Control-Request-Method", "POST"),
        Request::post("a body of its own").method("PUT"),
        legacy(initialize),
        legacy(initialize).without("MCP-Protocol-Version"),
        legacy(call),
        legacy(&format!("[{call},{call}]")),
        legacy(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
        legacy(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#),
        legacy(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        legacy(r#"{"jsonrpc":"2.0","id":1,"result":{"text":"Today is 2026-07-28."}}"#),
        legacy(r#"[{"jsonrpc":"2.0","id":1,"method":"x","params":{"day":"2026-07-28"}}]"#),
        legacy(r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a:1"}}"#),
        legacy(r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{}}}"#),
        legacy("5").set("Content-Type", "text/plain"),
        Request::call("1", "tools/list", r#""cursor":"é""#).header("Accept-Encoding", "gzip"),
        Request::call("1", "tools/call", r#""name":"x","arguments":{"a" : 1}"#)
            .header("Mcp-Name", "x")
            .header("Mcp-Param-Region", "=?base64?w6k=?="),
        Request::call("1", "no/such", ""),
        Request::call("1", "initialize", ""),
    ] {
        let before = inner.seen().len();
        let mut response = server.send(&request).await;
        let sent = request.bytes();
        let head_end = sent.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
        let (head, body) = sent.split_at(head_end);
        let head = String::from_utf8(head.to_vec()).unwrap();
        assert_eq!(inner.seen().len(), before + 1, "{head}");
        let seen = inner.seen().pop().unwrap();
        assert_eq!(seen.body, body, "{head}");
        let mut lines = head.trim_end().split("\r\n");
        assert_eq!(lines.next().unwrap(), format!("{} {} HTTP/1.1", seen.method, seen.uri));
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap();
            assert!(seen.headers.get_all(name).iter().any(|other| other == value), "{line}: {seen:?}");
        }
        assert_eq!((response.status(), response.header("x-inner")), (418, Some("1")));
        assert_eq!(response.header("mcp-session-id"), Some("s"));
        let answer = format!("answer to {}", String::from_utf8_lossy(body));
        if seen.method != Method::HEAD {
            assert_eq!(response.bytes().await, answer.as_bytes());
        }
    }
}

#[tokio::test]
async fn what_says_it_is_of_this_revision_and_is_wrong_never_reaches_the_inner_server() {
    let inner = Inner::advertising(&json!({"tools": {}}));
    let (_, server) = over(&inner);
    let call = || Request::call("7", "tools/call", r#""name":"x""#).header("Mcp-Name", "x");
    let versions = |version: &str| {
        call().replace(r#":"2026-07-28""#, &format!(r#":"{version}""#)).set("MCP-Protocol-Version", version)
    };
    for (name, request, status, code) in [
        ("no header", call().without("MCP-Protocol-Version"), 400, -32020),
        ("another version in the header", call().set("MCP-Protocol-Version", "2025-11-25"), 400, -32020),
        ("another version in the body", call().replace(r#":"2026-07-28""#, r#":"2025-11-25""#), 400, -32020),
        ("two versions", call().header("MCP-Protocol-Version", "2025-11-25"), 400, -32020),
        ("no Mcp-Method", call().without("Mcp-Method"), 400, -32020),
        ("another Mcp-Method", call().set("Mcp-Method", "tools/list"), 400, -32020),
        ("Mcp-Method in another case", call().set("Mcp-Method", "Tools/Call"), 400, -32020),
        ("no `_meta`", call().replace(META, "\"a\":1"), 400, -32602),
        (
            "no capabilities",
            call().replace(r#","io.modelcontextprotocol/clientCapabilities":{}"#, ""),
            400,
            -32602,
        ),
        ("a content type", call().set("Content-Type", "text/plain"), 415, -32600),
        ("an id", call().replace(r#""id":7"#, r#""id":null"#), 400, -32600),
        ("no id", call().replace(r#""id":7,"#, ""), 400, -32600),
        ("a batch", Request::post(format!("[{}]", body_of(&call()))), 400, -32600),
        ("a member twice", call().replace(r#""id":7"#, r#""id":7,"method":"tools/list""#), 400, -32600),
        (
            "an escaped member twice",
            call().replace(r#""id":7"#, r#""id":7,"m\u0065thod":"tools/list""#),
            400,
            -32600,
        ),
        (
            "a member of params twice",
            call().replace(r#""name":"x""#, r#""name":"x","name":"y""#),
            400,
            -32600,
        ),
        (
            "a member of `_meta` twice",
            call().replace(r#""_meta":{"#, r#""_meta":{"k":1,"k":2,"#),
            400,
            -32600,
        ),
        (
            "a member twice, and no header",
            call().replace(r#""id":7"#, r#""id":7,"id":8"#).without("MCP-Protocol-Version"),
            400,
            -32600,
        ),
        (
            "`_meta` twice, one of them of an older revision, and no header",
            call()
                .replace(
                    r#""_meta":{"#,
                    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"},"_meta":{"#,
                )
                .replace("2026-07-28", r"2026-07-2\u0038")
                .without("MCP-Protocol-Version"),
            400,
            -32600,
        ),
        (
            "a name that cannot be read, and no header",
            call().replace(r#""_meta":{"#, r#""_meta":{"\ud800":1,"#).without("MCP-Protocol-Version"),
            400,
            -32600,
        ),
        ("an Mcp-Method in base64", call().set("Mcp-Method", "=?base64?dG9vbHMvY2FsbA==?="), 400, -32020),
        ("a name that is no string", call().replace(r#""name":"x""#, r#""name":["x"]"#), 400, -32602),
        ("a name that cannot be read", call().replace(r#""name":"x""#, r#""name":"\ud800""#), 400, -32602),
        ("no Mcp-Name", call().without("Mcp-Name"), 400, -32020),
        ("another Mcp-Name", call().set("Mcp-Name", "y"), 400, -32020),
        ("Mcp-Name in another case", call().set("Mcp-Name", "X"), 400, -32020),
        ("two Mcp-Name", call().header("Mcp-Name", "y"), 400, -32020),
        ("an Mcp-Name that is not base64", call().set("Mcp-Name", "=?base64?x?="), 400, -32020),
        (
            "a prompt's Mcp-Name",
            Request::call("7", "prompts/get", r#""name":"p""#).header("Mcp-Name", "q"),
            400,
            -32020,
        ),
        ("a resource's Mcp-Name", Request::call("7", "resources/read", r#""uri":"a:1""#), 400, -32020),
        ("JSON", Request::post("{"), 400, -32700),
        (
            "JSON, of an older revision",
            Request::post("{").set("MCP-Protocol-Version", "2025-11-25"),
            400,
            -32700,
        ),
        ("an origin", call().header("Origin", "http://evil.example"), 403, -32600),
        ("an origin, by GET", call().method("GET").header("Origin", "http://evil.example"), 403, -32600),
        ("a host, of an older revision", versions("2025-11-25").set("Host", "evil.example"), 403, -32600),
        ("Accept of a listen", Request::listen("7", ALL).set("Accept", "application/json"), 406, -32600),
        ("a listen's filter", Request::listen("7", "[]"), 400, -32602),
    ] {
        let mut response = server.send(&request).await;
        let error = response.json().await;
        assert_eq!(
            (response.status(), error["error"]["code"].as_i64()),
            (status, Some(code)),
            "{name}: {error}"
        );
        assert_ne!(error.get("id"), Some(&Value::Null), "{name}");
    }
    let called = inner.called();
    assert!(called.iter().all(|called| called == "server/discover"), "{called:?}");
}

fn body_of(request: &Request) -> String {
    let bytes = String::from_utf8(request.bytes()).unwrap();
    bytes.split_once("\r\n\r\n").unwrap().1.to_owned()
}

#[tokio::test]
async fn a_name_may_be_encoded() {
    let inner = Inner::advertising(&json!({"tools": {}}));
    let (_, server) = over(&inner);
    for (method, member, name, header) in [
        ("tools/call", "name", "Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        ("prompts/get", "name", "p", "=?base64?cA==?="),
        ("resources/read", "uri", "file:///a", "file:///a"),
    ] {
        let request =
            Request::call("1", method, &format!(r#""{member}":"{name}""#)).header("Mcp-Name", header);
        let mut response = server.send(&request).await;
        assert_eq!(response.bytes().await, b"inner", "{method}");
    }
    assert_eq!(inner.seen().len(), 3);
}

#[tokio::test]
async fn a_notification_of_this_revision_is_accepted_here() {
    let inner = Inner::advertising(&json!({"tools": {}}));
    let (_, server) = over(&inner);
    let plain = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    let says_so = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{{META}}}}}"#);
    for request in [
        Request::post(plain),
        Request::post(plain).without("Mcp-Method"),
        Request::post(says_so).without("MCP-Protocol-Version"),
    ] {
        let mut response = server.send(&request).await;
        assert_eq!(response.status(), 202);
        assert!(response.bytes().await.is_empty());
    }
    assert!(inner.seen().is_empty());
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
