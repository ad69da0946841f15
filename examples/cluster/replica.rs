//! One replica: the server, its relay, and a way to make something change.

use std::{net::Ipv4Addr, process::ExitCode, time::Duration};

use axum::{
    Router,
    extract::{Query, State},
    routing::post,
};
use mcp_sub::{Channel, Rejection, Subscriptions, relay::Relay, subscription_handler};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

#[derive(Serialize, Deserialize)]
pub(crate) struct ToolsChanged;

#[derive(Serialize, Deserialize)]
pub(crate) struct Saved {
    uri: String,
}

pub(crate) struct Files;

#[subscription_handler(relay)]
impl Files {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn tools_changed(&self, _: &ToolsChanged, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(resources_updated)]
    fn saved(&self, event: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated(&event.uri);
    }
}

/// Serves at `port`, or at any if it is 0, and says at which.
pub(crate) async fn run(port: u16, broker: u16) -> ExitCode {
    match serve(port, broker).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(port: u16, broker: u16) -> Result<(), Box<dyn std::error::Error>> {
    let client = async_nats::ConnectOptions::new()
        .retry_on_initial_connect()
        // A broker that hangs is noticed after three of these.
        .ping_interval(Duration::from_secs(2))
        .connect(format!("127.0.0.1:{broker}"))
        .await?;
    let subscriptions = Subscriptions::builder(Files).build();
    let relay = Relay::nats(client, "cluster.events").attach(subscriptions.hub());
    let app = Router::new()
        .route_service("/mcp", subscriptions.http())
        .route("/change", post(change))
        .with_state(subscriptions.clone());
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    println!("{}", listener.local_addr()?.port());
    mcp_sub::serve(listener, app, &subscriptions).until(async { drop(tokio::signal::ctrl_c().await) }).await;
    relay.shutdown(Duration::from_secs(5)).await;
    Ok(())
}

#[derive(Deserialize)]
struct Change {
    uri: Option<String>,
}

/// Stands for a tool call that changes something.
async fn change(State(subscriptions): State<Subscriptions<Files>>, Query(change): Query<Change>) {
    match change.uri {
        None => subscriptions.publish(ToolsChanged),
        Some(uri) => subscriptions.publish_for(&uri, Saved { uri: uri.clone() }),
    };
}
