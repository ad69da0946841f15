//! Inside an rmcp server, where who asks makes no difference: all promises, with rmcp's client and line by line.

use std::{sync::Mutex, time::Duration};

use mcp_sub::{
    Channel, CloseReason, Kinds, Limits, Rejection, SubscriptionHandler, Subscriptions, subscription_handler,
};
use mcp_sub_tests::{PATIENCE, Probe, ToolsChanged, Updated, eventually, within};
use rmcp::{
    ClientLifecycleMode, ClientServiceExt as _, RoleClient, ServiceExt as _,
    model::{ClientConfig, GetMeta as _, ProtocolVersion, ServerNotification, SubscriptionFilter},
    service::{RunningService, SubscriptionEnd},
};
use serde_json::json;

use crate::inside::{Inside, Lines, Public};

/// What the attribute makes of a `subscribe` that takes a request, and of one that takes none.
const _: () = assert!(<Probe as SubscriptionHandler>::DEPENDS_ON_CALLER);
const _: () = assert!(!<Public as SubscriptionHandler>::DEPENDS_ON_CALLER);

async fn client(subscriptions: &mcp_sub::Subscriptions<Public>) -> RunningService<RoleClient, ClientConfig> {
    let (ours, theirs) = tokio::io::duplex(4096);
    let server = Inside(subscriptions.clone());
    tokio::spawn(async move { server.serve(theirs).await.unwrap().waiting().await });
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    within("it discovers", ClientConfig::default().serve_with_lifecycle(ours, lifecycle)).await.unwrap()
}

fn tools_and(uris: &[&str]) -> SubscriptionFilter {
    let uris = uris.iter().map(|&uri| uri.to_owned());
    SubscriptionFilter::builder().tools_list_changed().resource_subscriptions(uris).build()
}

#[tokio::test]
async fn what_subscribe_left_is_acknowledged_told_and_ended_with_a_result() {
    let (subscriptions, mut closed) = Public::serve(|builder| builder);
    let client = client(&subscriptions).await;
    let info = serde_json::to_value(client.peer_info().unwrap()).unwrap();
    assert_eq!(
        info["capabilities"],
        json!({"tools": {"listChanged": true}, "prompts": {}, "resources": {"subscribe": true}})
    );
    let mut subscription = within("it listens", client.listen(tools_and(&["b:1", "a:1"]))).await.unwrap();
    assert_eq!(*subscription.acknowledged(), tools_and(&["a:1"]));
    subscriptions.publish_for("b:1", Updated("b:1".into()));
    subscriptions.publish_for("a:1", Updated("a:1".into()));
    let heard = within("it hears", subscription.next()).await.unwrap().unwrap();
    assert_eq!(heard.get_meta().subscription_id().as_ref(), Some(subscription.id()));
    let ServerNotification::ResourceUpdatedNotification(updated) = heard else { panic!("{heard:?}") };
    assert_eq!(updated.params.uri, "a:1");

    let shutdown = subscriptions.shutdown(PATIENCE).await;
    assert_eq!((shutdown.completed, shutdown.cut), (1, 0));
    assert!(within("the end", subscription.next()).await.unwrap().is_none());
    assert!(matches!(subscription.end(), Some(SubscriptionEnd::Graceful(_))), "{:?}", subscription.end());
    assert_eq!(closed.recv().await, Some(CloseReason::Shutdown));
    assert!(closed.try_recv().is_err(), "closed once");
    let stats = subscriptions.stats();
    assert_eq!((stats.opened, stats.events, stats.notifications, stats.open), (1, 1, 1, 0));
}

#[tokio::test]
async fn a_cancelled_listen_is_closed_once_and_others_go_on() {
    let (subscriptions, mut closed) = Public::serve(|builder| builder);
    let client = client(&subscriptions).await;
    let mut stays = within("it listens", client.listen(tools_and(&[]))).await.unwrap();
    for _ in 0..3 {
        let mut subscription = within("it listens", client.listen(tools_and(&[]))).await.unwrap();
        assert_eq!(subscriptions.open_streams(), 2);
        within("it cancels", subscription.cancel()).await.unwrap();
        assert_eq!(within("it is closed", closed.recv()).await, Some(CloseReason::Disconnected));
        assert_eq!(subscriptions.open_streams(), 1);
    }
    subscriptions.publish(ToolsChanged);
    assert!(within("it hears", stays.next()).await.unwrap().is_some());
    assert!(closed.try_recv().is_err(), "closed once each");
}

