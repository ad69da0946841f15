//! The published Rust client. See `run` for what it has to show.

use std::{
    env,
    error::Error,
    fmt::Display,
    time::{Duration, Instant},
};

use rmcp::{
    ClientLifecycleMode, ClientServiceExt, RoleClient,
    model::{
        CallToolRequestParams, ClientConfig, JsonObject, ProtocolVersion, ServerNotification,
        SubscriptionFilter,
    },
    service::{RunningService, Subscription, SubscriptionEnd},
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::{Value, json};
use tokio::{process::Command, time::timeout};

type Failed = Box<dyn Error>;

fn tell(behaviour: &str, holds: bool, seen: impl Display) {
    println!("{}", json!({"behaviour": behaviour, "holds": holds, "seen": seen.to_string()}));
}

struct Client {
    service: RunningService<RoleClient, ClientConfig>,
    patience: Duration,
}

impl Client {
    async fn connect(arguments: &[String], patience: Duration) -> Result<Self, Failed> {
        let lifecycle =
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
        let config = ClientConfig::default();
        let service = match arguments {
            [separator, command, arguments @ ..] if separator == "--" => {
                let mut command = Command::new(command);
                command.args(arguments);
                let server = TokioChildProcess::new(command)?;
                timeout(patience, config.serve_with_lifecycle(server, lifecycle)).await??
            }
            [url] => {
                let server = StreamableHttpClientTransport::from_uri(&**url);
                timeout(patience, config.serve_with_lifecycle(server, lifecycle)).await??
            }
            _ => return Err("usage: rmcp URL | rmcp -- COMMAND".into()),
        };
        Ok(Self { service, patience })
    }

    async fn call(&self, name: &'static str, arguments: Value) -> Result<String, Failed> {
        let arguments: JsonObject = serde_json::from_value(arguments)?;
        let call = CallToolRequestParams::new(name).with_arguments(arguments);
        let result = timeout(self.patience, self.service.call_tool(call)).await??;
        Ok(result.content.first().and_then(|block| block.as_text()).ok_or("no text")?.text.clone())
    }

    async fn listen(&self, uris: [&str; 2]) -> Result<Subscription, Failed> {
        let filter = SubscriptionFilter::builder()
            .tools_list_changed()
            .resource_subscriptions(uris.map(str::to_owned))
            .build();
        Ok(timeout(self.patience, self.service.listen(filter)).await??)
    }

    async fn next(&self, subscription: &mut Subscription) -> Result<Option<ServerNotification>, Failed> {
        Ok(timeout(self.patience, subscription.next()).await??)
    }
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let expect: Value = serde_json::from_str(&env::var("EXPECT")?)?;
    let text = |name: &str| expect[name].as_str().ok_or("not in EXPECT");
    let (watched, unwatched, refused) = (text("watched")?, text("unwatched")?, text("refused")?);
    let patience = Duration::from_secs(expect["patience"].as_u64().ok_or("not in EXPECT")?);
    let arguments: Vec<String> = env::args().skip(1).collect();
    let client = Client::connect(&arguments, patience).await?;

    let server = serde_json::to_value(client.service.peer_info())?;
    let has = &server["capabilities"];
    let flags = has["tools"]["listChanged"] == true && has["resources"]["subscribe"] == true;
    tell("discovers", flags && server["protocolVersion"] == text("revision")?, &server);

    let mut subscription = client.listen([watched, refused]).await?;
    let honoured = subscription.acknowledged().clone();
    let open = client.call("test_subscription_count", json!({})).await?;
    tell("listens", honoured.tools_list_changed == Some(true) && open == "1", format!("{honoured:?}"));
    let uris = honoured.resource_subscriptions.unwrap_or_default();
    tell("is narrowed", uris == [watched], format!("{uris:?}"));

    client.call("test_trigger_tool_change", json!({})).await?;
    let change = client.next(&mut subscription).await?;
    let is_change = matches!(change, Some(ServerNotification::ToolListChangedNotification(_)));
    tell("hears a list change", is_change, format!("{change:?}"));

    for uri in [unwatched, refused, watched] {
        client.call("test_update_resource", json!({ "uri": uri })).await?;
    }
    let update = client.next(&mut subscription).await?;
    let is_own = matches!(&update, Some(ServerNotification::ResourceUpdatedNotification(update)) if update.params.uri == watched);
    tell("hears its own updates", is_own, format!("{update:?}"));

    timeout(patience, subscription.cancel()).await??;
    let is_over = matches!(subscription.end(), Some(SubscriptionEnd::Cancelled));
    let patient = Instant::now() + patience;
    let mut open = client.call("test_subscription_count", json!({})).await?;
    while open != "0" && Instant::now() < patient {
        open = client.call("test_subscription_count", json!({})).await?;
    }
    tell("cancels", is_over && open == "0", format!("{open} open"));

    let mut subscription = client.listen([watched, refused]).await?;
    client.call("test_close_subscriptions", json!({})).await?;
    let nothing = client.next(&mut subscription).await?.is_none();
    let is_graceful = matches!(subscription.end(), Some(SubscriptionEnd::Graceful(_)));
    tell("sees a graceful end", nothing && is_graceful, format!("{:?}", subscription.end()));
    client.service.cancel().await?;
    Ok(())
}
