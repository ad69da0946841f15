//! How streams and connections end.

use std::time::Duration;

use mcp_sub::{CloseReason, Limits};
use mcp_sub_tests::{Act, Lines, PATIENCE, Probe, Tell, ToolsChanged, message};
use serde_json::json;

use super::{PROMPTS, TOOLS, refused, told};

#[tokio::test]
async fn promise_7_each_ending_is_one_message_and_the_others_go_on() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut client = Lines::connect(&subscriptions);
    client.listening("\"stays\"", TOOLS).await;
    for (act, tells, ending) in [
        (Act::TellAndStop, true, "result"),
        (Act::TellAndFail("secret"), true, "error handler_failed"),
        (Act::Panic, false, "error panicked"),
    ] {
        client.listening("1", TOOLS).await;
        subscriptions.publish(Tell::new("1", act));
        if tells {
            assert_eq!(client.told().await, told("1", "tools"));
        }
        assert_eq!(client.told().await, told("1", ending));
        // And the id is free.
    }
    subscriptions.publish(ToolsChanged);
    assert_eq!(client.told().await, told("\"stays\"", "tools"));
    assert_eq!(subscriptions.open_streams(), 1);
}

#[tokio::test]
async fn a_rejection_is_an_error_of_its_kind() {
    let subscriptions = Probe::serve(|builder| builder.limits(Limits::default().with_streams(1)));
    let mut client = Lines::connect(&subscriptions);
    for (told, code) in [("reject", -32603), ("invalid", -32602), ("panic", -32603)] {
        let told = format!(r#""_meta":{{"x-subscribe":"{told}","#);
        let listen = message("1", "subscriptions/listen", &format!(r#""notifications":{TOOLS}"#));
        client.send(&[listen.replace(r#""_meta":{"#, &told)]).await;
        let message = client.message().await;
        assert_eq!(refused(&message), (Some(&json!(1)), code));
    }
    client.listening("1", TOOLS).await;
    client.listen("2", TOOLS).await;
    let message = client.message().await;
    assert_eq!(
        (refused(&message), &message["error"]["data"]["limit"]),
        ((Some(&json!(2)), -32603), &json!("streams"))
    );
}

#[tokio::test]
async fn nothing_honoured_is_acknowledged_and_over() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut client = Lines::connect(&subscriptions);
    assert_eq!(client.listening("1", "{}").await, json!({}));
    assert_eq!(client.told().await, told("1", "result"));
    assert_eq!(subscriptions.open_streams(), 0);
}

#[tokio::test]
async fn by_option_cancelled_comes_before_the_response_whatever_that_is() {
    let subscriptions = Probe::serve(|builder| builder.stdio_cancelled(true));
    let mut client = Lines::connect(&subscriptions);
    for (act, response) in [(Act::Stop("x"), "result"), (Act::Panic, "error panicked")] {
        client.listening("\"é\"", TOOLS).await;
        subscriptions.publish(Tell::new("\"é\"", act));
        let cancelled = client.message().await;
        assert_eq!(
            cancelled,
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "é"}})
        );
        assert_eq!(client.told().await, told("\"é\"", response));
    }
    // For nothing else: not for what never opened, nor for other requests.
    client.listen("2", "[]").await;
    assert_eq!(client.message().await["error"]["code"], -32602);
}

#[tokio::test]
async fn the_end_of_the_input_answers_what_was_asked_and_ends_the_streams() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut client = Lines::connect(&subscriptions);
    let listen = message("1", "subscriptions/listen", &format!(r#""notifications":{TOOLS}"#));
    // The last line has no newline.
    client.write(format!("{listen}\n{}", message("2", "server/discover", ""))).await;
    client.end_input();
    let mut rest = client.rest().await;
    rest.sort_by_key(|message| message["id"].as_i64());
    assert_eq!(rest.len(), 3, "{rest:?}");
    assert_eq!(rest[0]["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(rest[1]["result"]["resultType"], "complete");
    assert_eq!(rest[2]["result"]["supportedVersions"], json!(["2026-07-28"]));
    client.ended().await.unwrap();
    assert_eq!(subscriptions.handler().closed(1).await[0].1, CloseReason::Disconnected);
}

#[tokio::test]
async fn what_was_published_before_the_end_is_told_before_the_result() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut client = Lines::connect(&subscriptions);
    client.listening("1", TOOLS).await;
    subscriptions.publish(ToolsChanged);
    client.end_input();
    assert_eq!(client.told().await, told("1", "tools"));
    assert_eq!(client.told().await, told("1", "result"));
    assert_eq!(client.text().await, None);
}

#[tokio::test]
async fn a_signal_ends_this_connection_and_no_other() {
    let subscriptions = Probe::serve(|builder| builder);
    let (mut one, mut other) = (Lines::connect(&subscriptions), Lines::connect(&subscriptions));
    one.listening("1", TOOLS).await;
    other.listening("1", PROMPTS).await;
    one.stop();
    assert_eq!(one.told().await, told("1", "result"));
    assert_eq!(one.text().await, None);
    one.ended().await.unwrap();
    assert_eq!(subscriptions.handler().closed(1).await[0].1, CloseReason::Shutdown);
    // A shutdown ends the streams of all; the connection is the client's still.
    subscriptions.shutdown(PATIENCE).await;
    assert_eq!(other.told().await, told("1", "result"));
    other.listen("2", TOOLS).await;
    assert_eq!(other.message().await["error"]["data"]["limit"], "shutdown");
}

#[tokio::test]
async fn a_client_that_leaves_is_no_error_and_ends_a_subscribe_that_waits() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut client = Lines::connect(&subscriptions);
    client.listening("1", TOOLS).await;
    let waits = message("2", "subscriptions/listen", &format!(r#""notifications":{TOOLS}"#))
        .replace(r#""_meta":{"#, r#""_meta":{"x-subscribe":"wait","#);
    client.send(&[waits]).await;
    subscriptions.handler().waits().await;
    client.leave().await.unwrap();
    assert_eq!(subscriptions.handler().closed(1).await[0].1, CloseReason::Disconnected);
    assert_eq!((subscriptions.open_streams(), subscriptions.handler().dropped()), (0, 1));
}

#[tokio::test]
async fn the_end_waits_for_handle_close_and_not_for_ever() {
    let limits = Limits::default().with_drain(Duration::from_millis(50));
    let mut probe = Probe::default();
    probe.close_gate = Some(tokio::sync::Semaphore::new(0));
    let subscriptions = probe.served(|builder| builder.limits(limits));
    let mut client = Lines::connect(&subscriptions);
    client.listening("1", TOOLS).await;
    client.end_input();
    assert_eq!(client.told().await, told("1", "result"));
    client.ended().await.unwrap();
    assert_eq!(subscriptions.handler().closes(), 0, "it is still waiting, and was waited for");
}

#[tokio::test]
async fn who_drains_for_ever_ends_when_all_is_said() {
    let subscriptions = Probe::serve(|builder| builder.limits(Limits::default().with_drain(Duration::MAX)));
    let mut client = Lines::connect(&subscriptions);
    client.listening("1", TOOLS).await;
    client.end_input();
    assert_eq!(client.told().await, told("1", "result"));
    client.ended().await.unwrap();
}

#[tokio::test]
async fn who_does_not_drain_cuts_and_ends() {
    let subscriptions = Probe::serve(|builder| builder.limits(Limits::default().with_drain(Duration::ZERO)));
    let mut client = Lines::connect(&subscriptions);
    client.listening("1", TOOLS).await;
    client.end_input();
    client.ended().await.unwrap();
    subscriptions.handler().closed(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_method_that_holds_its_thread_does_not_hold_the_end() {
    let limits = Limits::default().with_drain(Duration::from_millis(50));
    let subscriptions = Probe::serve(|builder| builder.limits(limits));
    let mut client = Lines::connect(&subscriptions);
    client.listening("1", TOOLS).await;
    subscriptions.publish(Tell::new("1", Act::Block));
    subscriptions.handler().waits().await;
    client.end_input();
    client.ended().await.unwrap();
    assert_eq!(subscriptions.handler().closes(), 0);
    subscriptions.handler().release.add_permits(1);
    subscriptions.handler().closed(1).await;
}
