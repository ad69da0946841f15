//! An HTTP server that ends on time, whatever its clients do.

use std::{
    fmt,
    future::{Future, poll_fn},
    io,
    net::SocketAddr,
    pin::pin,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use http::{Request, Response};
use hyper::{body::Incoming, rt::Executor, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::conn::auto,
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    task::{JoinError, JoinSet},
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tower_service::Service;

use super::{gate::BoxError, socket::SocketOptions};
use crate::{
    handler::SubscriptionHandler,
    registry::Shutdown,
    subscriptions::Subscriptions,
    sync::{Mutex, lock},
};

/// How long a connection may say nothing, or not all of a request's head. It holds for those that are kept alive as
/// well: longer than the 60 seconds after which most balancers give up an idle one, so that they, not we, close it.
const HEAD: Duration = Duration::from_secs(75);

/// How many bytes hyper gathers for a client that takes none. It also bounds a request's head.
const BUFFER: usize = 64 * 1024;

/// How many requests a connection of HTTP/2 has at a time. It bounds what hyper keeps of responses that a client does not
/// take: it cannot be told to drop one, even when its stream is over.
const REQUESTS: u32 = 200;

/// How long `accept` rests after an error that does not pass by itself, such as: no file descriptor is left.
const REST: Duration = Duration::from_secs(1);

/// How long the tasks that are aborted are waited for: they end at once, but for one that holds its thread.
const ABORT: Duration = Duration::from_secs(1);

/// Serves HTTP/1.1 and HTTP/2, without TLS, on `listener`; [`until`](Serve::until) says when it ends. It then does so
/// within [`Limits::drain`](crate::Limits::drain), whatever its clients do. Needs the feature `serve`.
///
/// `service` is anything that answers HTTP: [`Subscriptions::http`], [`Subscriptions::layer`], or an axum `Router` with
/// one of them in it. `subscriptions` are those that are to end first.
///
/// ```no_run
/// # use mcp_sub::{SubscriptionHandler, Subscriptions};
/// # async fn run<H: SubscriptionHandler>(subscriptions: Subscriptions<H>) -> std::io::Result<()> {
/// let app = axum::Router::new().route_service("/mcp", subscriptions.http());
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
/// let shutdown = mcp_sub::serve(listener, app, &subscriptions).until(tokio::signal::ctrl_c()).await;
/// println!("{} streams completed, {} were cut", shutdown.completed, shutdown.cut);
/// # Ok(())
/// # }
/// ```
///
/// Why not the server that comes with a framework: hyper does not look at a response while its client takes nothing, and
/// a service cannot close a socket. So a client that does not read keeps its connection, and a server that waits for its
/// connections waits for ever. This one owns them.
///
/// - Each socket gets [`SocketOptions`], so that a client that stalls or vanishes is not held for long, nor for much.
/// - Each request has its client's address among its extensions: `request.extension::<SocketAddr>()` in `subscribe`.
/// - A connection that does not get to a whole request's head within 75 seconds is closed; over HTTP/1.1, between
///   requests as well.
/// - A connection of HTTP/2 has at most 200 requests at a time; further ones wait. A response that its client leaves untaken
///   counts until the client takes or resets it, or the connection ends, even when its stream has ended long before.
/// - An error of `accept`, such as no file descriptor being left, is logged; a second later it tries again.
pub fn serve<H: SubscriptionHandler, S>(
    listener: TcpListener,
    service: S,
    subscriptions: &Subscriptions<H>,
) -> Serve<H, S> {
    let subscriptions = subscriptions.clone();
    Serve { listener, service, subscriptions, options: SocketOptions::default() }
}

/// What [`serve`] will do, [`until`](Self::until) a signal.
#[must_use = "nothing is served until it is told `until` when"]
pub struct Serve<H: SubscriptionHandler, S> {
    listener: TcpListener,
    service: S,
    subscriptions: Subscriptions<H>,
    options: SocketOptions,
}

impl<H: SubscriptionHandler, S> Serve<H, S> {
    /// What each accepted socket is set to. Default: [`SocketOptions::default`].
    pub fn socket_options(mut self, options: SocketOptions) -> Self {
        self.options = options;
        self
    }

    /// Serves until `signal` completes, whatever its output is. [`pending`](std::future::pending) never does.
    ///
    /// From then on connections are refused; so are new listens on those that are open, by 503. Streams get their
    /// result, as [`Subscriptions::shutdown`] says, and requests that are under way their response. What is not over when
    /// [`Limits::drain`](crate::Limits::drain) is, 10 seconds by default, is cut: streams whose clients take nothing,
    /// requests that came in half, responses of the service that do not end.
    ///
    /// Other subscriptions that the same service serves are shut down by the signal itself: an `async` block that waits
    /// for it and then calls their `shutdown`.
    ///
    /// # Errors
    ///
    /// None: what goes wrong concerns one connection, or passes.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, or in one without a timer.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, so are the listener and all connections, at once: no stream gets its result. Nothing
    /// runs on without an owner.
    pub async fn until<F, B>(self, signal: F) -> Shutdown
    where
        F: Future,
        S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        let Self { listener, service, subscriptions, options } = self;
        let stopping = CancellationToken::new();
        // Their owner: it aborts what it still has when it is dropped.
        let mut connections = JoinSet::new();
        let accepting = async {
            loop {
                let accepted = accept(|cx| {
                    while let Poll::Ready(Some(ended)) = connections.poll_join_next(cx) {
                        note(ended);
                    }
                    listener.poll_accept(cx)
                });
                let (stream, peer) = accepted.await;
                if let Err(error) = options.apply(&stream) {
                    tracing::debug!(%peer, %error, "a socket option was refused");
                }
                connections.spawn(connection(stream, peer, service.clone(), stopping.child_token()));
            }
        };
        first(signal, accepting).await;
        drop(listener);
        stopping.cancel();
        let (start, budget) = (Instant::now(), subscriptions.settings().limits.drain);
        let shutdown = subscriptions.shutdown(budget).await;
        let finished = async {
            while let Some(ended) = connections.join_next().await {
                note(ended);
            }
        };
        if timeout(budget.saturating_sub(start.elapsed()), finished).await.is_err() {
            tracing::warn!(
                connections = connections.len(),
                "connections are cut, at the end of the shutdown's budget"
            );
            let _ = timeout(ABORT, connections.shutdown()).await;
        }
        shutdown
    }
}

impl<H: SubscriptionHandler, S> fmt::Debug for Serve<H, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve")
            .field("listener", &self.listener)
            .field("subscriptions", &self.subscriptions)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// Waits for `signal`, and does `work` meanwhile, which has no end of its own.
async fn first(signal: impl Future, work: impl Future) {
    let (mut signal, mut work) = (pin!(signal), pin!(work));
    poll_fn(|cx| match signal.as_mut().poll(cx) {
        Poll::Pending => work.as_mut().poll(cx).map(drop),
        Poll::Ready(_) => Poll::Ready(()),
    })
    .await;
}

/// The next connection. No error is a reason to give up: it concerns one connection alone, or it passes.
async fn accept<T>(mut poll_accept: impl FnMut(&mut Context<'_>) -> Poll<io::Result<T>>) -> T {
    loop {
        match poll_fn(&mut poll_accept).await {
            Ok(accepted) => return accepted,
            Err(error) if is_gone(&error) => tracing::debug!(%error, "a client left before it was accepted"),
            Err(error) => {
                tracing::error!(%error, "no connection can be accepted");
                sleep(REST).await;
            }
        }
    }
}

fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// A panic is that of the service, and has ended its own connection.
fn note(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a connection ended");
    }
}

async fn connection<S, B>(stream: TcpStream, peer: SocketAddr, service: S, stopping: CancellationToken)
where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    // Owned here alone: hyper gives each request's task a clone of its executor.
    let requests = Arc::default();
    let mut builder = auto::Builder::new(Requests(Arc::downgrade(&requests)));
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(BUFFER);
    builder.http2().max_send_buf_size(BUFFER).max_concurrent_streams(REQUESTS);
    let service = TowerToHyperService::new(service);
    let has_request = Arc::new(AtomicBool::new(false));
    let note_request = has_request.clone();
    let service = service_fn(move |mut request| {
        note_request.store(true, Ordering::Relaxed);
        request.extensions_mut().insert(peer);
        hyper::service::Service::call(&service, request)
    });
    let mut connection = pin!(builder.serve_connection_with_upgrades(TokioIo::new(stream), service));
    // hyper's own timeout begins when it knows the version, for which it may wait for ever.
    let mut late = pin!(sleep(HEAD));
    let served = poll_fn(|cx| {
        if !has_request.load(Ordering::Relaxed) && late.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        connection.as_mut().poll(cx)
    });
    let ended = if let Some(ended) = stopping.run_until_cancelled(served).await {
        ended
    } else {
        connection.as_mut().graceful_shutdown();
        connection.await
    };
    if let Err(error) = ended {
        tracing::debug!(%peer, error, "a connection was cut");
    }
}

/// HTTP/2 runs each request in a task of its own. They belong to their connection, and end with it.
#[derive(Clone)]
struct Requests(Weak<Mutex<JoinSet<()>>>);

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Requests {
    fn execute(&self, request: F) {
        let Some(requests) = self.0.upgrade() else { return };
        let mut requests = lock(&requests);
        while let Some(ended) = requests.try_join_next() {
            note(ended);
        }
        requests.spawn(request);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_error_of_accept_neither_ends_it_nor_makes_it_spin() {
        let exhausted = || io::Error::other("no file descriptor is left");
        let gone = || io::ErrorKind::ConnectionAborted.into();
        let mut errors = [exhausted(), gone(), gone(), exhausted()].into_iter();
        let start = Instant::now();
        accept(|_| Poll::Ready(errors.next().map_or(Ok(()), Err))).await;
        assert_eq!(start.elapsed(), 2 * REST, "nobody waits because somebody else has left");
    }
}
