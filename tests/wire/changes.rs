//! Promise 4: no change is lost silently, and memory is bounded.

use std::time::{Duration, Instant};

use mcp_sub::{Kinds, Limits};
use mcp_sub_tests::{
    Act, Client, Probe, PromptsChanged, Request, ResourcesChanged, Response, Server, Tell, ToolsChanged,
    Updated,
};

fn long_uri(name: &str) -> String {
    format!("file:///{name}/{}", "x".repeat(1000))
}

fn uris(uris: &[String]) -> String {
    serde_json::to_string(uris).expect("strings are JSON")
}

/// What is told up to and with `last`.
async fn told_until(stream: &mut Response, last: &str) -> Vec<String> {
    let mut told = Vec::new();
    while told.last().is_none_or(|told| told != last) {
        told.push(stream.told().await);
    }
    told
}

/// 10,000 events for a client that takes none, and at the end one each for what nothing was told about before: only what
/// is remembered across the stall can tell of those.
#[tokio::test]
async fn promise_4_a_reader_that_pauses_is_told_of_every_change() {
    for slot in [4, 0, 256] {
        let subscriptions = Probe::serve(|builder| builder.limits(Limits::default().with_slot(slot)));
        let server = Server::start_narrow(subscriptions.http());
        let (busy, late): (Vec<_>, Vec<_>) = (
            (0..10).map(|i| long_uri(&format!("busy{i}"))).collect(),
            (0..20).map(|i| long_uri(&format!("late{i}"))).collect(),
        );
        let all = [&busy[..], &late[..]].concat();
        let filter = format!(
            r#"{{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":{}}}"#,
            uris(&all)
        );
        let client = Client::connect_narrow(server.address()).await;
        let mut stream = client.send(&Request::listen("1", &filter)).await;
        for i in 0..10_000 {
            let uri = &busy[i % busy.len()];
            assert_eq!(subscriptions.publish_for(uri, Updated(uri.clone())), 1, "the stream stays");
            if i % 2 == 0 {
                tokio::task::yield_now().await;
            }
        }
        for uri in &late {
            subscriptions.publish_for(uri, Updated(uri.clone()));
        }
        subscriptions.publish(PromptsChanged);
        subscriptions.publish(ToolsChanged);
        subscriptions.publish(ResourcesChanged);

        stream.acknowledged().await;
        let mut missing: std::collections::HashSet<_> =
            late.iter().cloned().chain(["prompts", "tools", "resources"].map(String::from)).collect();
        let mut frames = 0;
        while !missing.is_empty() {
            missing.remove(&stream.told().await);
            frames += 1;
        }
        assert!(frames < 3_000, "what waits is merged: {frames} frames");
        // The stream goes on as if nothing had been.
        subscriptions.publish_for(&busy[0], Updated(busy[0].clone()));
        told_until(&mut stream, &busy[0]).await;
        assert_eq!(subscriptions.open_streams(), 1);
    }
}

