//! The server over HTTP and over stdio, and subscriptions in front of it.

use std::{io, net::SocketAddr};

use axum::{
    Router,
    extract::Request,
    http::{Method, StatusCode},
    middleware::{self, Next},
    response::Response,
};
use mcp_sub::Subscriptions;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use tokio::net::TcpListener;

use crate::{
    changes::{Changes, EVERYONE},
    server::Server,
    stop::asked_to_stop,
    watched::Watched,
};

fn subscriptions() -> Subscriptions<Watched> {
    Subscriptions::builder(Watched)
        .server_info("conformance", env!("CARGO_PKG_VERSION"))
        .principal(|_| Some(EVERYONE.into()))
        .build()
}

pub(crate) async fn http(listener: TcpListener) -> io::Result<()> {
    let subscriptions = subscriptions();
    let inner = rmcp(Server::new(Changes::Layer(subscriptions.clone())), listener.local_addr()?);
    let inner = Router::new().route_service("/mcp", inner).layer(middleware::from_fn(refuse_older));
    let app = Router::new().route_service("/mcp", subscriptions.layer(inner));
    let mut asked = Ok(());
    mcp_sub::serve(listener, app, &subscriptions).until(async { asked = asked_to_stop().await }).await;
    asked
}

pub(crate) async fn stdio() -> io::Result<()> {
    let subscriptions = subscriptions();
    let server = Server::new(Changes::Layer(subscriptions.clone()));
    let (ours, inners) = tokio::io::duplex(64 * 1024);
    // Without a handshake: this revision has none, and `rmcp` takes a stray response for a failed one.
    let inner = rmcp::service::serve_directly(server, inners, None);
    subscriptions.stdio(tokio::io::stdin(), tokio::io::stdout()).over(ours).until(asked_to_stop()).await?;
    // It ends with its input, which ended with ours.
    inner.waiting().await.map(drop).map_err(io::Error::other)
}

/// `rmcp`'s own service: one request, one response, no session.
pub(crate) fn rmcp(
    server: Server,
    address: SocketAddr,
) -> StreamableHttpService<Server, NeverSessionManager> {
    StreamableHttpService::new(
        move || Ok(server.clone()),
        NeverSessionManager::default().into(),
        StreamableHttpServerConfig::default()
            .with_allowed_origins([
                format!("http://{address}"),
                format!("http://localhost:{}", address.port()),
            ])
            .with_legacy_session_mode(false)
            .with_stateless_protocol_metadata_required(true),
    )
}

/// This server speaks one revision. `rmcp` tells a client of an older one so with status 200; the status says it here as well.
///
/// Under the layer, whatever is of this revision says so in its header.
async fn refuse_older(request: Request, next: Next) -> Response {
    let is_older =
        request.method() == Method::POST && !request.headers().contains_key("mcp-protocol-version");
    let mut response = next.run(request).await;
    if is_older && response.status() == StatusCode::OK {
        *response.status_mut() = StatusCode::BAD_REQUEST;
    }
    response
}
