//! Over tower-mcp's HTTP service: listens are ours, its tools are its own, and an older session is left to it.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

use mcp_sub::Subscriptions;
use mcp_sub_tests::{Probe, Request, Server, ToolsChanged};
use serde_json::{Value, json};
use tower_mcp::{CallToolResult, HttpTransport, McpRouter, NoParams, ToolBuilder};

const ALL: &str = r#"{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a:1"]}"#;

/// A server with one tool, which changes the list of tools.
fn router(subscriptions: &Subscriptions<Probe>) -> McpRouter {
    let subscriptions = subscriptions.clone();
    let install = ToolBuilder::new("install").description("Installs a tool").handler(move |_: NoParams| {
        let told = subscriptions.publish(ToolsChanged);
        async move { Ok(CallToolResult::text(told.to_string())) }
    });
    McpRouter::new().server_info("inner", "1.0.0").tool(install.build())
}

fn layered() -> (Subscriptions<Probe>, Server) {
    let subscriptions = Probe::serve(|builder| builder);
    let inner = HttpTransport::new(router(&subscriptions)).into_router_at("/mcp");
    let server = Server::start(subscriptions.layer(inner));
    (subscriptions, server)
}

fn alone() -> Server {
    let subscriptions = Probe::serve(|builder| builder);
    Server::start(HttpTransport::new(router(&subscriptions)).into_router_at("/mcp").into_service())
}

/// The response in a body that is JSON or a stream of events.
fn response(body: &[u8]) -> Value {
    let text = std::str::from_utf8(body).unwrap();
    let data = text.lines().find_map(|line| line.strip_prefix("data: ").filter(|data| data.starts_with('{')));
    serde_json::from_str(data.unwrap_or(text)).unwrap()
}

async fn answer(server: &Server, request: &Request) -> Value {
    let mut answer = server.send(request).await;
    assert_eq!(answer.status(), 200);
    response(answer.bytes().await)
}

#[tokio::test]
async fn a_client_discovers_lists_calls_and_hears_what_its_call_has_changed() {
    let (subscriptions, server) = layered();
    let discover = Request::call("1", "server/discover", "");
    let discovered = answer(&server, &discover).await;
    let alone = answer(&alone(), &discover).await;
    assert_eq!(discovered["result"]["capabilities"]["tools"], json!({"listChanged": true}));
    assert_eq!(discovered["result"]["supportedVersions"], alone["result"]["supportedVersions"]);
    assert_eq!(discovered["result"]["_meta"], alone["result"]["_meta"]);

    let listed = answer(&server, &Request::call("2", "tools/list", "")).await;
    assert_eq!(listed["result"]["tools"][0]["name"], "install");
    let mut stream = server.listen("3", ALL).await;
    assert_eq!(
        stream.acknowledged().await,
        json!({"toolsListChanged": true}),
        "it has tools and nothing else"
    );
    let call =
        Request::call("4", "tools/call", r#""name":"install","arguments":{}"#).header("Mcp-Name", "install");
    assert_eq!(answer(&server, &call).await["result"]["content"][0]["text"], "1");
    assert_eq!(stream.told().await, "tools");
    subscriptions.shutdown(mcp_sub_tests::PATIENCE).await;
    assert_eq!(stream.told().await, "result");
}

/// To the byte, but for what differs from run to run.
#[tokio::test]
async fn an_older_session_gets_what_it_gets_without_the_layer() {
    let mut seen = Vec::new();
    for server in [layered().1, alone()] {
        let older =
            |body: &str| Request::post(body).without("Mcp-Method").set("MCP-Protocol-Version", "2025-11-25");
        let initialize = older(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        );
        let mut initialized = server.send(&initialize.without("MCP-Protocol-Version")).await;
        let session = initialized.header("mcp-session-id").expect("a session").to_owned();
        let mut scenario = vec![(initialized.status(), response(initialized.bytes().await))];
        for body in [
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"install","arguments":{}}}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"no/such"}"#,
            r#"{"jsonrpc":"2.0","id":4,"method":"subscriptions/listen","params":{"notifications":{}}}"#,
        ] {
            let mut answer = server.send(&older(body).header("Mcp-Session-Id", &session)).await;
            let (status, body) = (answer.status(), answer.bytes().await);
            scenario.push((status, if body.is_empty() { Value::Null } else { response(body) }));
        }
        let delete = older("").method("DELETE").header("Mcp-Session-Id", &session);
        scenario.push((server.send(&delete).await.status(), Value::Null));
        seen.push(scenario);
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0][0].1["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(seen[0][2].1["result"]["tools"][0]["name"], "install");
    assert_eq!(seen[0][3].1["result"]["content"][0]["text"], "0");
}
