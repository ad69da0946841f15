//! An MCP server whose resources are the files of a directory, and which tells its clients when they change.
//!
//! `cargo run --example workspace -- DIR [--port N]`
//!
//! - `workspace.rs` says who is told what. This is what `mcp-sub` is for; begin there.
//! - `resources.rs` lists and reads, on `rmcp`.
//! - `watch.rs` sees what happens in the directory, `changes.rs` what it means, `files.rs` what is there at all.
//!
//! Anyone on this machine can read the files from it: there is no authentication.

#![forbid(unsafe_code)]

mod changes;
mod files;
mod options;
mod resources;
#[cfg(test)]
mod scratch;
#[path = "../stop.rs"]
mod stop;
mod uri;
mod watch;
#[allow(
    clippy::unnecessary_wraps,
    clippy::unused_self,
    reason = "a handler's signatures are the attribute's"
)]
mod workspace;

use std::{
    fmt::Display,
    io::{self, Write},
    net::{Ipv4Addr, SocketAddr},
    process::ExitCode,
};

use axum::Router;
use mcp_sub::Subscriptions;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use tokio::net::TcpListener;

use crate::{
    files::Files,
    options::{Options, USAGE},
    stop::asked_to_stop,
    workspace::Workspace,
};

#[tokio::main]
async fn main() -> ExitCode {
    let options = match Options::parse(std::env::args_os().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            say(USAGE);
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            warn(format!("{error}\n{USAGE}"));
            return ExitCode::from(2);
        }
    };
    match run(&options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            warn(error);
            ExitCode::FAILURE
        }
    }
}

async fn run(options: &Options) -> Result<(), String> {
    let files = Files::new(&options.directory)
        .map_err(|error| format!("{} cannot be served: {error}", options.directory.display()))?;
    let workspace = Workspace { files: files.clone() };

    // The MCP server that exists, and the subscriptions over it.
    let resources = workspace.clone();
    let rmcp = StreamableHttpService::new(
        move || Ok(resources.clone()),
        NeverSessionManager::default().into(),
        StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_stateless_protocol_metadata_required(true)
            .with_json_response(true),
    );
    let subscriptions =
        Subscriptions::builder(workspace).server_info("workspace", env!("CARGO_PKG_VERSION")).build();
    let app = Router::new().route_service("/mcp", subscriptions.layer(rmcp));

    // Whatever happens in the directory is published.
    let publisher = subscriptions.clone();
    let _watch = watch::watch(files.clone(), move |changes| workspace::publish(&publisher, changes))?;

    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
    let refused = |error| format!("cannot listen on {address}: {error}; `--port N` takes another one");
    let listener = TcpListener::bind(address).await.map_err(refused)?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    say(hint(&files, address));

    let mut asked = Ok(());
    mcp_sub::serve(listener, app, &subscriptions).until(async { asked = asked_to_stop().await }).await;
    asked.map_err(|error| error.to_string())
}

/// How to try it, with a file that is there.
fn hint(files: &Files, address: SocketAddr) -> String {
    let (first, _) = files.page(None, 1);
    let file =
        first.first().map(|(path, _)| format!(r#","resourceSubscriptions":["{}"]"#, uri::encode(path)));
    let file = file.unwrap_or_default();
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{{
       "_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}},
       "notifications":{{"resourcesListChanged":true{file}}}}}}}"#
    );
    format!(
        "Serving {} at http://{address}/mcp. Listen to it, and then save a file:

curl -N http://{address}/mcp \\
  -H 'Content-Type: application/json' \\
  -H 'Accept: application/json, text/event-stream' \\
  -H 'MCP-Protocol-Version: 2026-07-28' \\
  -H 'Mcp-Method: subscriptions/listen' \\
  -d '{body}'
",
        files.root().display()
    )
}

/// Not `println!`, which panics where nobody reads any more.
fn say(text: impl Display) {
    _ = writeln!(io::stdout(), "{text}");
}

fn warn(text: impl Display) {
    _ = writeln!(io::stderr(), "workspace: {text}");
}
