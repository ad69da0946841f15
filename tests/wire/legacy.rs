//! Clients of 2025-11-25 inside an rmcp server: rmcp's own client in its older mode, and line by line.

use std::collections::HashMap;

use mcp_sub::{CloseReason, Limits, Subscriptions};
use mcp_sub_tests::{
    Act, PATIENCE, Probe, PromptsChanged, Request, Server, Tell, ToolsChanged, Updated, eventually, within,
};
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt as _, RoleClient, ServiceError,
    model::{ResourceUpdatedNotificationParam, SubscribeRequestParams, UnsubscribeRequestParams},
    service::{NotificationContext, RunningService},
    transport::{StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use serde_json::json;
use tokio::sync::mpsc;

use crate::inside::{Lines, over_http, under_the_layer};

/// Hears what a session is told outside of any listen, and whether it is tagged.
struct Ears(mpsc::UnboundedSender<(String, bool)>);

impl Ears {
    fn hear(&self, what: &str, context: &NotificationContext<RoleClient>) {
        let tagged = context.meta.subscription_id().is_some();
        self.0.send((what.to_owned(), tagged)).ok();
    }
}

impl ClientHandler for Ears {
    async fn on_tool_list_changed(&self, context: NotificationContext<RoleClient>) {
        self.hear("tools", &context);
    }

    async fn on_prompt_list_changed(&self, context: NotificationContext<RoleClient>) {
        self.hear("prompts", &context);
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        context: NotificationContext<RoleClient>,
    ) {
        self.hear(&params.uri, &context);
    }
}

struct Session {
    client: RunningService<RoleClient, Ears>,
    heard: mpsc::UnboundedReceiver<(String, bool)>,
}

#[allow(deprecated, reason = "they are methods of older revisions")]
impl Session {
    async fn begin(server: &Server, headers: &[(&'static str, &'static str)]) -> Self {
        let headers: HashMap<_, _> = headers
            .iter()
            .map(|&(name, value)| {
                (http::HeaderName::from_static(name), http::HeaderValue::from_static(value))
            })
            .collect();
        let url = format!("http://{}/mcp", server.address());
        let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
        let transport = StreamableHttpClientTransport::from_config(config);
        let (told, heard) = mpsc::unbounded_channel();
        let client = Ears(told).serve_with_lifecycle(transport, ClientLifecycleMode::Initialize);
        Self { client: within("a session", client).await.unwrap(), heard }
    }

    async fn subscribe(&self, uri: &str) -> Result<(), ServiceError> {
        within("an answer", self.client.subscribe(SubscribeRequestParams::new(uri))).await
    }

    async fn unsubscribe(&self, uri: &str) {
        within("an answer", self.client.unsubscribe(UnsubscribeRequestParams::new(uri))).await.unwrap();
    }

    /// What it is told next. Nothing in a session is ever tagged.
    async fn told(&mut self) -> String {
        let (what, tagged) = within("it hears", self.heard.recv()).await.unwrap();
        assert!(!tagged, "{what} has a subscription id");
        what
    }
}

fn served() -> (Subscriptions<Probe>, Server) {
    let subscriptions = Probe::serve(|builder| builder);
    let server = over_http(&subscriptions);
    (subscriptions, server)
}

async fn open(subscriptions: &Subscriptions<Probe>, count: usize) {
    eventually("they are open", || subscriptions.handler().accepted() == count).await;
}

#[tokio::test]
async fn a_session_hears_of_lists_and_of_what_it_subscribed_to_without_tags() {
    let (subscriptions, server) = served();
    let mut session = Session::begin(&server, &[]).await;
    open(&subscriptions, 1).await;
    subscriptions.publish_for("a:1", Updated("a:1".into()));
    subscriptions.publish(ToolsChanged);
    assert_eq!(session.told().await, "tools");
    session.subscribe("a:1").await.unwrap();
    session.subscribe("a:1").await.unwrap();
    assert_eq!(subscriptions.open_streams(), 2, "once, however often it asks");
    subscriptions.publish_for("a:1", Updated("a:1".into()));
    assert_eq!(session.told().await, "a:1");
    session.unsubscribe("a:1").await;
    session.unsubscribe("a:1").await;
    assert_eq!(subscriptions.open_streams(), 1);
    assert_eq!(subscriptions.publish_for("a:1", Updated("a:1".into())), 0);
    subscriptions.publish(PromptsChanged);
    assert_eq!(session.told().await, "prompts");
    let closed = subscriptions.handler().closed(1).await;
    assert_eq!(closed[0].1, CloseReason::Cancelled);
}

#[tokio::test]
async fn what_subscribe_takes_away_is_refused_like_what_is_not_there() {
    let (subscriptions, server) = served();
    let mut session = Session::begin(&server, &[("x-deny", "secret")]).await;
    open(&subscriptions, 1).await;
    let refused = session.subscribe("secret:1").await.unwrap_err();
    let ServiceError::McpError(refused) = refused else { panic!("{refused:?}") };
    assert_eq!((refused.code.0, &refused.data), (-32002, &Some(json!({"uri": "secret:1"}))));
    let refused = session.subscribe("no uri").await.unwrap_err();
    let ServiceError::McpError(refused) = refused else { panic!("{refused:?}") };
    assert_eq!(refused.code.0, -32602);
    session.subscribe("a:1").await.unwrap();
    assert_eq!(subscriptions.publish_for("secret:1", Updated("secret:1".into())), 0);
    subscriptions.publish_for("a:1", Updated("a:1".into()));
    assert_eq!(session.told().await, "a:1");
    assert_eq!(subscriptions.handler().closed(1).await[0].1, CloseReason::Completed);
}

/// P37.
#[tokio::test]
async fn one_session_does_not_touch_what_another_subscribed_to() {
    let (subscriptions, server) = served();
    let mut alice = Session::begin(&server, &[]).await;
    let mut bob = Session::begin(&server, &[]).await;
    open(&subscriptions, 2).await;
    alice.subscribe("a:1").await.unwrap();
    bob.subscribe("a:1").await.unwrap();
    bob.unsubscribe("a:1").await;
    assert_eq!(subscriptions.publish_for("a:1", Updated("a:1".into())), 1);
    assert_eq!(alice.told().await, "a:1");
    subscriptions.publish(ToolsChanged);
    assert_eq!(bob.told().await, "tools", "and nothing before it");
    assert_eq!(alice.told().await, "tools");
}

#[tokio::test]
async fn a_session_that_ends_is_closed_once_and_no_other_is() {
    let (subscriptions, server) = served();
    let mut alice = Session::begin(&server, &[]).await;
    open(&subscriptions, 1).await;
    let bob = Session::begin(&server, &[]).await;
    bob.subscribe("a:1").await.unwrap();
    alice.subscribe("a:1").await.unwrap();
    open(&subscriptions, 4).await;
    within("it ends", bob.client.cancel()).await.unwrap();
    let closed = subscriptions.handler().closed(2).await;
    assert!(closed.iter().all(|(_, reason)| *reason == CloseReason::Disconnected), "{closed:?}");
    assert_eq!(subscriptions.open_streams(), 2);
    subscriptions.publish_for("a:1", Updated("a:1".into()));
    assert_eq!(alice.told().await, "a:1");
    within("it ends", alice.client.cancel()).await.unwrap();
    subscriptions.handler().closed(4).await;
}

/// One handler behind a listen of this revision and behind a session of an older one.
#[tokio::test]
async fn a_listen_is_tagged_and_a_session_is_not_and_each_hears_once() {
    let (subscriptions, server) = served();
    let mut session = Session::begin(&server, &[]).await;
    open(&subscriptions, 1).await;
    session.subscribe("a:1").await.unwrap();
    let filter = r#"{"toolsListChanged":true,"resourceSubscriptions":["a:1"]}"#;
    let mut listening = server.listening("5", filter).await;
    open(&subscriptions, 3).await;
    assert_eq!(subscriptions.publish(ToolsChanged), 2);
    assert_eq!(subscriptions.publish_for("a:1", Updated("a:1".into())), 2);
    let tag = json!({"io.modelcontextprotocol/subscriptionId": 5});
    assert_eq!(listening.frame().await["params"], json!({"_meta": tag}));
    assert_eq!(listening.frame().await["params"], json!({"_meta": tag, "uri": "a:1"}));
    let mut told = [session.told().await, session.told().await];
    told.sort();
    assert_eq!(told, ["a:1", "tools"]);
    subscriptions.publish(PromptsChanged);
    assert_eq!(session.told().await, "prompts", "and nothing twice before it");
    let shutdown = subscriptions.shutdown(PATIENCE).await;
    assert_eq!((shutdown.completed, shutdown.cut), (3, 0));
    let rest = listening.rest().await;
    assert_eq!((rest.len(), &rest[0]["result"]["resultType"]), (1, &json!("complete")), "{rest:?}");
    let closed = subscriptions.handler().closed(3).await;
    assert!(closed.iter().all(|(_, reason)| *reason == CloseReason::Shutdown), "{closed:?}");
}

/// P36.
#[tokio::test]
async fn on_one_connection_what_a_listen_is_told_is_told_once_and_tagged() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut lines = Lines::connect(&subscriptions, 4096);
    lines.initialize().await;
    open(&subscriptions, 1).await;
    lines.listen("1", r#"{"toolsListChanged":true}"#).await;
    assert_eq!(lines.next().await["method"], "notifications/subscriptions/acknowledged");
    open(&subscriptions, 2).await;
    subscriptions.publish(ToolsChanged);
    let told = lines.next().await;
    assert_eq!(told["params"], json!({"_meta": {"io.modelcontextprotocol/subscriptionId": 1}}));
    // What the listen does not honour, the session still hears.
    subscriptions.publish(PromptsChanged);
    let told = lines.next().await;
    assert_eq!(told["method"], "notifications/prompts/list_changed", "and no second one of tools");
    assert!(told["params"]["_meta"].is_null(), "{told}");
    // And after the listen, everything.
    subscriptions.publish(Tell::new("1", Act::Stop("enough")));
    assert_eq!(lines.next().await["result"]["resultType"], "complete");
    subscriptions.publish(ToolsChanged);
    let told = lines.next().await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert!(told["params"]["_meta"].is_null(), "{told}");
}

#[tokio::test]
async fn a_session_is_bounded() {
    let limits = Limits::default().with_uris(2).with_streams(4);
    let subscriptions = Probe::serve(|builder| builder.limits(limits));
    let server = over_http(&subscriptions);
    let first = Session::begin(&server, &[]).await;
    open(&subscriptions, 1).await;
    first.subscribe("a:1").await.unwrap();
    first.subscribe("a:2").await.unwrap();
    let limit = |refused| match refused {
        Err(ServiceError::McpError(error)) => error.data.unwrap()["limit"].clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(limit(first.subscribe("a:3").await), "uris");
    let second = Session::begin(&server, &[]).await;
    open(&subscriptions, 4).await;
    assert_eq!(limit(second.subscribe("a:1").await), "streams");
    first.unsubscribe("a:1").await;
    second.subscribe("a:1").await.unwrap();
}

#[tokio::test]
async fn a_session_that_asks_for_all_at_once_is_bounded_too() {
    let limits = Limits::default().with_uris(2);
    let subscriptions = Probe::serve(|builder| builder.limits(limits));
    let server = over_http(&subscriptions);
    let session = Session::begin(&server, &[("x-subscribe", "wait")]).await;
    let decide = async {
        // Its lists are asked for as well.
        within("all wait", subscriptions.handler().entered.acquire_many(4)).await.unwrap().forget();
        subscriptions.handler().release.add_permits(4);
    };
    let asked =
        async { tokio::join!(session.subscribe("a:1"), session.subscribe("a:2"), session.subscribe("a:3")) };
    let ((first, second, third), ()) = tokio::join!(asked, decide);
    let refused: Vec<_> = [first, second, third].into_iter().filter_map(Result::err).collect();
    let [ServiceError::McpError(error)] = &refused[..] else { panic!("{refused:?}") };
    assert_eq!(error.data.as_ref().unwrap()["limit"], "uris");
    eventually("its place is free", || subscriptions.open_streams() == 3).await;
}

#[tokio::test]
async fn under_the_layer_a_listen_is_narrowed_by_who_asks_and_sessions_go_on() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = under_the_layer(&subscriptions);
    let mut session = Session::begin(&server, &[]).await;
    open(&subscriptions, 1).await;
    session.subscribe("a:1").await.unwrap();
    let listen = Request::listen("1", r#"{"toolsListChanged":true,"resourceSubscriptions":["a:1","a:2"]}"#);
    let mut listening = server.send(&listen.header("x-deny", "a:2")).await;
    let acknowledged = listening.frame().await;
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({"toolsListChanged": true, "resourceSubscriptions": ["a:1"]})
    );
    assert_eq!(subscriptions.publish_for("a:1", Updated("a:1".into())), 2);
    assert_eq!(listening.frame().await["params"]["uri"], "a:1");
    assert_eq!(session.told().await, "a:1");
}
