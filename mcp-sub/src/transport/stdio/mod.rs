//! Messages as lines, over any pair of byte streams: standard input and output, a Unix socket, a TCP connection.
//!
//! Specification: [stdio](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio).

mod answer;
mod connection;
mod inner;
mod lines;
mod listens;
mod writer;

use std::{
    fmt,
    future::{Future, pending},
    io,
};

use http::Extensions;
use tokio::io::{AsyncRead, AsyncWrite, Empty};

use crate::{handler::SubscriptionHandler, subscriptions::Subscriptions};

impl<H: SubscriptionHandler> Subscriptions<H> {
    /// Serves one client, whose messages come from `reader` and go to `writer`, a line each: standard input and output, or
    /// the halves of any other byte stream.
    ///
    /// ```no_run
    /// # use mcp_sub::{SubscriptionHandler, Subscriptions};
    /// # fn run<H: SubscriptionHandler>(subscriptions: Subscriptions<H>) -> std::io::Result<()> {
    /// let runtime = tokio::runtime::Runtime::new()?;
    /// let served = runtime.block_on(subscriptions.stdio(tokio::io::stdin(), tokio::io::stdout()).serve());
    /// // A thread may wait for standard input still, which nothing ends.
    /// runtime.shutdown_background();
    /// served
    /// # }
    /// ```
    ///
    /// Alone it answers what [`http`](Self::http) does; [`over`](Stdio::over) puts it in front of a server that exists.
    /// Nothing else may write to standard output: log to standard error.
    ///
    /// - Streams share the channel, and the specification's `subscriptionId` tells them apart. Each is a task: what a
    ///   handler does for one keeps nobody waiting.
    /// - What a stream says is written before it is asked for more. So a client that does not read is told once, when it
    ///   reads again, what has changed meanwhile; one that does not for
    ///   [`Limits::write_timeout`](crate::Limits::write_timeout) finds its streams ended.
    /// - `notifications/cancelled` ends a stream, and nothing more is told of it: no notification, no response. What waits
    ///   to be written is not written any more. It ends nothing else: the answer to another request comes all the same.
    /// - A line has at most [`Limits::body`](crate::Limits::body) bytes, by default 1 MiB alone and 16 MiB over another
    ///   server; a longer one is refused, and what follows is read.
    /// - Each message is one write, followed by a flush when nothing else waits: a
    ///   [`BufWriter`](tokio::io::BufWriter) gathers them where writes are dear.
    pub fn stdio<R, W>(&self, reader: R, writer: W) -> Stdio<H, R, W> {
        Stdio {
            subscriptions: self.clone(),
            extensions: Extensions::new(),
            channel: (reader, writer),
            inner: None,
        }
    }
}

/// A client's channel, for [`serve`](Self::serve). From [`Subscriptions::stdio`].
#[must_use = "nothing is served until `serve` or `until` is awaited"]
pub struct Stdio<H: SubscriptionHandler, R, W, I = Empty> {
    subscriptions: Subscriptions<H>,
    extensions: Extensions,
    channel: (R, W),
    inner: Option<I>,
}

impl<H: SubscriptionHandler, R, W, I> Stdio<H, R, W, I> {
    /// What is known of the client, such as the user at the other end of a Unix socket:
    /// [`Caller::extension`](crate::Caller::extension) has it, for each listen.
    pub fn extension<T: Clone + Send + Sync + 'static>(mut self, known: T) -> Self {
        self.extensions.insert(known);
        self
    }

    /// Puts the subscriptions in front of an MCP server that exists, at the other end of `inner`: a
    /// [`duplex`](tokio::io::duplex), or what [`join`](tokio::io::join) makes of a child's output and input.
    ///
    /// ```no_run
    /// # use mcp_sub::{SubscriptionHandler, Subscriptions};
    /// # async fn serve_inner(_: tokio::io::DuplexStream) {}
    /// # async fn run<H: SubscriptionHandler>(subscriptions: Subscriptions<H>) -> std::io::Result<()> {
    /// let (ours, inners) = tokio::io::duplex(64 * 1024);
    /// // With `rmcp`: `rmcp::serve_server(server, inners)`.
    /// let inner = tokio::spawn(serve_inner(inners));
    /// subscriptions.stdio(tokio::io::stdin(), tokio::io::stdout()).over(ours).serve().await?;
    /// inner.await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// As with a [layer](Subscriptions::layer), `subscriptions/listen` is answered here, the flags about subscriptions in
    /// the inner server's `server/discover` are replaced, and a family that it does not advertise is not honoured. A
    /// message of this revision has to be right about it. All else passes, line by line and to the byte, both ways;
    /// what the inner server says in a line of any length is not held.
    ///
    /// When the input ends so does the inner server's, and it may answer what it has read. When the inner server ends, or
    /// takes no more, so does the connection. While it reads nothing, neither is the client read: what a listen needs of it
    /// is waited for no longer than [`Limits::subscribe_timeout`](crate::Limits::subscribe_timeout).
    ///
    /// Notifications that the inner server itself sends pass as well: one for clients of this revision has to leave changes
    /// to the subscriptions, or they hear of them twice.
    pub fn over<J>(self, inner: J) -> Stdio<H, R, W, J>
    where
        J: AsyncRead + AsyncWrite + Send + 'static,
    {
        let Self { subscriptions, extensions, channel, .. } = self;
        Stdio { subscriptions, extensions, channel, inner: Some(inner) }
    }
}

impl<H, R, W, I> Stdio<H, R, W, I>
where
    H: SubscriptionHandler,
    R: AsyncRead,
    W: AsyncWrite,
    I: AsyncRead + AsyncWrite + Send + 'static,
{
    /// Serves until the client's input ends. Then what was asked is answered, each stream gets its result, and
    /// [`handle_close`](SubscriptionHandler::handle_close) of all has returned, within
    /// [`Limits::drain`](crate::Limits::drain), 10 seconds by default: nine tenths for the streams, the rest for the
    /// `handle_close` of those that have to be cut.
    ///
    /// Lines that wait because their answers are not taken, or because the inner server reads nothing, have nine tenths of
    /// that time each. Behind more of them than a line may have bytes, the end of the input cannot be seen: only
    /// [`until`](Self::until) ends such a connection, or writing, when the client is gone.
    ///
    /// # Errors
    ///
    /// What reading or writing fails with. A client that leaves is no error.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, or in one without a timer.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, all streams end at once, and nothing runs on but `handle_close`.
    pub async fn serve(self) -> io::Result<()> {
        self.until(pending::<()>()).await
    }

    /// As [`serve`](Self::serve), and ends in the same way when `signal` completes, whatever its output is.
    ///
    /// It ends this connection alone. Where several are served, one [`shutdown`](Subscriptions::shutdown) ends the streams
    /// of all.
    ///
    /// # Errors
    ///
    /// As [`serve`](Self::serve).
    ///
    /// # Panics
    ///
    /// As [`serve`](Self::serve).
    ///
    /// # Cancel safety
    ///
    /// As [`serve`](Self::serve).
    pub async fn until(self, signal: impl Future) -> io::Result<()> {
        let Self { subscriptions, extensions, channel, inner } = self;
        // It is large, and whoever awaits it would be as well.
        Box::pin(connection::run(subscriptions, extensions, channel, inner, signal)).await
    }
}

impl<H: SubscriptionHandler, R, W, I> fmt::Debug for Stdio<H, R, W, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stdio")
            .field("subscriptions", &self.subscriptions)
            .field("over", &self.inner.is_some())
            .finish_non_exhaustive()
    }
}
