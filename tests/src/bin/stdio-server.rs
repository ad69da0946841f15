//! A server on standard input and output, for tests of what a process does.

use std::{io, process::ExitCode};

use mcp_sub::{ListChanges, Subscriptions, ToolsListChanged};
use tokio::{
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
};

fn main() -> ExitCode {
    let runtime = Runtime::new().expect("a runtime");
    let served = runtime.block_on(serve());
    runtime.shutdown_background();
    served.map_or_else(
        |error| {
            eprintln!("{error}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}

/// `SIGUSR1` changes the tools, `SIGTERM` ends it.
async fn serve() -> io::Result<()> {
    let subscriptions = Subscriptions::builder(ListChanges::new().tools()).build();
    let (mut change, mut terminate) =
        (signal(SignalKind::user_defined1())?, signal(SignalKind::terminate())?);
    let publishing = async {
        loop {
            tokio::select! {
                _ = change.recv() => subscriptions.publish(ToolsListChanged),
                _ = terminate.recv() => return,
            };
        }
    };
    subscriptions.stdio(tokio::io::stdin(), tokio::io::stdout()).until(publishing).await
}
