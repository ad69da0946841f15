//! The same server without `mcp-sub`: what `rmcp` does itself, to compare.

use std::io;

use axum::Router;
use rmcp::{ErrorData, service::SubscriptionContext};
use tokio::{net::TcpListener, sync::broadcast};

use crate::{
    changes::{Change, Changes},
    serve,
    server::Server,
    stop::asked_to_stop,
};

/// Who listens by way of `rmcp`.
#[derive(Clone)]
pub(crate) struct Listeners(broadcast::Sender<Option<Change>>);

impl Listeners {
    fn new() -> Self {
        Self(broadcast::Sender::new(1024))
    }

    pub(crate) fn announce(&self, change: Change) {
        // An error says that nobody listens.
        _ = self.0.send(Some(change));
    }

    pub(crate) fn open(&self) -> usize {
        self.0.receiver_count()
    }

    pub(crate) fn end_all(&self) {
        _ = self.0.send(None);
    }

    /// Tells one subscription of every change, until it ends.
    pub(crate) async fn tell(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.0.subscribe();
        let sink = context.sink();
        loop {
            let change = tokio::select! {
                change = changes.recv() => change,
                () = context.cancelled() => return Ok(()),
            };
            // An error is what this subscription did not ask for.
            _ = match change {
                Ok(Some(Change::Tools)) => sink.notify_tool_list_changed().await,
                Ok(Some(Change::Prompts)) => sink.notify_prompt_list_changed().await,
                Ok(Some(Change::Resources)) => sink.notify_resource_list_changed().await,
                Ok(Some(Change::Resource(uri))) => sink.notify_resource_updated(uri).await,
                Ok(None) => return Ok(()),
                Err(lost) => return Err(ErrorData::internal_error(lost.to_string(), None)),
            };
        }
    }
}

pub(crate) async fn http(listener: TcpListener) -> io::Result<()> {
    let service = serve::rmcp(Server::new(Changes::Bare(Listeners::new())), listener.local_addr()?);
    let stop = async { _ = asked_to_stop().await };
    axum::serve(listener, Router::new().route_service("/mcp", service)).with_graceful_shutdown(stop).await
}
