//! tower-mcp: its HTTP transport, with a channel for notifications from outside.

use bench_trigger::Event;
use tower_mcp::{
    HttpTransport, McpRouter, ResourceBuilder, SubscriptionLimits,
    context::{ServerNotification, notification_channel},
};

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let options = bench_trigger::options();
    let (notifications, receiver) = notification_channel(256);
    let router = McpRouter::new()
        .server_info("bench", "1.0.0")
        .resource(ResourceBuilder::new(bench_trigger::HOT).name("hot").text("hot"));
    // The default admits 256 streams.
    let mut limits = SubscriptionLimits::default().max_active(1_000_000);
    if let Some(events) = options.buffer {
        limits = limits.max_buffered_messages(events).max_buffered_bytes(events * 512);
    }
    let app = HttpTransport::with_notifications(router, receiver)
        .subscription_limits(limits)
        .into_router_at("/mcp");
    let listener = tokio::net::TcpListener::bind(options.mcp).await?;
    tokio::spawn(bench_trigger::serve(options.trigger, async move |event| {
        let notification = match event {
            Event::ToolsListChanged => ServerNotification::ToolsListChanged,
            Event::ResourceUpdated(uri) => ServerNotification::ResourceUpdated { uri },
        };
        notifications.send(notification).await.ok();
    }));
    axum::serve(listener, app).await
}