#[tokio::test]
async fn the_acknowledgement_comes_first_and_ids_go_back_as_they_came() {
    let (subscriptions, _closed) = Public::serve(|builder| builder);
    let mut lines = Lines::connect(&subscriptions, 4096);
    for id in ["7", "\"7\"", "-1"] {
        lines
            .listen(id, r#"{"toolsListChanged":true,"resourceSubscriptions":["b:1","a:told-at-once"]}"#)
            .await;
        let id: serde_json::Value = serde_json::from_str(id).unwrap();
        let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
        let acknowledged = lines.next().await;
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(
            acknowledged["params"],
            json!({"_meta": meta, "notifications":
                {"toolsListChanged": true, "resourceSubscriptions": ["a:told-at-once"]}})
        );
        let told = lines.next().await;
        assert_eq!(told["params"], json!({"_meta": meta, "uri": "a:told-at-once"}));
    }
    assert_eq!(subscriptions.publish(ToolsChanged), 3);
    let mut told = Vec::new();
    for _ in 0..3 {
        let line = lines.next().await;
        assert_eq!(line["method"], "notifications/tools/list_changed");
        told.push(line["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].to_string());
    }
    told.sort();
    assert_eq!(told, ["\"7\"", "-1", "7"]);
}

#[tokio::test]
async fn nothing_left_is_acknowledged_empty_and_completed() {
    let (subscriptions, mut closed) = Public::serve(|builder| builder);
    let mut lines = Lines::connect(&subscriptions, 4096);
    lines.listen("1", r#"{"promptsListChanged":true,"resourceSubscriptions":["b:1"]}"#).await;
    assert_eq!(lines.next().await["params"]["notifications"], json!({}));
    let result = lines.next().await;
    assert_eq!((&result["id"], &result["result"]["resultType"]), (&json!(1), &json!("complete")));
    assert_eq!(closed.recv().await, Some(CloseReason::Completed));
}

#[tokio::test]
async fn a_refusal_is_acknowledged_empty_and_has_its_code_and_data() {
    let limits = Limits::default().with_streams(1).with_uris(2);
    let (subscriptions, mut closed) = Public::serve(|builder| builder.limits(limits));
    let mut lines = Lines::connect(&subscriptions, 4096);
    for (filter, error) in [
        (r#"{"resourceSubscriptions":["a:1","a:2","a:3"]}"#, json!([-32602, {"limit": "uris"}])),
        (r#"{"resourceSubscriptions":["no uri"]}"#, json!([-32602, null])),
        (r#"{"resourceSubscriptions":["a:rejected"]}"#, json!([4001, null])),
    ] {
        lines.listen("1", filter).await;
        assert_eq!(lines.next().await["params"]["notifications"], json!({}), "{filter}");
        let refused = lines.next().await;
        assert_eq!(refused["id"], 1);
        assert_eq!(json!([refused["error"]["code"], refused["error"]["data"]]), error, "{filter}");
    }
    lines.listen("2", r#"{"toolsListChanged":true}"#).await;
    assert_eq!(lines.next().await["params"]["notifications"], json!({"toolsListChanged": true}));
    lines.listen("3", r#"{"toolsListChanged":true}"#).await;
    assert_eq!(lines.next().await["params"]["notifications"], json!({}));
    let refused = lines.next().await;
    assert_eq!((&refused["id"], &refused["error"]["data"]), (&json!(3), &json!({"limit": "streams"})));
    let stats = subscriptions.stats();
    assert_eq!((stats.opened, stats.rejected), (1, 1));
    assert!(closed.try_recv().is_err(), "none of them was accepted but the one that is open");
}

#[tokio::test]
async fn a_storm_at_a_client_that_does_not_read_is_told_once_and_nobody_waits() {
    let (subscriptions, _closed) = Public::serve(|builder| builder.limits(Limits::default().with_slot(4)));
    let mut stuck = Lines::connect(&subscriptions, 64);
    let mut quick = Lines::connect(&subscriptions, 4096);
    stuck.listen("1", r#"{"toolsListChanged":true,"resourceSubscriptions":["a:1","a:2"]}"#).await;
    quick.listen("1", r#"{"toolsListChanged":true}"#).await;
    quick.next().await;
    eventually("both are open", || subscriptions.open_streams() == 2).await;
    for _ in 0..1_000 {
        subscriptions.publish(ToolsChanged);
        subscriptions.publish_for("a:2", Updated("a:2".into()));
        subscriptions.publish_for("a:1", Updated("a:1".into()));
        quick.next().await;
    }
    assert_eq!(stuck.next().await["method"], "notifications/subscriptions/acknowledged");
    let ending = tokio::spawn(async move { subscriptions.shutdown(PATIENCE).await });
    let mut told = Vec::new();
    loop {
        let line = stuck.next().await;
        if line["id"] == 1 {
            break;
        }
        told.push(line["params"]["uri"].as_str().unwrap_or("tools").to_owned());
    }
    for each in ["tools", "a:1", "a:2"] {
        assert!(told.iter().any(|told| told == each), "{told:?}");
    }
    assert!(told.len() < 40, "{told:?}");
    let shutdown = ending.await.unwrap();
    assert_eq!((shutdown.completed, shutdown.cut), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_nothing_is_ended_as_stalled() {
    let limits = Limits::default().with_write_timeout(Duration::from_secs(5));
    let (subscriptions, mut closed) = Public::serve(|builder| builder.limits(limits));
    let mut stuck = Lines::connect(&subscriptions, 64);
    stuck.listen("1", r#"{"toolsListChanged":true}"#).await;
    stuck.next().await;
    eventually("it is open", || subscriptions.open_streams() == 1).await;
    let begun = tokio::time::Instant::now();
    let publishing = subscriptions.clone();
    let publishing = tokio::spawn(async move {
        loop {
            publishing.publish(ToolsChanged);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    assert_eq!(within("it is closed", closed.recv()).await, Some(CloseReason::Stalled));
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    publishing.abort();
}

#[tokio::test(start_paused = true)]
async fn coalescing_and_expiry_are_as_elsewhere() {
    let limits = Limits::default().with_lifetime(Duration::from_secs(20));
    let (subscriptions, mut closed) = Public::serve(|builder| {
        builder.coalesce(Kinds::TOOLS_LIST_CHANGED, Duration::from_secs(1)).limits(limits)
    });
    let mut lines = Lines::connect(&subscriptions, 4096);
    lines.listen("1", r#"{"toolsListChanged":true}"#).await;
    lines.next().await;
    let begun = tokio::time::Instant::now();
    for _ in 0..50 {
        subscriptions.publish(ToolsChanged);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(lines.next().await["method"], "notifications/tools/list_changed");
    assert_eq!(lines.next().await["method"], "notifications/tools/list_changed");
    assert!(begun.elapsed() >= Duration::from_secs(1));
    let expired = lines.next().await;
    assert_eq!((&expired["id"], &expired["error"]["data"]), (&json!(1), &json!({"reason": "expired"})));
    assert!(begun.elapsed() >= Duration::from_secs(19));
    assert_eq!(closed.recv().await, Some(CloseReason::Expired));
    assert_eq!(subscriptions.stats().notifications, 2);
}

#[tokio::test]
async fn a_connection_that_ends_closes_all_its_streams() {
    let (subscriptions, mut closed) = Public::serve(|builder| builder);
    let mut lines = Lines::connect(&subscriptions, 4096);
    for id in ["1", "2", "3"] {
        lines.listen(id, r#"{"toolsListChanged":true}"#).await;
        lines.next().await;
    }
    drop(lines);
    // rmcp waits for open requests first.
    for _ in 0..3 {
        assert_eq!(within("it is closed", closed.recv()).await, Some(CloseReason::Disconnected));
    }
    assert_eq!(subscriptions.open_streams(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_acknowledgement_that_no_listen_follows_leaves_nothing() {
    let (subscriptions, mut closed) = Public::serve(|builder| builder);
    let tools = SubscriptionFilter::builder().tools_list_changed().build();
    let ask = async || {
        let (subscriptions, tools) = (subscriptions.clone(), tools.clone());
        tokio::spawn(async move { subscriptions.accepted_subscription_filter(&tools) }).await
    };
    for _ in 0..3 {
        assert_eq!(ask().await.unwrap(), Some(tools.clone()));
    }
    assert_eq!(subscriptions.publish(ToolsChanged), 3, "they are registered already");
    tokio::time::sleep(Duration::from_secs(90)).await;
    for _ in 0..3 {
        assert_eq!(within("it is closed", closed.recv()).await, Some(CloseReason::Stalled));
    }
    assert_eq!((subscriptions.open_streams(), subscriptions.publish(ToolsChanged)), (0, 0));
    ask().await.unwrap();
    let shutdown = subscriptions.shutdown(Duration::from_secs(1)).await;
    assert_eq!((shutdown.completed, shutdown.cut), (0, 1), "the others are forgotten");
}

/// Has to wait before it decides, whoever asks.
struct Slow(Mutex<Vec<CloseReason>>);

#[subscription_handler]
#[expect(clippy::unused_self, reason = "the attribute asks for this shape")]
impl Slow {
    async fn subscribe(&self) -> Result<(), Rejection> {
        tokio::task::yield_now().await;
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn tools_changed(&self, _: &ToolsChanged, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    fn handle_close(&self, reason: CloseReason, (): ()) {
        self.0.lock().unwrap().push(reason);
    }
}

#[tokio::test]
async fn a_decision_that_has_to_wait_is_made_after_the_acknowledgement_and_closed_once() {
    let subscriptions = Subscriptions::builder(Slow(Mutex::default())).build();
    let mut lines = Lines::connect(&subscriptions, 4096);
    lines.listen("1", r#"{"toolsListChanged":true,"promptsListChanged":true}"#).await;
    assert_eq!(lines.next().await["params"]["notifications"], json!({"toolsListChanged": true}));
    assert_eq!(subscriptions.publish(ToolsChanged), 1, "it is registered, decided or not");
    assert_eq!(lines.next().await["method"], "notifications/tools/list_changed");
    subscriptions.shutdown(PATIENCE).await;
    assert_eq!(lines.next().await["result"]["resultType"], "complete");
    assert_eq!(*subscriptions.handler().0.lock().unwrap(), [CloseReason::Shutdown]);
}
