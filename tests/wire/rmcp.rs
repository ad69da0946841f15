//! With the published Rust SDK: its client listens, its server is layered over.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use mcp_sub::Subscriptions;
use mcp_sub_tests::{
    Act, PATIENCE, Probe, PromptsChanged, Request, Server, Tell, ToolsChanged, Updated, within,
};
use rmcp::{
    ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientConfig, ContentBlock, GetMeta as _,
        ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
        ServerNotification, SubscriptionFilter, Tool,
    },
    service::{RequestContext, RunningService, SubscriptionEnd},
    transport::{
        StreamableHttpClientTransport,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};
use serde_json::json;

/// A server with one tool, which changes the list of tools.
#[derive(Clone)]
struct Tools(Arc<OnceLock<Subscriptions<Probe>>>);

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = Tool::new("install", "Installs a tool", rmcp::model::JsonObject::new());
        Ok(ListToolsResult { tools: vec![tool], ..ListToolsResult::default() })
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let told = self.0.get().map_or(0, |subscriptions| subscriptions.publish(ToolsChanged));
        Ok(CallToolResult::success(vec![ContentBlock::text(told.to_string())]).into())
    }
}

/// Its server, with ours over it.
fn layered(sessions: bool) -> (Subscriptions<Probe>, Server) {
    let tools = Tools(Arc::default());
    let subscriptions = Probe::serve(|builder| builder);
    tools.0.set(subscriptions.clone()).ok().unwrap();
    let inner = StreamableHttpService::new(
        move || Ok(tools.clone()),
        LocalSessionManager::default().into(),
        StreamableHttpServerConfig::default().with_legacy_session_mode(sessions),
    );
    let server = Server::start(subscriptions.layer(inner));
    (subscriptions, server)
}

async fn client(server: &Server) -> RunningService<RoleClient, ClientConfig> {
    let url = format!("http://{}/mcp", server.address());
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let transport = StreamableHttpClientTransport::from_uri(url);
    within("it discovers", ClientConfig::default().serve_with_lifecycle(transport, lifecycle)).await.unwrap()
}

fn everything() -> SubscriptionFilter {
    SubscriptionFilter::builder()
        .tools_list_changed()
        .prompts_list_changed()
        .resources_list_changed()
        .resource_subscriptions(["a:1".to_owned()])
        .build()
}

#[tokio::test]
async fn the_published_client_discovers_listens_hears_and_sees_the_end() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let client = client(&server).await;
    let info = serde_json::to_value(client.peer_info().unwrap()).unwrap();
    assert_eq!(info["capabilities"]["resources"], json!({"listChanged": true, "subscribe": true}), "{info}");
    assert!(within("an empty list", client.list_all_tools()).await.unwrap().is_empty());

    let mut subscription = within("it listens", client.listen(everything())).await.unwrap();
    let acknowledged = serde_json::to_value(subscription.acknowledged()).unwrap();
    assert_eq!(
        acknowledged,
        json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
            "resourceSubscriptions": ["a:1"]})
    );
    subscriptions.publish(PromptsChanged);
    let heard = within("it hears", subscription.next()).await.unwrap().unwrap();
    assert!(matches!(heard, ServerNotification::PromptListChangedNotification(_)), "{heard:?}");
    assert_eq!(heard.get_meta().subscription_id().as_ref(), Some(subscription.id()));
    subscriptions.publish_for("a:2", Updated("a:2".into()));
    subscriptions.publish_for("a:1", Updated("a:1".into()));
    let heard = within("it hears", subscription.next()).await.unwrap().unwrap();
    let ServerNotification::ResourceUpdatedNotification(updated) = heard else { panic!("{heard:?}") };
    assert_eq!(updated.params.uri, "a:1");

    let shutdown = subscriptions.shutdown(PATIENCE).await;
    assert_eq!((shutdown.completed, shutdown.cut), (1, 0));
    assert!(within("the end", subscription.next()).await.unwrap().is_none());
    assert!(matches!(subscription.end(), Some(SubscriptionEnd::Graceful(_))), "{:?}", subscription.end());
}

