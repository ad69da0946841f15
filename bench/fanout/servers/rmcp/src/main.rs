//! rmcp: its streamable HTTP service under axum. The fan-out is left to the application: each `listen` forwards one
//! broadcast to its sink.

use std::borrow::Cow;

use bench_trigger::Event;
use rmcp::{
    ErrorData, ServerHandler,
    model::{ProtocolVersion, ServerCapabilities, ServerConfig, SubscriptionFilter},
    service::SubscriptionContext,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use tokio::sync::broadcast::{self, error::RecvError};

#[derive(Clone)]
struct Bench {
    events: broadcast::Sender<Event>,
}

impl ServerHandler for Bench {
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&[ProtocolVersion::V_2026_07_28])
    }

    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        ServerConfig::new(capabilities)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut events = self.events.subscribe();
        let (sink, accepted) = (context.sink(), context.accepted());
        loop {
            let event = tokio::select! {
                () = context.cancelled() => return Ok(()),
                event = events.recv() => event,
            };
            let told = match event {
                Ok(Event::ToolsListChanged) if accepted.tools_list_changed == Some(true) => {
                    sink.notify_tool_list_changed().await
                }
                Ok(Event::ResourceUpdated(uri))
                    if accepted.resource_subscriptions.as_ref().is_some_and(|uris| uris.contains(&uri)) =>
                {
                    sink.notify_resource_updated(uri).await
                }
                Ok(_) | Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => return Ok(()),
            };
            told.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        }
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let options = bench_trigger::options();
    let (events, _) = broadcast::channel(options.buffer.unwrap_or(1024));
    let bench = Bench { events: events.clone() };
    let service: StreamableHttpService<Bench, LocalSessionManager> = StreamableHttpService::new(
        move || Ok(bench.clone()),
        LocalSessionManager::default().into(),
        StreamableHttpServerConfig::default().with_legacy_session_mode(false),
    );
    let app = axum::Router::new().route_service("/mcp", service);
    let listener = tokio::net::TcpListener::bind(options.mcp).await?;
    tokio::spawn(bench_trigger::serve(options.trigger, async move |event| drop(events.send(event))));
    axum::serve(listener, app).await
}
