//! Whatever is refused at a limit says which, and an operator sees it: counted, and in the log.

use std::time::Duration;

use mcp_sub::{Limits, Subscriptions};
use mcp_sub_tests::{Probe, Request, Response, Server, ToolsChanged};
use serde_json::json;

use crate::{
    inner::{ALL, Inner},
    log::Log,
};

const TOOLS: &str = r#"{"toolsListChanged":true}"#;
const URI: &str = r#"{"resourceSubscriptions":["a:12345678"]}"#;

fn limits() -> Limits {
    Limits::default()
}

/// A server alone, and one over another server.
fn servers(limits: &Limits) -> [(Subscriptions<Probe>, Server); 2] {
    let build = || {
        Probe::serve(|builder| {
            builder
                .limits(limits.clone())
                .principal(|caller| Some(caller.headers().get("x-user")?.to_str().ok()?.to_owned()))
        })
    };
    let (alone, over) = (build(), build());
    let inner = Inner::advertising(&json!({"tools": {}, "prompts": {}, "resources": {}}));
    let servers = [Server::start(alone.http()), Server::start(over.layer(inner))];
    let [first, second] = servers;
    [(alone, first), (over, second)]
}

/// The response is the refusal, complete in all its parts.
async fn assert_refused(
    mut response: Response,
    (limit, status, code): (&'static str, u16, i64),
    subscriptions: &Subscriptions<Probe>,
    log: &Log,
) {
    let error = response.json().await;
    assert_eq!((response.status(), &error["error"]["code"]), (status, &json!(code)), "{error}");
    assert_eq!(error["error"]["data"], json!({ "limit": limit }));
    let comes_back = matches!(status, 429 | 503);
    assert_eq!(response.header("retry-after"), comes_back.then_some("5"), "{error}");
    assert_eq!(subscriptions.stats().refused, [(limit, 1)].into());
    let lines = log.take();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("WARN") && lines[0].contains(&format!("limit={limit:?}")), "{lines:?}");
}

#[tokio::test]
async fn a_refusal_names_its_limit_and_is_counted_and_logged() {
    let log = Log::start();
    let listen = |filter: &str| Request::listen("7", filter).header("x-user", "alice");
    let slow = listen(TOOLS).header("x-subscribe", "wait");
    for (limits, request, expected) in [
        (limits().with_streams(1), listen(TOOLS), ("streams", 503, -32603)),
        (limits().with_streams_per_principal(1), listen(TOOLS), ("streams_per_principal", 429, -32603)),
        (limits().with_uris(1), listen(r#"{"resourceSubscriptions":["a:1","a:2"]}"#), ("uris", 400, -32602)),
        (limits().with_uri_bytes(9), listen(URI), ("uri_bytes", 400, -32602)),
        (limits().with_id_bytes(1), Request::listen("78", TOOLS), ("id_bytes", 400, -32600)),
        (
            limits().with_body(400),
            listen(&format!(r#"{{"x":"{}"}}"#, "x".repeat(400))),
            ("body", 413, -32600),
        ),
        (
            limits().with_subscribe_timeout(Duration::from_millis(20)),
            slow,
            ("subscribe_timeout", 503, -32603),
        ),
    ] {
        for (subscriptions, server) in servers(&limits) {
            let mut first = server.send(&listen(TOOLS)).await;
            first.acknowledged().await;
            let response = server.send(&request).await;
            assert_refused(response, expected, &subscriptions, &log).await;
            assert_eq!(subscriptions.open_streams(), 1, "the one that was there");
            subscriptions.publish(ToolsChanged);
            assert_eq!(first.told().await, "tools", "who is there does not notice");
        }
    }
}

#[tokio::test]
async fn a_refusal_while_the_server_shuts_down_says_so() {
    let log = Log::start();
    for (subscriptions, server) in servers(&limits()) {
        subscriptions.shutdown(mcp_sub_tests::PATIENCE).await;
        let response = server.send(&Request::listen("7", TOOLS)).await;
        assert_refused(response, ("shutdown", 503, -32603), &subscriptions, &log).await;
    }
}

#[tokio::test]
async fn a_limit_of_zero_refuses_all() {
    let log = Log::start();
    for (limits, filter, expected) in [
        (limits().with_streams(0), ALL, ("streams", 503, -32603)),
        (limits().with_streams_per_principal(0), ALL, ("streams_per_principal", 429, -32603)),
        (limits().with_uris(0), URI, ("uris", 400, -32602)),
        (limits().with_uri_bytes(0), URI, ("uri_bytes", 400, -32602)),
        (limits().with_id_bytes(0), ALL, ("id_bytes", 400, -32600)),
        (limits().with_body(0), ALL, ("body", 413, -32600)),
    ] {
        for (subscriptions, server) in servers(&limits) {
            let response = server.send(&Request::listen("7", filter).header("x-user", "alice")).await;
            assert_refused(response, expected, &subscriptions, &log).await;
            assert_eq!((subscriptions.open_streams(), subscriptions.handler().accepted()), (0, 0));
        }
    }
}

/// What is refused for another reason is at no limit, and not the operator's concern.
#[tokio::test]
async fn what_is_wrong_with_a_request_is_no_refusal_at_a_limit() {
    let log = Log::start();
    let [(subscriptions, server), _] = servers(&limits());
    for (request, status) in [
        (Request::listen("null", TOOLS), 400),
        (Request::listen("7", "[]"), 400),
        (Request::listen("7", TOOLS).header("x-subscribe", "reject"), 401),
        (Request::call("7", "no/such", ""), 404),
    ] {
        assert_eq!(server.send(&request).await.status(), status);
    }
    assert_eq!(subscriptions.stats().refused, [].into());
    assert_eq!(log.take(), [""; 0]);
}
