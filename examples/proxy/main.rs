//! Subscriptions for an MCP server in another language: a reverse proxy, and `mcp-sub` as a layer over it.
//!
//! `cargo run --example proxy -- http://127.0.0.1:8001 [PORT] [CHANGES_PORT]`
//!
//! Clients talk to `http://127.0.0.1:PORT/mcp` (8000). Listens are answered here; all else goes on to the server behind, and
//! comes back, as it is. That server says what has changed by a POST to `http://127.0.0.1:CHANGES_PORT/changed` (8002).
//!
//! - `forward.rs` is the reverse proxy, a `tower` service like any other.
//! - `changes.rs` is what the server behind can say, and what clients are told then.
//! - `server.py` is a server behind it, on the official Python SDK.
//!
//! There is no authentication: put it around the layer.

#![forbid(unsafe_code)]

#[allow(
    clippy::unnecessary_wraps,
    clippy::unused_self,
    reason = "a handler's signatures are the attribute's"
)]
mod changes;
mod forward;
#[path = "../stop.rs"]
mod stop;

use std::{
    net::{Ipv4Addr, SocketAddr},
    process::ExitCode,
};

use axum::Router;
use http::Uri;
use mcp_sub::Subscriptions;
use tokio::net::TcpListener;

use crate::{changes::Upstream, forward::Forward, stop::asked_to_stop};

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let Some((upstream, ports)) = parse(&arguments) else {
        eprintln!("usage: proxy http://HOST:PORT [PORT] [CHANGES_PORT]");
        return ExitCode::from(2);
    };
    match run(upstream, ports).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("proxy: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The server behind, and the two ports, of which 0 is any that is free.
fn parse(arguments: &[String]) -> Option<(Uri, [u16; 2])> {
    let (upstream, rest) = arguments.split_first()?;
    let upstream: Uri = upstream.parse().ok()?;
    let mut ports = [8000, 8002];
    for (index, argument) in rest.iter().enumerate() {
        *ports.get_mut(index)? = argument.parse().ok()?;
    }
    (upstream.scheme_str() == Some("http") && upstream.path() == "/").then_some((upstream, ports))
}

async fn run(upstream: Uri, [port, changes_port]: [u16; 2]) -> std::io::Result<()> {
    let subscriptions = Subscriptions::builder(Upstream).build();

    // On a port of its own: whoever gets to the clients' port cannot say that something has changed.
    let changes = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, changes_port))).await?;
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
    println!("changes: http://{}/changed", changes.local_addr()?);
    println!("clients: http://{}/mcp", listener.local_addr()?);

    // It ends with the clients' port, since nobody else would hear of a change.
    let told = changes::router(subscriptions.clone());
    let told = tokio::spawn(async move { axum::serve(changes, told).await });
    let app = Router::new().route_service("/mcp", subscriptions.layer(Forward::to(upstream)));
    mcp_sub::serve(listener, app, &subscriptions).until(asked_to_stop()).await;
    told.abort();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_and_perhaps_ports() {
        let parse = |line: &str| {
            let arguments: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
            parse(&arguments).map(|(upstream, ports)| (upstream.to_string(), ports))
        };
        assert_eq!(parse("http://a:1"), Some(("http://a:1/".into(), [8000, 8002])));
        assert_eq!(parse("http://a:1/ 0 5"), Some(("http://a:1/".into(), [0, 5])));
        for line in ["", "a:1", "https://a:1", "http://a:1/mcp", "http://a:1 x", "http://a:1 1 2 3"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
