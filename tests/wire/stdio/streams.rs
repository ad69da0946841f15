//! Many streams on one channel.

use std::collections::HashMap;

use mcp_sub_tests::{Act, Lines, Probe, PromptsChanged, Tell, ToolsChanged, Updated, message};
use serde_json::json;

use super::{PROMPTS, TOOLS, refused, told};

#[tokio::test]
async fn each_stream_hears_of_its_own_under_its_own_id() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut client = Lines::connect(&subscriptions);
    let long = format!("\"{}\"", "x".repeat(4096));
    // Equal digits, and other types.
    let ids = ["1", r#""1""#, "0", "-1", r#""""#, "18446744073709551616", r#""é\n\"\\""#, &long];
    for id in ids {
        let notifications = r#"{"toolsListChanged":true,"resourceSubscriptions":["x:b","x:a"]}"#;
        let honoured = client.listening(id, notifications).await;
        assert_eq!(honoured, json!({"toolsListChanged": true, "resourceSubscriptions": ["x:b", "x:a"]}));
    }
    client.listening("2", PROMPTS).await;
    assert_eq!(subscriptions.publish(PromptsChanged), 1);
    assert_eq!(client.told().await, told("2", "prompts"));
    assert_eq!(subscriptions.publish_for("x:a", Updated("x:a".into())), ids.len());
    let mut heard = HashMap::new();
    for _ in ids {
        let (id, what) = client.told().await;
        assert_eq!(heard.insert(id, what), None, "once each");
    }
    assert!(ids.iter().all(|id| heard[*id] == "x:a"), "{heard:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_1_the_acknowledgement_is_first_among_many_in_one_write() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut client = Lines::connect(&subscriptions);
    let listens: Vec<String> = (0..100).map(|id| listen_flood(&id.to_string())).collect();
    client.send(&listens).await;
    let mut heard: HashMap<String, Vec<String>> = HashMap::new();
    while heard.len() < 100 || heard.values().any(|heard| !heard.contains(&"tools".into())) {
        let (id, what) = client.told().await;
        heard.entry(id).or_default().push(what);
    }
    for heard in heard.values() {
        assert_eq!(heard[0], "acknowledged");
        assert!(!heard[1..].contains(&heard[0]), "{heard:?}");
    }
}

/// Published to while it decides.
fn listen_flood(id: &str) -> String {
    message(id, "subscriptions/listen", &format!(r#""notifications":{TOOLS}"#))
        .replace(r#""_meta":{"#, r#""_meta":{"x-subscribe":"flood","#)
}

#[tokio::test]
async fn a_listen_misses_nothing_that_the_next_line_causes() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut client = Lines::connect(&subscriptions);
    let waits = message("1", "subscriptions/listen", &format!(r#""notifications":{TOOLS}"#))
        .replace(r#""_meta":{"#, r#""_meta":{"x-subscribe":"wait","#);
    client.send(&[waits, message("2", "server/discover", "")]).await;
    assert_eq!(client.message().await["id"], 2, "a listen that decides keeps nobody waiting");
    assert_eq!(subscriptions.publish(ToolsChanged), 1);
    subscriptions.handler().release.add_permits(1);
    assert_eq!(client.told().await, told("1", "acknowledged"));
    assert_eq!(client.told().await, told("1", "tools"));
}

#[tokio::test]
async fn an_id_that_is_in_use_is_refused_and_the_first_is_untouched() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut client = Lines::connect(&subscriptions);
    client.listening(r#""\u0041""#, TOOLS).await;
    for second in [
        message(r#""A""#, "subscriptions/listen", &format!(r#""notifications":{PROMPTS}"#)),
        message(r#""A""#, "server/discover", ""),
    ] {
        client.send(&[second]).await;
        let message = client.message().await;
        assert_eq!(refused(&message), (Some(&json!("A")), -32600));
    }
    assert_eq!(subscriptions.open_streams(), 1);
    assert_eq!((subscriptions.publish(PromptsChanged), subscriptions.publish(ToolsChanged)), (0, 1));
    assert_eq!(client.told().await, told(r#""\u0041""#, "tools"), "as it was received");
}

#[tokio::test]
async fn one_that_holds_its_thread_or_waits_delays_no_other() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut client = Lines::connect(&subscriptions);
    for id in ["1", "2"] {
        client.listening(id, TOOLS).await;
    }
    subscriptions.publish(Tell::new("1", Act::Wait));
    subscriptions.handler().waits().await;
    for _ in 0..3 {
        subscriptions.publish(ToolsChanged);
        assert_eq!(client.told().await, told("2", "tools"));
    }
    subscriptions.handler().release.add_permits(1);
    assert_eq!(client.told().await, told("1", "tools"));
}

#[tokio::test]
async fn sixteen_listens_and_a_request_are_served_by_one_thread() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut client = Lines::connect(&subscriptions);
    for id in 0..16 {
        client.listening(&id.to_string(), TOOLS).await;
    }
    client.send(&[message("99", "tools/list", "")]).await;
    assert_eq!(client.message().await["result"]["tools"], json!([]));
}

#[tokio::test]
async fn two_connections_with_the_same_id_do_not_know_each_other() {
    let subscriptions = Probe::serve(|builder| builder);
    let (mut one, mut other) = (Lines::connect(&subscriptions), Lines::connect(&subscriptions));
    one.listening("1", TOOLS).await;
    other.listening("1", PROMPTS).await;
    one.leave().await.unwrap();
    assert_eq!(subscriptions.handler().closes(), 1, "the server has ended, and so has its `handle_close`");
    assert_eq!((subscriptions.publish(ToolsChanged), subscriptions.publish(PromptsChanged)), (0, 1));
    assert_eq!(other.told().await, told("1", "prompts"));
}
