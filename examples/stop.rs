//! When a server is asked to stop. Of all the examples.

use std::io;

/// Ctrl-C, or what `kill` and service managers send.
pub(crate) async fn asked_to_stop() -> io::Result<()> {
    #[cfg(unix)]
    {
        let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        tokio::select! {
            asked = tokio::signal::ctrl_c() => asked,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}
