//! Subscriptions over an MCP server that exists.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Method, Request, Response};
use tower_layer::Layer;
use tower_service::Service;

use super::{
    answer::{self, Refusal},
    body::Body,
    events::SSE,
    gate::{self, BoxError, PROTOCOL_VERSION},
    inner::{Inner, Stop},
    listen, source,
};
use crate::{
    caller::Caller,
    handler::SubscriptionHandler,
    protocol::{
        DISCOVER, LISTEN, REMOVED, VERSION,
        error::Error,
        request::{Message, names_version},
    },
    subscriptions::Subscriptions,
    transport::merge::Merger,
};

/// The largest body where nothing else is set: any call of the inner server.
const BODY: usize = 16 * 1024 * 1024;

impl<H: SubscriptionHandler> Subscriptions<H> {
    /// Subscriptions over an MCP server that exists: any `tower` service that speaks Streamable HTTP, such as `rmcp`'s
    /// `StreamableHttpService`, with whatever settings.
    ///
    /// **Authentication belongs outside of this layer**: `subscriptions/listen` never reaches the inner server, so
    /// whatever the inner server checks, a listen is not checked by it. So does CORS, for pages of other origins.
    ///
    /// - `subscriptions/listen` is answered here.
    /// - In the inner server's answer to `server/discover` the flags about subscriptions (`listChanged`, `subscribe`)
    ///   are replaced by what this handler declares. A family, such as `prompts`, that the inner server does not
    ///   advertise is neither added nor honoured: before a stream opens, the inner server is asked in the name of the
    ///   caller. Whom it refuses, and where it does not answer, no stream opens either. Only of one that knows no
    ///   `server/discover` all that is declared is taken for granted.
    /// - A message that says it is of revision 2026-07-28, in its header or in its `_meta`, has to be right about it:
    ///   headers and body must agree, and its method must not be one that this revision has removed. What is wrong gets
    ///   the specification's answer, and the inner server never sees it.
    /// - `Host`, `Origin` and JSON syntax hold for everything.
    /// - All else passes through untouched: requests of other methods, `GET` and `DELETE`, `initialize` and sessions of
    ///   older revisions. Responses are never buffered. Requests are, up to [`Limits::body`](crate::Limits::body).
    ///
    /// A publisher that changes what the inner server lists calls [`publish`](Self::publish) after the change can be
    /// read.
    pub fn layer<S>(&self, inner: S) -> Layered<H, S> {
        Layered { subscriptions: self.clone(), inner, merger: Merger::new() }
    }
}

impl<H: SubscriptionHandler, S> Layer<S> for Subscriptions<H> {
    type Service = Layered<H, S>;

    fn layer(&self, inner: S) -> Layered<H, S> {
        Self::layer(self, inner)
    }
}

/// The service of [`Subscriptions::layer`].
pub struct Layered<H: SubscriptionHandler, S> {
    subscriptions: Subscriptions<H>,
    inner: S,
    merger: Merger,
}

impl<H: SubscriptionHandler, S: Clone> Clone for Layered<H, S> {
    fn clone(&self) -> Self {
        Self {
            subscriptions: self.subscriptions.clone(),
            inner: self.inner.clone(),
            merger: self.merger.clone(),
        }
    }
}

impl<H: SubscriptionHandler, S> fmt::Debug for Layered<H, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layered").field("subscriptions", &self.subscriptions).finish_non_exhaustive()
    }
}

impl<H, S, B, R> Service<Request<B>> for Layered<H, S>
where
    H: SubscriptionHandler,
    S: Service<Request<Body<B>>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Send,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
    R: http_body::Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    type Response = Response<Body<R>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body<R>>, S::Error>> + Send>>;

    /// Always ready: a listen does not wait for the inner server, every other request does in its future.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let subscriptions = self.subscriptions.clone();
        let inner = Inner { service: self.inner.clone(), merger: self.merger.clone() };
        Box::pin(async move {
            match serve(&subscriptions, inner, request).await {
                Err(Stop::Refused(refusal)) => Ok(refusal.into_response(&subscriptions)),
                Err(Stop::Failed(error)) => Err(error),
                Ok(response) => Ok(response),
            }
        })
    }
}

async fn serve<H, S, B, R>(
    subscriptions: &Subscriptions<H>,
    inner: Inner<S>,
    request: Request<B>,
) -> Result<Response<Body<R>>, Stop<S::Error>>
where
    H: SubscriptionHandler,
    S: Service<Request<Body<B>>, Response = Response<R>>,
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
    R: http_body::Body<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    let settings = subscriptions.settings();
    let (parts, body) = request.into_parts();
    source::check(settings, &parts)?;
    if parts.method != Method::POST {
        return inner.pass(parts, Body::passed(body)).await;
    }
    let (body, trailers) =
        gate::collect(body, settings.limits.body.unwrap_or(BODY), settings.limits.body_timeout).await?;
    let json = gate::parse(&body)?;
    // The header first: it is there nearly always, and then the body is read only once.
    let is_modern = parts.headers.get_all(PROTOCOL_VERSION).iter().any(|version| version == VERSION)
        || names_version(json);
    if !is_modern {
        return inner.pass(parts, Body::received(body, trailers)).await;
    }
    gate::content_type(&parts.headers)?;
    let request = match Message::of(json, settings.limits.id_bytes).map_err(Refusal::from)? {
        Message::Request(request) => request,
        Message::Notification(_) => return Ok(answer::accepted()),
        Message::Unanswerable(malformed) => return Err(Refusal::from(malformed).into()),
    };
    let meta = gate::check(&parts.headers, &request)?;
    gate::check_name(&parts.headers, &request)?;
    if REMOVED.contains(&&*request.method) {
        return Err(Refusal::not_found(&request.id, Error::method_not_found(&request.method)).into());
    }
    if request.method != LISTEN && request.method != DISCOVER {
        return inner.pass(parts, Body::received(body, trailers)).await;
    }
    let caller = Caller::new(parts.headers.clone(), parts.extensions.clone(), meta);
    // A listen is admitted first: from then on it can be ended, whatever was said of its caller before.
    let admitted =
        (request.method == LISTEN).then(|| listen::admit(subscriptions, &caller, &request)).transpose()?;
    let told = subscriptions.capabilities(&caller);
    let told = told.map_err(|rejection| Refusal::new(Some(request.id.clone()), rejection))?;
    let Some(admitted) = admitted else {
        return inner.discover(parts, body.clone(), &request, settings, told).await;
    };
    // Before the inner server is asked, so that nothing is lost that is published meanwhile.
    let registered = admitted.register(subscriptions, caller, &SSE, told.kinds);
    let carried = subscriptions.decide(inner.carried(parts, &request, settings, told)).await;
    let carried = carried.map_err(|rejection| Refusal::new(Some(request.id.clone()), rejection))??;
    Ok(listen::open(subscriptions, registered, &request.id, carried).await?)
}
