//! The layer as the front door: what it judges, and what passes through.

use http::{Method, Response};
use mcp_sub_tests::{META, Request};
use serde_json::{Value, json};

use crate::inner::{ALL, Inner, over};

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

/// What is wrong, the request, and what it gets: status and code.
type Row = (&'static str, Request, u16, i64);

fn call() -> Request {
    Request::call("7", "tools/call", r#""name":"x""#).header("Mcp-Name", "x")
}

fn versions(version: &str) -> Request {
    call().replace(r#":"2026-07-28""#, &format!(r#":"{version}""#)).set("MCP-Protocol-Version", version)
}

fn wrong_headers() -> Vec<Row> {
    vec![
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
    ]
}

fn wrong_shapes() -> Vec<Row> {
    vec![
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
    ]
}

/// Requests that only older revisions have.
fn removed_methods() -> Vec<Row> {
    let uri = r#""uri":"a:1""#;
    vec![
        ("ping", Request::call("7", "ping", ""), 404, -32601),
        ("logging/setLevel", Request::call("7", "logging/setLevel", r#""level":"info""#), 404, -32601),
        ("resources/subscribe", Request::call("7", "resources/subscribe", uri), 404, -32601),
        ("resources/unsubscribe", Request::call("7", "resources/unsubscribe", uri), 404, -32601),
        (
            "one without `_meta`",
            Request::post(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#).set("Mcp-Method", "ping"),
            400,
            -32602,
        ),
    ]
}

#[tokio::test]
async fn what_says_it_is_of_this_revision_and_is_wrong_never_reaches_the_inner_server() {
    let inner = Inner::advertising(&json!({"tools": {}}));
    let (_, server) = over(&inner);
    for (name, request, status, code) in
        wrong_headers().into_iter().chain(wrong_shapes()).chain(removed_methods())
    {
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

/// On the stack of a worker thread as well, which is small.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn promise_9_a_body_may_be_as_deep_as_it_likes() {
    let inner = Inner::advertising(&json!({"tools": {}}));
    let (_, server) = over(&inner);
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let older = Request::post(deep.as_bytes()).without("MCP-Protocol-Version");
    assert_eq!(server.send(&older).await.bytes().await, b"inner", "it is of no revision of ours");
    let within = |json: &str| call().replace(META, &format!("{META},{json}"));
    for request in [
        Request::post(deep.as_bytes()),
        call().replace(r#"clientCapabilities":{}"#, &format!(r#"clientCapabilities":{deep}"#)),
        Request::post(format!(r#"{{"params":{deep}}}"#)),
    ] {
        assert_eq!(server.send(&request).await.status(), 400);
    }
    assert_eq!(server.send(&within(&format!(r#""x":{deep}"#))).await.bytes().await, b"inner");
}

#[tokio::test]
async fn the_error_about_a_name_that_cannot_be_read_has_the_id_that_can_be_read() {
    let inner = Inner::advertising(&json!({"tools": {}}));
    let (_, server) = over(&inner);
    let odd = call().replace(r#""_meta":{"#, r#""_meta":{"\ud800":1,"#);
    for request in [odd.clone(), odd.without("MCP-Protocol-Version")] {
        assert_eq!(server.send(&request).await.json().await["id"], 7);
    }
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
