//! What is wrong with a request, in the order in which it is judged.

use mcp_sub::Subscriptions;
use mcp_sub_tests::{META, Probe, Request, Response, Server};
use serde_json::{Value, json};

const TOOLS: &str = r#"{"toolsListChanged":true}"#;
const VERSION: &str = "MCP-Protocol-Version";

fn listen() -> Request {
    Request::listen("7", TOOLS)
}

/// A request, and what is wrong with it: status, code, and whether the id is there.
struct Wrong(&'static str, Request, u16, i64, Id);

#[derive(Clone, Copy, PartialEq)]
enum Id {
    There,
    Absent,
}
use Id::{Absent, There};

async fn assert_refused(server: &Server, wrong: Vec<Wrong>) {
    for Wrong(name, request, status, code, id) in wrong {
        let mut response = server.send(&request).await;
        let error = response.json().await;
        let got = (response.status(), error["error"]["code"].as_i64());
        assert_eq!(got, (status, Some(code)), "{name}: {error}");
        assert_eq!(error.get("id"), (id == There).then_some(&json!(7)), "{name}: {error}");
        assert_eq!(error["jsonrpc"], "2.0", "{name}");
        assert!(error["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{name}");
        assert_eq!(response.header("mcp-session-id"), None, "{name}");
    }
}

fn alone() -> (Subscriptions<Probe>, Server) {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    (subscriptions, server)
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
async fn each_check_has_its_status_and_code() {
    let (subscriptions, server) = alone();
    let body = |body: &str| Request::post(body.as_bytes());
    assert_refused(
        &server,
        vec![
            Wrong("a foreign origin", listen().header("Origin", "http://evil.example"), 403, -32600, Absent),
            Wrong("an opaque origin", listen().header("Origin", "null"), 403, -32600, Absent),
            Wrong("a foreign host", listen().set("Host", "evil.example"), 403, -32600, Absent),
            Wrong(
                "a foreign host in the target",
                listen().target("http://evil.example/mcp"),
                403,
                -32600,
                Absent,
            ),
            Wrong("another content type", listen().set("Content-Type", "text/plain"), 415, -32600, Absent),
            Wrong("two content types", listen().header("Content-Type", "text/plain"), 415, -32600, Absent),
            Wrong("no body", body(""), 400, -32700, Absent),
            Wrong("truncated JSON", body(r#"{"jsonrpc":"2.0","id":7,"#), 400, -32700, Absent),
            Wrong("two messages", body("{} {}"), 400, -32700, Absent),
            Wrong("no UTF-8", Request::post(b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\"}"), 400, -32700, Absent),
            Wrong("deep nesting", body(&"[".repeat(100_000)), 400, -32700, Absent),
            Wrong("an empty batch", body("[]"), 400, -32600, Absent),
            Wrong("a batch", body(&format!("[{}]", text(&listen()))), 400, -32600, Absent),
            Wrong("no object", body("5"), 400, -32600, Absent),
            Wrong("an empty object", body("{}"), 400, -32600, Absent),
            Wrong(
                "a wrong version of JSON-RPC",
                listen().replace(r#""2.0""#, r#""1.0""#),
                400,
                -32600,
                There,
            ),
            Wrong("no version of JSON-RPC", listen().replace(r#""jsonrpc":"2.0","#, ""), 400, -32600, There),
            Wrong(
                "a method that is none",
                listen().replace(r#""subscriptions/listen""#, "5"),
                400,
                -32600,
                There,
            ),
            Wrong("a response", body(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#), 400, -32600, There),
            Wrong("no id", listen().replace(r#""id":7,"#, ""), 400, -32600, Absent),
            Wrong("two ids", listen().replace(r#""id":7"#, r#""id":7,"id":8"#), 400, -32600, Absent),
            Wrong("two methods", listen().replace(r#""id":7"#, r#""id":7,"method":"x""#), 400, -32600, There),
            Wrong(
                "two filters",
                listen().replace(r#""notifications""#, r#""notifications":{},"notifications""#),
                400,
                -32600,
                There,
            ),
            Wrong(
                "two versions",
                listen()
                    .replace(r#""_meta":{"#, r#""_meta":{"io.modelcontextprotocol/protocolVersion":"x","#),
                400,
                -32600,
                There,
            ),
            Wrong("no version header", listen().without(VERSION), 400, -32020, There),
            Wrong("two versions in headers", listen().header(VERSION, "2025-11-25"), 400, -32020, There),
            Wrong(
                "another version in the body",
                listen().replace(r#":"2026-07-28""#, r#":"2025-11-25""#),
                400,
                -32020,
                There,
            ),
            Wrong("another version in the header", listen().set(VERSION, "2025-11-25"), 400, -32020, There),
            Wrong("an older version", versions("2025-11-25"), 400, -32022, There),
            Wrong("an unknown version", versions("2099-01-01"), 400, -32022, There),
            Wrong("a version that is empty", versions(""), 400, -32022, There),
            Wrong(
                "an older version, and no `_meta`",
                listen().replace(META, "\"a\":1").set(VERSION, "2025-11-25"),
                400,
                -32022,
                There,
            ),
            Wrong("no Mcp-Method", listen().without("Mcp-Method"), 400, -32020, There),
            Wrong("another Mcp-Method", listen().set("Mcp-Method", "tools/list"), 400, -32020, There),
            Wrong(
                "Mcp-Method in another case",
                listen().set("Mcp-Method", "Subscriptions/Listen"),
                400,
                -32020,
                There,
            ),
            Wrong(
                "an Mcp-Method in base64, which only names may be in",
                listen().set("Mcp-Method", "=?base64?c3Vic2NyaXB0aW9ucy9saXN0ZW4=?="),
                400,
                -32020,
                There,
            ),
            Wrong("two Mcp-Method", listen().header("Mcp-Method", "tools/list"), 400, -32020, There),
            Wrong(
                "no params",
                listen().replace(&format!(r#","params":{{{META},"notifications":{TOOLS}}}"#), ""),
                400,
                -32602,
                There,
            ),
            Wrong("no `_meta`", listen().replace(META, "\"a\":1"), 400, -32602, There),
            Wrong("a `_meta` that is none", listen().replace(META, "\"_meta\":[]"), 400, -32602, There),
            Wrong(
                "no version in `_meta`",
                listen().replace(r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#, ""),
                400,
                -32602,
                There,
            ),
            Wrong(
                "no capabilities",
                listen().replace(r#","io.modelcontextprotocol/clientCapabilities":{}"#, ""),
                400,
                -32602,
                There,
            ),
            Wrong(
                "capabilities that are none",
                listen().replace(r#"Capabilities":{}"#, r#"Capabilities":[]"#),
                400,
                -32602,
                There,
            ),
            Wrong("an unknown method", Request::call("7", "resources/subscribe", ""), 404, -32601, There),
            Wrong(
                "a notification with an id",
                Request::call("7", "notifications/cancelled", ""),
                404,
                -32601,
                There,
            ),
            Wrong("initialize", Request::call("7", "initialize", ""), 404, -32601, There),
            Wrong(
                "an Accept without event streams",
                listen().set("Accept", "application/json"),
                406,
                -32600,
                There,
            ),
            Wrong(
                "an Accept that forbids them",
                listen().set("Accept", "text/event-stream;q=0"),
                406,
                -32600,
                There,
            ),
            Wrong(
                "no filter",
                listen().replace(&format!(r#","notifications":{TOOLS}"#), ""),
                400,
                -32602,
                There,
            ),
            Wrong("a filter that is null", Request::listen("7", "null"), 400, -32602, There),
            Wrong("a filter that is a list", Request::listen("7", "[]"), 400, -32602, There),
            Wrong("a filter that is text", Request::listen("7", "\"x\""), 400, -32602, There),
            Wrong(
                "a flag that is none",
                Request::listen("7", r#"{"toolsListChanged":"true"}"#),
                400,
                -32602,
                There,
            ),
            Wrong(
                "a flag twice",
                Request::listen("7", r#"{"toolsListChanged":true,"toolsListChanged":false}"#),
                400,
                -32602,
                There,
            ),
            Wrong(
                "URIs that are none",
                Request::listen("7", r#"{"resourceSubscriptions":"file:///a"}"#),
                400,
                -32602,
                There,
            ),
            Wrong(
                "a URI that is null",
                Request::listen("7", r#"{"resourceSubscriptions":[null]}"#),
                400,
                -32602,
                There,
            ),
            Wrong(
                "a URI without a scheme",
                Request::listen("7", r#"{"resourceSubscriptions":["not a uri"]}"#),
                400,
                -32602,
                There,
            ),
            Wrong(
                "an empty URI",
                Request::listen("7", r#"{"resourceSubscriptions":[""]}"#),
                400,
                -32602,
                There,
            ),
            Wrong(
                "a URI with a line break",
                Request::listen("7", r#"{"resourceSubscriptions":["a:\n"]}"#),
                400,
                -32602,
                There,
            ),
        ],
    )
    .await;
    let probe = subscriptions.handler();
    assert_eq!((probe.accepted(), subscriptions.open_streams()), (0, 0), "`subscribe` saw none of them");
}

fn text(request: &Request) -> String {
    String::from_utf8(request.bytes()).unwrap().split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// The same version in header and body.
fn versions(version: &str) -> Request {
    listen().replace(r#":"2026-07-28""#, &format!(r#":"{version}""#)).set(VERSION, version)
}

/// Two things are wrong with each: the one that is judged first is told.
#[tokio::test]
async fn what_is_judged_first_is_told() {
    let (_, server) = alone();
    assert_refused(
        &server,
        vec![
            Wrong(
                "origin before method",
                listen().method("GET").header("Origin", "http://evil.example"),
                403,
                -32600,
                Absent,
            ),
            Wrong("host before body", Request::post("{").set("Host", "evil.example"), 403, -32600, Absent),
            Wrong("syntax before headers", Request::post("{").without(VERSION), 400, -32700, Absent),
            Wrong(
                "shape before headers",
                listen().replace("7", "null").without(VERSION),
                400,
                -32600,
                Absent,
            ),
            Wrong(
                "header there before supported",
                versions("2099-01-01").without(VERSION),
                400,
                -32020,
                There,
            ),
            Wrong("equal before supported", listen().set(VERSION, "2099-01-01"), 400, -32020, There),
            Wrong(
                "supported before Mcp-Method",
                versions("2099-01-01").without("Mcp-Method"),
                400,
                -32022,
                There,
            ),
            Wrong(
                "Mcp-Method before `_meta`",
                listen().replace(META, "\"a\":1").without("Mcp-Method"),
                400,
                -32020,
                There,
            ),
            Wrong(
                "`_meta` before method",
                Request::call("7", "no/such", "").replace(META, "\"a\":1"),
                400,
                -32602,
                There,
            ),
            Wrong(
                "method before params",
                Request::call("7", "no/such", "").set("Accept", "text/html"),
                404,
                -32601,
                There,
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn what_no_id_can_be_is_refused_without_one() {
    let (subscriptions, server) = alone();
    for id in ["null", "1.5", "1.0", "1e3", "true", "{}", "[]", r#""\ud800""#] {
        let mut response = server.send(&Request::listen(id, TOOLS)).await;
        let error = response.json().await;
        assert_eq!((response.status(), error["error"]["code"].as_i64()), (400, Some(-32600)), "{id}");
        assert_eq!(error.get("id"), None, "{id}: {error}");
    }
    assert_eq!(subscriptions.handler().accepted(), 0);
}

#[tokio::test]
async fn what_is_right_passes_every_check() {
    let (_, server) = alone();
    for request in [
        listen(),
        listen().without("Mcp-Method").header("mcp-method", "subscriptions/listen"),
        listen().header("Mcp-Method", "subscriptions/listen"),
        listen().header(VERSION, "2026-07-28"),
        listen().without("Content-Type"),
        listen().set("Content-Type", "application/json; charset=utf-8"),
        listen().without("Accept"),
        listen().set("Accept", "*/*"),
        listen().set("Accept", "text/*"),
        listen().set("Accept", "application/json").header("Accept", "TEXT/event-stream;q=0.1"),
        listen().without("Host").header("Host", "localhost:4000"),
        listen().set("Host", "[::1]:80"),
        listen().target("http://localhost/mcp"),
        listen().header("Origin", "http://localhost:3000"),
        listen().header("Mcp-Session-Id", "x").header("Last-Event-ID", "5"),
        listen().replace("\"_meta\":{", "\"_meta\":{\"progressToken\":true,"),
        listen().replace("{\"jsonrpc\"", " \r\n{ \"extra\" : 1, \"jsonrpc\""),
    ] {
        let mut stream = server.send(&request).await;
        assert_eq!(stream.status(), 200, "{request:?}");
        assert_eq!(stream.frame().await["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 7);
    }
}

#[tokio::test]
async fn other_methods_of_http_are_not_allowed() {
    let (_, server) = alone();
    for method in ["GET", "DELETE", "PUT", "PATCH", "OPTIONS"] {
        let mut response = server.send(&listen().body("").method(method)).await;
        assert_eq!((response.status(), response.header("allow")), (405, Some("POST")), "{method}");
        assert_eq!(response.json().await.get("id"), None);
    }
    let response = server.send(&listen().body("").method("HEAD")).await;
    assert_eq!((response.status(), response.header("allow")), (405, Some("POST")));
}

#[tokio::test]
async fn a_notification_is_accepted_and_does_nothing() {
    let (subscriptions, server) = alone();
    let mut stream = server.listening("7", TOOLS).await;
    let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    for request in [
        Request::post(cancelled).set("Mcp-Method", "notifications/cancelled"),
        Request::post(cancelled).without("Mcp-Method"),
        Request::post(cancelled).without("Mcp-Method").without(VERSION),
        Request::post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
    ] {
        let mut response = server.send(&request).await;
        assert_eq!(response.status(), 202, "{request:?}");
        assert_eq!(response.header("content-type"), None);
        assert!(response.bytes().await.is_empty());
    }
    subscriptions.publish(mcp_sub_tests::ToolsChanged);
    assert_eq!(stream.told().await, "tools", "over HTTP, closing the stream is how it is cancelled");
}

async fn data(mut response: Response) -> Value {
    response.json().await["error"]["data"].take()
}

#[tokio::test]
async fn an_unsupported_version_is_answered_with_the_supported_ones() {
    let (_, server) = alone();
    for version in ["2025-11-25", "2099-01-01"] {
        let data = data(server.send(&versions(version)).await).await;
        assert_eq!(data, json!({"supported": ["2026-07-28"], "requested": version}));
    }
}

#[tokio::test]
async fn initialize_is_answered_with_the_supported_versions() {
    let (_, server) = alone();
    let handshake = Request::post(
        r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    );
    for request in [
        handshake.clone().without(VERSION).without("Mcp-Method"),
        handshake.set(VERSION, "2025-06-18").without("Mcp-Method"),
        Request::call("7", "initialize", ""),
    ] {
        let mut response = server.send(&request).await;
        assert!(matches!(response.status(), 400 | 404));
        let error = response.json().await;
        assert_eq!(error["error"]["data"]["supported"], json!(["2026-07-28"]), "{error}");
        assert!(error["error"]["message"].as_str().unwrap().contains("2026-07-28"));
        assert_eq!(error["id"], 7);
    }
}

#[tokio::test]
async fn an_error_names_what_is_wrong() {
    let (_, server) = alone();
    for (request, named) in [
        (Request::listen("7", r#"{"promptsListChanged":3}"#), "promptsListChanged"),
        (Request::listen("7", r#"{"resourceSubscriptions":["no scheme"]}"#), "no scheme"),
        (listen().set("Accept", "text/html"), "text/event-stream"),
        (listen().header("Origin", "http://evil.example"), "allowed_origins"),
        (listen().set("Host", "evil.example"), "any_host"),
        (listen().without("Mcp-Method"), "Mcp-Method"),
        (listen().replace(META, "\"a\":1"), "_meta"),
    ] {
        let error = server.send(&request).await.json().await;
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains(named), "{named}: {message}");
    }
}

#[tokio::test]
async fn hosts_and_origins_are_those_that_were_set() {
    let listed = Server::start(
        Probe::serve(|builder| {
            builder
                .allowed_hosts(["files.example", "b.example:8443"])
                .allowed_origins(["https://app.example"])
        })
        .http(),
    );
    let any = Server::start(Probe::serve(mcp_sub::Builder::any_host).http());
    for (host, origin, by_list, by_any) in [
        ("files.example", None, 200, 200),
        ("FILES.example:81", None, 200, 200),
        ("b.example:8443", Some("https://app.example"), 200, 403),
        ("b.example", None, 403, 200),
        ("localhost", None, 403, 200),
        ("files.example.evil.example", None, 403, 200),
        ("files.example", Some("http://app.example"), 403, 403),
        ("files.example", Some("http://localhost"), 403, 200),
    ] {
        let mut request = listen().set("Host", host);
        if let Some(origin) = origin {
            request = request.header("Origin", origin);
        }
        assert_eq!(listed.send(&request).await.status(), by_list, "{host} {origin:?}");
        assert_eq!(any.send(&request).await.status(), by_any, "{host} {origin:?}");
    }
}
