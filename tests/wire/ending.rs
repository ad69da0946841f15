//! Promise 7: exactly one ending, and nothing after it.

use mcp_sub_tests::{Act, PATIENCE, Probe, Request, Server, Tell, ToolsChanged};
use serde_json::{Value, json};

const TOOLS: &str = r#"{"toolsListChanged":true}"#;

fn result(id: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", "_meta": {
        "io.modelcontextprotocol/subscriptionId": id,
        "io.modelcontextprotocol/serverInfo": {"name": "probe", "version": "0.1"}}}})
}

fn error(id: &str, reason: &str, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": message, "data": {"reason": reason}}})
}

#[tokio::test]
async fn promise_7_the_result_has_its_fields_and_is_the_last() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut stream = server.listening("\"abc\"", TOOLS).await;
    subscriptions.publish(Tell::new("\"abc\"", Act::TellAndStop));
    subscriptions.publish(ToolsChanged);
    assert_eq!(stream.told().await, "tools", "what came before the end is told");
    assert_eq!(stream.rest().await, [result("abc")]);
    // The body ended as it should: the connection serves the next request.
    let response = stream.into_client().await.send(&Request::call("2", "server/discover", "")).await;
    assert_eq!(response.status(), 200);
}

#[tokio::test]
async fn promise_7_without_server_info_the_result_has_the_id_alone() {
    let subscriptions = mcp_sub::Subscriptions::builder(Probe::default()).build();
    let server = Server::start(subscriptions.http());
    let mut stream = server.listening("\"abc\"", "{}").await;
    let mut result = result("abc");
    result["result"]["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/serverInfo");
    assert_eq!(stream.rest().await, [result]);
}

#[tokio::test]
async fn promise_7_a_shutdown_ends_with_the_result() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut stream = server.listening("\"abc\"", TOOLS).await;
    subscriptions.publish(ToolsChanged);
    subscriptions.shutdown(PATIENCE).await;
    assert_eq!(subscriptions.publish(ToolsChanged), 0);
    assert_eq!(stream.told().await, "tools");
    assert_eq!(stream.rest().await, [result("abc")]);
}

#[tokio::test]
async fn promise_7_a_failure_ends_with_an_error_that_names_its_kind_and_not_its_cause() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    for (act, ending) in [
        (
            Act::TellAndFail("password"),
            error("abc", "handler_failed", "the server's subscription handler failed"),
        ),
        (Act::Panic, error("abc", "panicked", "the server's subscription handler panicked")),
    ] {
        let mut stream = server.listening("\"abc\"", TOOLS).await;
        subscriptions.publish(ToolsChanged);
        subscriptions.publish(Tell::new("\"abc\"", act));
        subscriptions.publish(ToolsChanged);
        assert_eq!(stream.told().await, "tools", "what came before the end is told");
        assert_eq!(stream.rest().await, [ending]);
        stream.into_client().await;
    }
}

#[tokio::test]
async fn promise_7_one_of_several_endings_counts() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut stream = server.listening("\"abc\"", TOOLS).await;
    for act in [Act::Stop("a"), Act::Panic, Act::Stop("b")] {
        subscriptions.publish(Tell::new("\"abc\"", act));
    }
    let (first, second) = tokio::join!(subscriptions.shutdown(PATIENCE), subscriptions.shutdown(PATIENCE));
    assert_eq!(first, second);
    assert_eq!(stream.rest().await, [result("abc")]);
    let closed = subscriptions.handler().closed(1).await;
    assert_eq!(closed[0].1, mcp_sub::CloseReason::Stopped("a".into()));
}
