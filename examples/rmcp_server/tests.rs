//! The server, and rmcp's client at the other end of a pipe in memory.

use std::time::Duration;

use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient, ServiceExt,
    model::{
        CallToolRequestParams, ClientConfig, ProtocolVersion, ReadResourceRequestParams,
        ResourceUpdatedNotificationParam, ServerNotification, SubscribeRequestParams, SubscriptionFilter,
    },
    service::{NotificationContext, Peer, RunningService, SubscriptionEnd},
};
use serde_json::{Value, json};
use tokio::{io::DuplexStream, sync::mpsc, time::timeout};

use crate::{DRAIN, server::Server, subscriptions};

const PATIENCE: Duration = Duration::from_secs(30);

/// A server, and the client's end of a connection to it.
fn serve() -> (mcp_sub::Subscriptions<crate::changes::Changes>, DuplexStream) {
    let (client, server) = tokio::io::duplex(4096);
    let subscriptions = subscriptions();
    let running = Server::new(subscriptions.clone()).serve(server);
    tokio::spawn(async move { running.await.unwrap().waiting().await });
    (subscriptions, client)
}

async fn within<F: Future>(future: F) -> F::Output {
    timeout(PATIENCE, future).await.expect("it happens")
}

async fn call(client: &Peer<RoleClient>, name: &'static str, arguments: Value) -> String {
    let Value::Object(arguments) = arguments else { panic!("{arguments}") };
    let request = CallToolRequestParams::new(name).with_arguments(arguments);
    let result = serde_json::to_value(within(client.call_tool(request)).await.unwrap()).unwrap();
    assert_ne!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

async fn tools(client: &Peer<RoleClient>) -> Vec<String> {
    let tools = within(client.list_all_tools()).await.unwrap();
    tools.into_iter().map(|tool| tool.name.into_owned()).collect()
}

#[tokio::test]
async fn what_tools_change_is_told_to_who_listens() {
    let (subscriptions, connection) = serve();
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let client: RunningService<RoleClient, ClientConfig> =
        within(ClientConfig::default().serve_with_lifecycle(connection, lifecycle)).await.unwrap();
    let info = serde_json::to_value(client.peer_info().unwrap()).unwrap();
    assert_eq!(
        info["capabilities"],
        json!({"tools": {"listChanged": true}, "resources": {"listChanged": true, "subscribe": true}})
    );

    let filter = |uris: &[&str]| {
        let uris = uris.iter().map(|&uri| uri.to_owned());
        let lists = SubscriptionFilter::builder().tools_list_changed().resources_list_changed();
        lists.resource_subscriptions(uris).build()
    };
    let mut listening = within(client.listen(filter(&["note:///a", "file:///etc/passwd"]))).await.unwrap();
    assert_eq!(*listening.acknowledged(), filter(&["note:///a"]));

    call(&client, "install_tool", json!({"name": "shout"})).await;
    let told = within(listening.next()).await.unwrap().unwrap();
    assert!(matches!(told, ServerNotification::ToolListChangedNotification(_)), "{told:?}");
    assert!(tools(&client).await.contains(&"shout".to_owned()));
    assert_eq!(call(&client, "shout", json!({"text": "hi"})).await, "HI");

    call(&client, "write_note", json!({"name": "a", "text": "one"})).await;
    let told = within(listening.next()).await.unwrap().unwrap();
    assert!(matches!(told, ServerNotification::ResourceListChangedNotification(_)), "{told:?}");
    let told = within(listening.next()).await.unwrap().unwrap();
    let ServerNotification::ResourceUpdatedNotification(updated) = told else { panic!("{told:?}") };
    assert_eq!(updated.params.uri, "note:///a");
    let read = within(client.read_resource(ReadResourceRequestParams::new("note:///a"))).await.unwrap();
    assert_eq!(serde_json::to_value(read).unwrap()["contents"][0]["text"], "one");

    // What changes nothing is told to nobody.
    call(&client, "install_tool", json!({"name": "shout"})).await;
    call(&client, "uninstall_tool", json!({"name": "shout"})).await;
    let told = within(listening.next()).await.unwrap().unwrap();
    assert!(matches!(told, ServerNotification::ToolListChangedNotification(_)), "{told:?}");
    assert!(!tools(&client).await.contains(&"shout".to_owned()));
    subscriptions.shutdown(DRAIN).await;
    assert!(within(listening.next()).await.unwrap().is_none());
    assert!(matches!(listening.end(), Some(SubscriptionEnd::Graceful(_))), "{:?}", listening.end());
}

struct Older(mpsc::UnboundedSender<String>);

impl ClientHandler for Older {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.send("tools".into()).ok();
    }

    async fn on_resource_updated(
        &self,
        updated: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0.send(updated.uri).ok();
    }
}

#[tokio::test]
#[allow(deprecated, reason = "`subscribe` is a method of older revisions")]
async fn an_older_client_is_told_too() {
    let (subscriptions, connection) = serve();
    let (told, mut heard) = mpsc::unbounded_channel();
    let client = Older(told).serve_with_lifecycle(connection, ClientLifecycleMode::Initialize);
    let client = within(client).await.unwrap();
    assert!(within(client.subscribe(SubscribeRequestParams::new("file:///etc/passwd"))).await.is_err());
    within(client.subscribe(SubscribeRequestParams::new("note:///a"))).await.unwrap();
    call(&client, "write_note", json!({"name": "a", "text": "one"})).await;
    assert_eq!(within(heard.recv()).await.unwrap(), "note:///a");
    // `notifications/initialized` has no answer.
    within(async {
        while subscriptions.open_streams() < 2 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    call(&client, "install_tool", json!({"name": "reverse"})).await;
    assert_eq!(within(heard.recv()).await.unwrap(), "tools");
}