#[tokio::test]
async fn the_published_client_cancels_and_goes_on() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let client = client(&server).await;
    for round in 1..=3 {
        let mut subscription = within("it listens", client.listen(everything())).await.unwrap();
        within("it cancels", subscription.cancel()).await.unwrap();
        let closed = subscriptions.handler().closed(round).await;
        assert_eq!(closed[round - 1].1, mcp_sub::CloseReason::Disconnected);
    }
    assert!(within("an empty list", client.list_all_tools()).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_published_client_sees_a_failure_as_one() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let client = client(&server).await;
    let mut subscription = within("it listens", client.listen(everything())).await.unwrap();
    let id = serde_json::to_string(subscription.id()).unwrap();
    subscriptions.publish(Tell::new(&id, Act::Panic));
    let end = within("the end", subscription.next()).await;
    assert!(!matches!(end, Ok(Some(_))), "{end:?}");
    assert!(!matches!(subscription.end(), Some(SubscriptionEnd::Graceful(_))), "{:?}", subscription.end());
}

#[tokio::test]
async fn over_the_published_server_its_client_sees_both() {
    let (subscriptions, server) = layered(false);
    let client = client(&server).await;
    let info = serde_json::to_value(client.peer_info().unwrap()).unwrap();
    assert_eq!(info["capabilities"], json!({"tools": {"listChanged": true}}), "{info}");
    let tools = within("its list", client.list_all_tools()).await.unwrap();
    assert_eq!(tools[0].name, "install");

    let mut subscription = within("it listens", client.listen(everything())).await.unwrap();
    let acknowledged = serde_json::to_value(subscription.acknowledged()).unwrap();
    assert_eq!(
        acknowledged,
        json!({"toolsListChanged": true}),
        "the server has neither prompts nor resources"
    );
    let result = within("a call", client.call_tool(CallToolRequestParams::new("install"))).await.unwrap();
    assert_eq!(serde_json::to_value(result).unwrap()["content"][0]["text"], "1");
    let heard = within("it hears", subscription.next()).await.unwrap().unwrap();
    assert!(matches!(heard, ServerNotification::ToolListChangedNotification(_)), "{heard:?}");
    subscriptions.shutdown(PATIENCE).await;
    assert!(within("the end", subscription.next()).await.unwrap().is_none());
    assert!(matches!(subscription.end(), Some(SubscriptionEnd::Graceful(_))));
    within("the server still serves", client.list_all_tools()).await.unwrap();
}

#[tokio::test]
async fn over_the_published_server_an_older_session_passes_through() {
    let (subscriptions, server) = layered(true);
    let legacy = |body: &str| {
        Request::post(body.as_bytes()).without("Mcp-Method").set("MCP-Protocol-Version", "2025-11-25")
    };
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let mut response = server.send(&legacy(initialize).without("MCP-Protocol-Version")).await;
    assert_eq!(response.status(), 200);
    let session = response.header("mcp-session-id").expect("a session").to_owned();
    response.bytes().await;
    assert!(String::from_utf8_lossy(response.received()).contains("2025-11-25"));

    let initialized = legacy(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let response = server.send(&initialized.header("Mcp-Session-Id", &session)).await;
    assert_eq!(response.status(), 202);
    let list = legacy(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).header("Mcp-Session-Id", &session);
    let mut response = server.send(&list).await;
    response.bytes().await;
    assert!(String::from_utf8_lossy(response.received()).contains("install"));
    let get = Request::post("").method("GET").set("Accept", "text/event-stream").without("Mcp-Method");
    let stream =
        server.send(&get.set("MCP-Protocol-Version", "2025-11-25").header("Mcp-Session-Id", &session)).await;
    assert_eq!((stream.status(), stream.header("content-type")), (200, Some("text/event-stream")));

    // And a client of this revision listens beside it.
    let mut listening = server.listening("1", r#"{"toolsListChanged":true}"#).await;
    subscriptions.publish(ToolsChanged);
    assert_eq!(listening.told().await, "tools");
    let delete = legacy("").method("DELETE").header("Mcp-Session-Id", &session);
    assert!(server.send(&delete).await.status() < 300);
}
