//! An rmcp server under rmcp's own transports, whose tools and resources change.
//!
//! `cargo run --example rmcp_server -- stdio`, or `-- http [PORT]`
//!
//! - `changes.rs` says who is told what. This is what `mcp-sub` is for; begin there.
//! - `server.rs` is the MCP server, on `rmcp`, and publishes.
//! - `store.rs` is what it serves.
//!
//! Anyone on this machine can use it over HTTP: there is no authentication.

#![forbid(unsafe_code)]

#[allow(
    clippy::unnecessary_wraps,
    clippy::unused_self,
    reason = "a handler's signatures are the attribute's"
)]
mod changes;
mod server;
#[path = "../stop.rs"]
mod stop;
mod store;
#[cfg(test)]
mod tests;

use std::{
    error::Error,
    net::{Ipv4Addr, SocketAddr},
    pin::pin,
    process::ExitCode,
    time::Duration,
};

use axum::Router;
use mcp_sub::{Limits, Subscriptions};
use rmcp::{
    ServiceExt,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use tokio::net::TcpListener;

use crate::{changes::Changes, server::Server, stop::asked_to_stop};

/// How long streams and connections may take to end.
const DRAIN: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rmcp_server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Runtime::new()?;
    let served = match arguments[..] {
        ["stdio"] => runtime.block_on(stdio()),
        ["http"] => runtime.block_on(http(8000)),
        ["http", port] => match port.parse() {
            Ok(port) => runtime.block_on(http(port)),
            Err(error) => Err(format!("{port:?} is no port: {error}").into()),
        },
        _ => Err("usage: rmcp_server stdio | http [PORT]".into()),
    };
    // Not by its destructor: a read of stdin cannot be interrupted, and would be waited for.
    runtime.shutdown_background();
    served
}

fn subscriptions() -> Subscriptions<Changes> {
    Subscriptions::builder(Changes).limits(Limits::default().with_drain(DRAIN)).build()
}

async fn stdio() -> Result<(), Box<dyn Error>> {
    let subscriptions = subscriptions();
    let running = Box::pin(Server::new(subscriptions.clone()).serve(rmcp::transport::stdio())).await?;
    let stop = running.cancellation_token();
    let mut ended = pin!(running.waiting());
    tokio::select! {
        ended = &mut ended => {
            ended?;
        }
        asked = asked_to_stop() => {
            asked?;
            // Every listen gets its result, and then rmcp writes what is left.
            subscriptions.shutdown(DRAIN).await;
            stop.cancel();
            ended.await?;
        }
    }
    Ok(())
}

async fn http(port: u16) -> Result<(), Box<dyn Error>> {
    let subscriptions = subscriptions();
    let server = Server::new(subscriptions.clone());
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        LocalSessionManager::default().into(),
        StreamableHttpServerConfig::default(),
    );
    let app = Router::new().route_service("/mcp", service);
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
    eprintln!("Serving http://{}/mcp", listener.local_addr()?);
    mcp_sub::serve(listener, app, &subscriptions).until(asked_to_stop()).await;
    Ok(())
}
