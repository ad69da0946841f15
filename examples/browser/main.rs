//! A page that listens: an MCP endpoint for pages of another origin, and such a page.
//!
//! `cargo run --example browser -- [PORT] [PAGE_PORT]`
//!
//! Open `http://127.0.0.1:8001/` and listen. An empty line here says that the list of tools has changed; any other line is
//! the URI of a resource that has.
//!
//! What a browser needs of the endpoint is in `router`: CORS by `tower-http`, and the same origins for `mcp-sub`, which
//! refuses all others. `listen.js` is a listen with `fetch`, for any page; `page.js` shows what it hears.

#![forbid(unsafe_code)]

#[allow(
    clippy::unnecessary_wraps,
    clippy::unused_self,
    reason = "a handler's signatures are the attribute's"
)]
mod handler;
#[path = "../stop.rs"]
mod stop;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    thread,
    time::Duration,
};

use axum::{Router, response::Html, routing::get};
use http::{
    HeaderName, HeaderValue, Method,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
};
use mcp_sub::Subscriptions;
use tokio::net::TcpListener;
use tower_http::cors::CorsLayer;

use crate::{
    handler::{ResourceChanged, Things, ToolsChanged},
    stop::asked_to_stop,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut ports = [8000, 8001];
    for (port, argument) in ports.iter_mut().zip(std::env::args().skip(1)) {
        *port = argument.parse().map_err(|_| "usage: browser [PORT] [PAGE_PORT]")?;
    }
    let [endpoint, page] = ports.map(|port| TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))));
    let (endpoint, page) = (endpoint.await?, page.await?);
    let url = format!("http://{}/mcp", endpoint.local_addr()?);
    let origin = format!("http://{}", page.local_addr()?);
    println!("endpoint: {url}\npage: {origin}/");

    let subscriptions = Subscriptions::builder(Things).allowed_origins([&origin]).build();
    let told = subscriptions.clone();
    // It waits for a line, and ends with the process.
    thread::spawn(move || publish_lines(&told));
    // They are waited for together: a page that is open does not keep the server.
    let pages = tokio::spawn(async move { axum::serve(page, pages(&url)).await });
    let app = router(&subscriptions, &origin)?;
    mcp_sub::serve(endpoint, app, &subscriptions).until(asked_to_stop()).await;
    pages.abort();
    Ok(())
}

/// The MCP endpoint. `origin` is the one whose pages may use it.
fn router(subscriptions: &Subscriptions<Things>, origin: &str) -> Result<Router, http::Error> {
    let [protocol_version, method, name] =
        ["mcp-protocol-version", "mcp-method", "mcp-name"].map(HeaderName::from_static);
    let cors = CorsLayer::new()
        .allow_origin([HeaderValue::from_str(origin)?])
        .allow_methods([Method::POST])
        // `Authorization` for servers that ask who it is. Where sessions of older revisions are served as well, over a
        // layer, it is also GET and DELETE, `Mcp-Session-Id` and `Last-Event-ID`.
        .allow_headers([ACCEPT, CONTENT_TYPE, AUTHORIZATION, protocol_version, method, name])
        // What a page cannot read otherwise. Older sessions: `Mcp-Session-Id` too.
        .expose_headers([WWW_AUTHENTICATE, RETRY_AFTER])
        // How long a browser does not ask again.
        .max_age(Duration::from_secs(3600));
    // Outside of the service: a preflight is not for it.
    Ok(Router::new().route_service("/mcp", subscriptions.http()).layer(cors))
}

/// The page, which is told where the endpoint is.
fn pages(endpoint: &str) -> Router {
    let html = include_str!("page.html").replace("{endpoint}", endpoint);
    let script = |text: &'static str| get(async move || ([(CONTENT_TYPE, "text/javascript")], text));
    Router::new()
        .route("/", get(async move || Html(html)))
        .route("/listen.js", script(include_str!("listen.js")))
        .route("/page.js", script(include_str!("page.js")))
}

fn publish_lines(subscriptions: &Subscriptions<Things>) {
    for line in io::stdin().lines().map_while(Result::ok) {
        let told = match line.trim() {
            "" => subscriptions.publish(ToolsChanged),
            uri => subscriptions.publish_for(uri, ResourceChanged(uri.to_owned())),
        };
        println!("told: {told}");
    }
}
