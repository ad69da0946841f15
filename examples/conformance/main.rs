//! The server that the official conformance suite asks for, with subscriptions by `mcp-sub`.
//!
//! `cargo run --example conformance -- http PORT [--bare]`, or `-- stdio`
//!
//! - `watched.rs` says who is told what. This is what `mcp-sub` is for; begin there.
//! - `serve.rs` puts it over the server of `server.rs`, which is written with `rmcp` and knows nothing of it.
//! - `tools.rs`, `resources.rs` and `prompts.rs` are what the suite asks for; `announce.rs` are the tools that change
//!   something, `tasks.rs` those that take their time, and `input.rs` is how a server asks its client.
//! - `bare.rs` is `--bare`: the same server with the subscriptions that `rmcp` has itself, to compare.

#![forbid(unsafe_code)]

mod announce;
mod bare;
mod changes;
mod contents;
mod input;
mod prompts;
mod resources;
mod serve;
mod server;
#[path = "../stop.rs"]
mod stop;
mod tasks;
mod tools;
#[allow(
    clippy::unnecessary_wraps,
    clippy::unused_self,
    reason = "a handler's signatures are the attribute's"
)]
mod watched;

use std::process::ExitCode;

const USAGE: &str = "usage: conformance http PORT [--bare] | conformance stdio";

fn main() -> ExitCode {
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("conformance: {error}");
            return ExitCode::FAILURE;
        }
    };
    let served = runtime.block_on(run());
    // A thread may wait for standard input still, which nothing ends.
    runtime.shutdown_background();
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("conformance: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["http", port] => with(port, serve::http).await,
        ["http", port, "--bare"] => with(port, bare::http).await,
        ["stdio"] => serve::stdio().await.map_err(|error| error.to_string()),
        _ => Err(USAGE.into()),
    }
}

/// Serves on a port of this machine; 0 takes any that is free.
async fn with<F>(port: &str, serve: impl FnOnce(tokio::net::TcpListener) -> F) -> Result<(), String>
where
    F: Future<Output = std::io::Result<()>>,
{
    let port: u16 = port.parse().map_err(|_| USAGE)?;
    let bound = async {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
        println!("http://{}/mcp", listener.local_addr()?);
        serve(listener).await
    };
    bound.await.map_err(|error| format!("port {port}: {error}"))
}
