//! Promise 1: the acknowledgement is first, and every message carries the id.

use mcp_sub_tests::{Act, Probe, PromptsChanged, Request, Server, Tell, ToolsChanged, Updated};

const ALL: &str =
    r#"{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["file:///a"]}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_1_the_acknowledgement_precedes_a_thousand_events_from_other_threads() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    for _ in 0..5 {
        let mut stream = server.send(&Request::listen("1", ALL).header("x-subscribe", "flood")).await;
        assert_eq!(stream.frame().await["method"], "notifications/subscriptions/acknowledged");
        let mut told = [stream.told().await, stream.told().await];
        told.sort();
        assert_eq!(told, ["file:///a", "tools"], "what was published meanwhile comes after it");
    }
}

#[tokio::test]
async fn promise_1_what_is_published_between_slot_and_acknowledgement_comes_after_it_in_order() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut client = server.connect().await;
    client.write(&Request::listen("1", ALL).header("x-subscribe", "wait")).await;
    subscriptions.handler().waits().await;
    assert_eq!(subscriptions.publish(PromptsChanged), 1);
    assert_eq!(subscriptions.publish_for("file:///a", Updated("file:///a".into())), 1);
    assert_eq!(subscriptions.publish(ToolsChanged), 1);
    subscriptions.handler().release.add_permits(1);
    let mut stream = client.response().await;
    stream.acknowledged().await;
    for told in ["prompts", "file:///a", "tools"] {
        assert_eq!(stream.told().await, told);
    }
    // And none of it twice.
    subscriptions.publish(PromptsChanged);
    assert_eq!(stream.told().await, "prompts");
}

#[tokio::test]
async fn promise_1_every_message_carries_the_id_with_the_same_type_and_digits() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let long = format!("\"{}\"", "x".repeat(4096));
    for id in [
        r#""1""#,
        "1",
        "0",
        "-1",
        r#""""#,
        r#""0x1""#,
        "9007199254740993",
        "18446744073709551615",
        "-123456789012345678901234567890",
        "123456789012345678901234567890",
        &long,
        r#""é\n\"\\""#,
        r#""\u00e9\u0000""#,
    ] {
        let mut stream = server.listen(id, r#"{"toolsListChanged":true}"#).await;
        let tag = format!(r#""io.modelcontextprotocol/subscriptionId":{id}"#);
        let acknowledged = stream.text().await.unwrap();
        assert!(acknowledged.contains("acknowledged") && acknowledged.contains(&tag), "{acknowledged}");
        assert_eq!(subscriptions.publish(ToolsChanged), 1);
        let changed = stream.text().await.unwrap();
        assert!(changed.contains("tools/list_changed") && changed.contains(&tag), "{changed}");
        subscriptions.publish(Tell::new(id, Act::Stop("seen")));
        let result = stream.text().await.unwrap();
        assert!(result.contains(&format!(r#""id":{id},"result""#)) && result.contains(&tag), "{result}");
        assert_eq!(stream.text().await, None);
    }
}

#[tokio::test]
async fn promise_1_an_error_at_the_end_carries_the_id_too() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    for id in ["-0", "98765432109876543210", r#""é""#] {
        let mut stream = server.listening(id, ALL).await;
        subscriptions.publish(Tell::new(id, Act::Panic));
        let error = stream.text().await.unwrap();
        assert!(error.contains(&format!(r#""id":{id},"error""#)), "{error}");
    }
}

#[tokio::test]
async fn promise_1_two_connections_with_the_same_id_are_two_subscriptions() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut tools = server.listening("1", r#"{"toolsListChanged":true}"#).await;
    let mut prompts = server.listening("1", r#"{"promptsListChanged":true}"#).await;
    assert_eq!(subscriptions.publish(ToolsChanged), 1);
    assert_eq!(subscriptions.publish(PromptsChanged), 1);
    assert_eq!(tools.told().await, "tools");
    assert_eq!(prompts.told().await, "prompts");
    tools.leave();
    assert_eq!(subscriptions.handler().closed(1).await.len(), 1);
    assert_eq!(subscriptions.publish(PromptsChanged), 1);
    assert_eq!(prompts.told().await, "prompts", "the end of one does not touch the other");
}

#[tokio::test]
async fn promise_1_an_id_can_be_used_again_on_the_same_connection() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut client = server.connect().await;
    for _ in 0..3 {
        let mut stream = client.send(&Request::listen("7", ALL)).await;
        stream.acknowledged().await;
        subscriptions.publish(Tell::new("7", Act::TellAndStop));
        assert_eq!(stream.told().await, "tools");
        assert_eq!(stream.told().await, "result");
        client = stream.into_client().await;
    }
}
