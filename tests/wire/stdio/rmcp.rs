//! With the published Rust SDK at both ends.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use mcp_sub::Subscriptions;
use mcp_sub_tests::{Lines, PATIENCE, Probe, ToolsChanged, message, within};
use rmcp::{
    ClientLifecycleMode, ClientServiceExt, ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientConfig, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, ServerNotification,
        SubscriptionFilter, Tool,
    },
    service::{RequestContext, SubscriptionEnd},
};
use serde_json::json;
use tokio::io::{DuplexStream, duplex};

use super::TOOLS;

/// A server with one tool, which changes the list of tools: for who listens, and for its session.
#[derive(Clone)]
struct Tools(Arc<OnceLock<Subscriptions<Probe>>>);

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
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
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(subscriptions) = self.0.get() {
            subscriptions.publish(ToolsChanged);
        }
        if context.peer.peer_info().is_some_and(|info| info.protocol_version < ProtocolVersion::V_2026_07_28)
        {
            context
                .peer
                .notify_tool_list_changed()
                .await
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        }
        Ok(CallToolResult::success(Vec::new()).into())
    }
}

fn inner() -> (Subscriptions<Probe>, DuplexStream) {
    let tools = Tools(Arc::default());
    let subscriptions = Probe::serve(|builder| builder);
    tools.0.set(subscriptions.clone()).ok().unwrap();
    let (ours, inners) = duplex(4096);
    tokio::spawn(async move {
        let running = rmcp::serve_server(tools, inners).await.unwrap();
        running.waiting().await.unwrap();
    });
    (subscriptions, ours)
}

#[tokio::test]
async fn its_client_discovers_listens_hears_what_a_tool_changes_cancels_and_sees_the_end() {
    let (subscriptions, ours) = inner();
    let (clients, servers) = duplex(4096);
    let (reader, writer) = tokio::io::split(servers);
    let serving = tokio::spawn(subscriptions.stdio(reader, writer).over(ours).serve());
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let client = within("it discovers", ClientConfig::default().serve_with_lifecycle(clients, lifecycle))
        .await
        .unwrap();
    let info = serde_json::to_value(client.peer_info().unwrap()).unwrap();
    assert_eq!(info["capabilities"], json!({"tools": {"listChanged": true}}), "{info}");

    let filter = || SubscriptionFilter::builder().tools_list_changed().prompts_list_changed().build();
    let mut first = within("it listens", client.listen(filter())).await.unwrap();
    let mut second = within("it listens again", client.listen(filter())).await.unwrap();
    assert_eq!(
        serde_json::to_value(first.acknowledged()).unwrap(),
        json!({"toolsListChanged": true}),
        "the server has no prompts"
    );
    within("a call", client.call_tool(CallToolRequestParams::new("install"))).await.unwrap();
    for subscription in [&mut first, &mut second] {
        let heard = within("it hears", subscription.next()).await.unwrap().unwrap();
        assert!(matches!(heard, ServerNotification::ToolListChangedNotification(_)), "{heard:?}");
    }
    within("it cancels", first.cancel()).await.unwrap();
    assert_eq!(subscriptions.handler().closed(1).await[0].1, mcp_sub::CloseReason::Cancelled);
    subscriptions.shutdown(PATIENCE).await;
    assert!(within("the end", second.next()).await.unwrap().is_none());
    assert!(matches!(second.end(), Some(SubscriptionEnd::Graceful(_))), "{:?}", second.end());
    within("the server still serves", client.list_all_tools()).await.unwrap();
    within("it leaves", client.cancel()).await.unwrap();
    within("the server ends", serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn an_older_session_passes_and_hears_of_a_change_once_and_without_an_id() {
    let (subscriptions, ours) = inner();
    let mut client = Lines::to(|reader, writer| subscriptions.stdio(reader, writer).over(ours));
    client
        .send(&[r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#])
        .await;
    let initialized = client.message().await;
    assert_eq!(
        (&initialized["id"], &initialized["result"]["protocolVersion"]),
        (&json!(0), &json!("2025-11-25"))
    );
    client
        .send(&[
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        ])
        .await;
    assert_eq!(client.message().await["result"]["tools"][0]["name"], "install");
    client.send(&[r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"install"}}"#]).await;
    let (mut changes, mut answered) = (Vec::new(), false);
    while !answered || changes.is_empty() {
        let message = client.message().await;
        answered |= message["id"] == 2;
        changes.extend((message["method"] == "notifications/tools/list_changed").then_some(message));
    }
    client.end_input();
    changes.extend(client.rest().await);
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert!(changes[0].to_string().find("subscriptionId").is_none(), "{changes:?}");
}

#[tokio::test]
async fn a_listen_hears_of_a_change_once_and_with_its_id() {
    let (subscriptions, ours) = inner();
    let mut client = Lines::to(|reader, writer| subscriptions.stdio(reader, writer).over(ours));
    client.send(&[message("0", "server/discover", "")]).await;
    assert_eq!(client.message().await["id"], 0);
    client.listening("1", TOOLS).await;
    client.send(&[message("2", "tools/call", r#""name":"install""#)]).await;
    let mut rest = vec![client.message().await, client.message().await];
    client.end_input();
    rest.extend(client.rest().await);
    let changes: Vec<_> =
        rest.iter().filter(|message| message["method"] == "notifications/tools/list_changed").collect();
    assert_eq!(changes.len(), 1, "{rest:?}");
    assert_eq!(changes[0]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    assert_eq!(rest.last().unwrap()["result"]["resultType"], "complete");
}
