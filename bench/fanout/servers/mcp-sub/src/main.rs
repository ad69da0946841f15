//! This library: an annotated handler with the default settings.

use axum::serve::ListenerExt;
use bench_trigger::Event;
use mcp_sub::{Channel, Limits, Rejection, SocketOptions, Subscriptions, subscription_handler};

pub struct Bench;
pub struct ToolsChanged;
pub struct Updated(String);

#[subscription_handler]
#[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the attribute asks for this shape")]
impl Bench {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn tools_changed(&self, _: &ToolsChanged, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(resources_updated)]
    fn updated(&self, event: &Updated, channel: &mut Channel<'_>) {
        channel.resources_updated(&event.0);
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let options = bench_trigger::options();
    // The default admits 10,000 streams.
    let mut limits = Limits::default().with_streams(1_000_000);
    if let Some(events) = options.buffer {
        limits = limits.with_slot(events);
    }
    let subscriptions = Subscriptions::builder(Bench).limits(limits).build();
    let app = axum::Router::new().route_service("/mcp", subscriptions.http());
    let listener = tokio::net::TcpListener::bind(options.mcp).await?;
    tokio::spawn(bench_trigger::serve(options.trigger, async move |event| {
        match event {
            Event::ToolsListChanged => subscriptions.publish(ToolsChanged),
            Event::ResourceUpdated(uri) => subscriptions.publish_for(uri.clone(), Updated(uri)),
        };
    }));
    if options.bounded {
        let sockets = SocketOptions::default();
        let listener = listener.tap_io(move |socket| _ = sockets.apply(socket));
        return axum::serve(listener, app).await;
    }
    axum::serve(listener, app).await
}