#[tokio::test]
async fn promise_4_a_burst_merges_and_what_follows_it_is_told() {
    let subscriptions = Probe::serve(|builder| builder.limits(Limits::default().with_slot(4)));
    let server = Server::start(subscriptions.http());
    let mut stream = server.listening("1", r#"{"toolsListChanged":true,"promptsListChanged":true}"#).await;
    for _ in 0..10 {
        // One thread: nothing is taken out of the slot meanwhile.
        for _ in 0..200 {
            subscriptions.publish(ToolsChanged);
        }
        subscriptions.publish(PromptsChanged);
        assert_eq!([stream.told().await, stream.told().await], ["tools", "prompts"]);
        subscriptions.publish(ToolsChanged);
        assert_eq!(stream.told().await, "tools");
    }
}

#[tokio::test]
async fn promise_4_different_uris_are_not_merged() {
    let subscriptions = Probe::serve(|builder| builder.limits(Limits::default().with_slot(4)));
    let server = Server::start(subscriptions.http());
    let filter = r#"{"resourceSubscriptions":["a:1","a:2","a:3","a:4","a:5","a:6"]}"#;
    let mut stream = server.listening("1", filter).await;
    for _ in 0..3 {
        for uri in ["a:6", "a:5", "a:4", "a:3", "a:2", "a:1", "a:1"] {
            subscriptions.publish_for(uri, Updated(uri.into()));
        }
        assert_eq!(told_until(&mut stream, "a:1").await, ["a:6", "a:5", "a:4", "a:3", "a:2", "a:1"]);
    }
}

/// While a method waits, events queue up in the slot and overflow it.
#[tokio::test]
async fn promise_4_a_method_that_waits_loses_nothing() {
    let subscriptions = Probe::serve(|builder| builder.limits(Limits::default().with_slot(2)));
    let server = Server::start(subscriptions.http());
    let filter =
        r#"{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a:1","a:2"]}"#;
    let mut stream = server.listening("1", filter).await;
    subscriptions.publish(Tell::new("1", Act::Wait));
    subscriptions.handler().waits().await;
    for _ in 0..100 {
        subscriptions.publish_for("a:2", Updated("a:2".into()));
        subscriptions.publish(PromptsChanged);
    }
    // Without a URI: it can have been any of them.
    subscriptions.publish(Updated("a:1".into()));
    subscriptions.handler().release.add_permits(1);
    let mut told = vec![stream.told().await, stream.told().await, stream.told().await, stream.told().await];
    told.sort();
    told.dedup();
    assert_eq!(told, ["a:1", "a:2", "prompts", "tools"]);
}

#[tokio::test]
async fn promise_4_nothing_is_told_of_what_happened_before_the_listen() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    for _ in 0..2 {
        assert_eq!(subscriptions.publish(ToolsChanged), 0);
        let mut stream =
            server.listening("1", r#"{"toolsListChanged":true,"promptsListChanged":true}"#).await;
        subscriptions.publish(PromptsChanged);
        assert_eq!(stream.told().await, "prompts");
        stream.leave();
        mcp_sub_tests::eventually("the stream is gone", || subscriptions.open_streams() == 0).await;
    }
}

/// More than what is handled in one go.
#[tokio::test]
async fn promise_4_a_long_queue_is_told_whole() {
    for slot in [1_000, 256, 300] {
        let subscriptions = Probe::serve(|builder| builder.limits(Limits::default().with_slot(slot)));
        let server = Server::start(subscriptions.http());
        let all: Vec<String> = (0..900).map(|i| format!("a:{i}")).collect();
        let filter = format!(r#"{{"toolsListChanged":true,"resourceSubscriptions":{}}}"#, uris(&all));
        let mut stream = server.listening("1", &filter).await;
        subscriptions.publish(Tell::new("1", Act::Wait));
        subscriptions.handler().waits().await;
        for uri in &all {
            subscriptions.publish_for(uri, Updated(uri.clone()));
        }
        subscriptions.handler().release.add_permits(1);
        assert_eq!(stream.told().await, "tools");
        for uri in &all {
            assert_eq!(stream.told().await, *uri, "slot of {slot}");
        }
    }
}

#[tokio::test]
async fn promise_4_in_a_window_what_repeats_is_held_and_told_at_its_end_or_before_the_result() {
    const WINDOW: Duration = Duration::from_millis(20);
    let long = Duration::from_secs(3600);
    let subscriptions = Probe::serve(|builder| {
        builder.coalesce(Kinds::TOOLS_LIST_CHANGED, long).coalesce(Kinds::RESOURCES_UPDATED, WINDOW)
    });
    let server = Server::start(subscriptions.http());
    let filter =
        r#"{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a:1","a:2"]}"#;
    let mut stream = server.listening("1", filter).await;
    subscriptions.publish(ToolsChanged);
    assert_eq!(stream.told().await, "tools");
    for _ in 0..3 {
        subscriptions.publish(ToolsChanged);
        subscriptions.publish(PromptsChanged);
        assert_eq!(stream.told().await, "prompts", "which does not wait");
    }

    let start = Instant::now();
    for uri in ["a:1", "a:2"] {
        subscriptions.publish_for(uri, Updated(uri.into()));
        assert_eq!(stream.told().await, uri);
    }
    for uri in ["a:1", "a:1", "a:2", "a:2"] {
        subscriptions.publish_for(uri, Updated(uri.into()));
    }
    let mut told = [stream.told().await, stream.told().await];
    told.sort();
    assert_eq!(told, ["a:1", "a:2"]);
    assert!(start.elapsed() >= WINDOW);

    let shutdown = subscriptions.shutdown(Duration::from_secs(10));
    let ((), _) = tokio::join!(
        async {
            assert_eq!([stream.told().await, stream.told().await], ["tools", "result"]);
        },
        shutdown
    );
}
