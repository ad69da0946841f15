//! Inside an rmcp server, where `subscribe` has to know who asks: rmcp has written the acknowledgement by then.

use mcp_sub::{CloseReason, Limits, Subscriptions};
use mcp_sub_tests::{Act, Probe, Request, Tell, ToolsChanged, Updated};
use serde_json::json;

use crate::inside::{Lines, over_http};

const EVERYTHING: &str = r#"{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a:1","secret:1"]}"#;

#[tokio::test]
async fn who_asks_is_known_and_what_it_may_have_is_honoured() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = over_http(&subscriptions);
    let mut response = server.send(&Request::listen("\"x\"", EVERYTHING).header("x-deny", "other")).await;
    let acknowledged = response.frame().await;
    let requested: serde_json::Value = serde_json::from_str(EVERYTHING).unwrap();
    assert_eq!(acknowledged["params"]["notifications"], requested);
    subscriptions.publish_for("secret:1", Updated("secret:1".into()));
    let told = response.frame().await;
    assert_eq!(
        told["params"],
        json!({"_meta": {"io.modelcontextprotocol/subscriptionId": "x"}, "uri": "secret:1"})
    );
    subscriptions.publish(Tell::new("\"x\"", Act::TellAndStop));
    let rest = response.rest().await;
    assert_eq!(rest[0]["method"], "notifications/tools/list_changed", "{rest:?}");
    assert_eq!((&rest[1]["id"], &rest[1]["result"]["resultType"]), (&json!("x"), &json!("complete")));
    let closed = subscriptions.handler().closed(1).await;
    assert_eq!(closed, [("\"x\"".to_owned(), CloseReason::Stopped("told".into()))]);
}

#[tokio::test]
async fn what_is_taken_away_after_it_was_acknowledged_ends_the_stream_at_once() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = over_http(&subscriptions);
    for (name, value) in [("x-deny", "secret"), ("x-decline", "tools")] {
        let mut response = server.send(&Request::listen("1", EVERYTHING).header(name, value)).await;
        let frames = response.rest().await;
        assert_eq!(frames.len(), 2, "{frames:?}");
        let error = &frames[1]["error"];
        assert_eq!((&error["code"], &error["data"]), (&json!(-32603), &json!({"reason": "narrowed"})));
    }
    let closed = subscriptions.handler().closed(2).await;
    assert!(closed.iter().all(|(_, reason)| matches!(reason, CloseReason::Failed(_))), "{closed:?}");
    assert_eq!(subscriptions.open_streams(), 0);
}

#[tokio::test]
async fn a_rejection_follows_the_acknowledgement_with_its_own_code() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = over_http(&subscriptions);
    for (how, code) in [("reject", -32603), ("invalid", -32602), ("panic", -32603)] {
        let mut response = server.send(&Request::listen("1", EVERYTHING).header("x-subscribe", how)).await;
        let frames = response.rest().await;
        assert_eq!(frames.len(), 2, "{frames:?}");
        assert_eq!(frames[1]["error"]["code"], code, "{how}");
    }
    assert_eq!((subscriptions.handler().closes(), subscriptions.open_streams()), (0, 0));
    assert_eq!(subscriptions.stats().rejected, 3);
}

#[tokio::test]
async fn what_is_published_while_subscribe_waits_is_told_after_it() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = over_http(&subscriptions);
    let listen = Request::listen("1", EVERYTHING).header("x-subscribe", "wait");
    let mut response = server.send(&listen).await;
    response.frame().await;
    subscriptions.handler().waits().await;
    assert_eq!(subscriptions.publish(ToolsChanged), 1);
    subscriptions.handler().release.add_permits(1);
    assert_eq!(response.frame().await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn who_leaves_while_subscribe_waits_was_never_accepted() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = over_http(&subscriptions);
    let listen = Request::listen("1", EVERYTHING).header("x-subscribe", "wait");
    let mut response = server.send(&listen).await;
    response.frame().await;
    subscriptions.handler().waits().await;
    response.leave();
    mcp_sub_tests::eventually("it is dropped", || subscriptions.handler().dropped() == 1).await;
    assert_eq!((subscriptions.handler().closes(), subscriptions.open_streams()), (0, 0));
}

#[tokio::test]
async fn a_principal_has_its_limit_and_can_be_ended() {
    let limits = Limits::default().with_streams_per_principal(1);
    let subscriptions = Probe::serve(|builder| {
        let principal = |caller: &mcp_sub::Caller| {
            caller.headers().get("x-user").and_then(|user| user.to_str().ok()).map(str::to_owned)
        };
        builder.limits(limits).principal(principal)
    });
    let server = over_http(&subscriptions);
    let listen = |user: &str| Request::listen("1", r#"{"toolsListChanged":true}"#).header("x-user", user);
    let mut first = server.send(&listen("alice")).await;
    first.frame().await;
    mcp_sub_tests::eventually("it is open", || subscriptions.open_streams() == 1).await;
    let refused = server.send(&listen("alice")).await.rest().await;
    assert_eq!(refused[1]["error"]["data"], json!({"limit": "streams_per_principal"}), "{refused:?}");
    let mut other = server.send(&listen("bob")).await;
    other.frame().await;
    assert_eq!(subscriptions.end_all("alice", "her account was closed"), 1);
    assert_eq!(first.rest().await[0]["result"]["resultType"], "complete");
    subscriptions.publish(ToolsChanged);
    assert_eq!(other.frame().await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn a_method_that_fails_ends_its_stream_with_an_error_and_no_other() {
    let subscriptions: Subscriptions<Probe> = Probe::serve(|builder| builder);
    let mut lines = Lines::connect(&subscriptions, 4096);
    for id in ["1", "2"] {
        lines.listen(id, r#"{"toolsListChanged":true}"#).await;
        lines.next().await;
    }
    mcp_sub_tests::eventually("both are open", || subscriptions.handler().accepted() == 2).await;
    subscriptions.publish(Tell::new("1", Act::Panic));
    let failed = lines.next().await;
    assert_eq!((&failed["id"], &failed["error"]["data"]), (&json!(1), &json!({"reason": "panicked"})));
    subscriptions.publish(ToolsChanged);
    let told = lines.next().await;
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 2);
}
