//! The memory of a stream that nobody reads, however much is published.
//!
//! A process of its own, since it counts what the process allocates. `MCP_SUB_EVENTS` is the number of events; see
//! CONTRIBUTING.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use mcp_sub::{Limits, Subscriptions};
use mcp_sub_tests::{META, Probe, ToolsChanged, Updated};
use peak_alloc::PeakAlloc;
use tower_service::Service;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// So that a run in passing says something, and costs little.
const EVENTS: usize = 200_000;
const URIS: usize = 100;
const SLOT: usize = 256;
/// A waiting event and its URI, and what a URI costs that waits to be told, generously.
const PER_EVENT: usize = 256;
const PER_URI: usize = 64;

#[tokio::test]
async fn promise_4_a_stream_that_nobody_reads_holds_what_its_filter_and_its_slot_allow() {
    let events = std::env::var("MCP_SUB_EVENTS").map_or(EVENTS, |events| events.parse().unwrap());
    let subscriptions = Probe::serve(|builder| builder.limits(Limits::default().with_slot(SLOT)));
    let uris: Vec<String> = (0..URIS).map(|uri| format!("file:///{uri}")).collect();
    let mut body = listen(&subscriptions, &uris).await;
    assert!(body.frame().await.is_some(), "the acknowledgement");

    let before = ALLOCATED.current_usage();
    ALLOCATED.reset_peak_usage();
    for event in 0..events {
        let concerned = match event % 3 {
            0 => subscriptions.publish(ToolsChanged),
            1 => subscriptions.publish_for(&uris[event % URIS], Updated(uris[event % URIS].clone())),
            _ => subscriptions.publish(Updated(uris[event % URIS].clone())),
        };
        assert_eq!(concerned, 1);
    }
    let (held, peak) = (ALLOCATED.current_usage() - before, ALLOCATED.peak_usage() - before);
    println!("{events} events: {held} bytes held, {peak} at most");
    assert!(peak <= SLOT * PER_EVENT + URIS * PER_URI + 4096, "{peak} bytes");

    // What it comes back to: everything that changed, each once.
    let mut told = std::collections::BTreeMap::<String, usize>::new();
    let deadline = tokio::time::Instant::now() + mcp_sub_tests::PATIENCE;
    while told.len() <= URIS {
        let frames = tokio::time::timeout_at(deadline, body.frame()).await.expect("all is told");
        let frames = frames.unwrap().unwrap().into_data().unwrap();
        for frame in
            std::str::from_utf8(&frames).unwrap().lines().filter_map(|line| line.strip_prefix("data: "))
        {
            let message: serde_json::Value = serde_json::from_str(frame).unwrap();
            let what = message["params"]["uri"].as_str().unwrap_or("tools").to_owned();
            *told.entry(what).or_default() += 1;
        }
    }
    assert!(
        told.values().all(|&times| times <= 2),
        "once for what was queued, once for what was not: {told:?}"
    );
}

async fn listen(subscriptions: &Subscriptions<Probe>, uris: &[String]) -> mcp_sub::http::Body {
    let notifications = serde_json::json!({"toolsListChanged": true, "resourceSubscriptions": uris});
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{{{META},"notifications":{notifications}}}}}"#
    );
    let request = Request::post("/mcp")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "subscriptions/listen")
        .body(Full::new(Bytes::from(body)))
        .unwrap();
    subscriptions.http().call(request).await.unwrap().into_body()
}
