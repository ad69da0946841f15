//! Subscriptions alone on an MCP endpoint.

use std::{
    convert::Infallible,
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use http::{Method, Request, Response};
use tower_service::Service;

use super::{
    answer::{self, Refusal},
    body::Body,
    events::SSE,
    gate::{self, BoxError},
    listen, source,
};
use crate::{
    caller::Caller,
    handler::SubscriptionHandler,
    kind::Kinds,
    protocol::{LISTEN, request::Message},
    subscriptions::Subscriptions,
    transport::discover,
};

/// The largest body where nothing else is set: a listen with its URIs.
const BODY: usize = 1024 * 1024;

impl<H: SubscriptionHandler> Subscriptions<H> {
    /// A complete MCP endpoint that serves subscriptions and nothing else: `server/discover`, `subscriptions/listen`, and
    /// the empty lists of the families that it advertises.
    ///
    /// It is a `tower` service over `http` types, for axum's `route_service` and for bare hyper. It has to run inside a
    /// tokio runtime with its timer enabled.
    ///
    /// Who listens is not checked here: put authentication around it, and read its outcome in `subscribe`, from
    /// [`ListenRequest::extension`](crate::ListenRequest::extension).
    #[must_use]
    pub fn http(&self) -> Http<H> {
        Http { subscriptions: self.clone() }
    }
}

/// The service of [`Subscriptions::http`].
pub struct Http<H: SubscriptionHandler> {
    subscriptions: Subscriptions<H>,
}

impl<H: SubscriptionHandler> Clone for Http<H> {
    fn clone(&self) -> Self {
        Self { subscriptions: self.subscriptions.clone() }
    }
}

impl<H: SubscriptionHandler> fmt::Debug for Http<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Http").field(&self.subscriptions).finish()
    }
}

impl<H, B> Service<Request<B>> for Http<H>
where
    H: SubscriptionHandler,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let subscriptions = self.subscriptions.clone();
        Box::pin(async move {
            let answered = serve(&subscriptions, request).await;
            Ok(answered.unwrap_or_else(|refusal| refusal.into_response(&subscriptions)))
        })
    }
}

async fn serve<H, B>(subscriptions: &Subscriptions<H>, request: Request<B>) -> Result<Response<Body>, Refusal>
where
    H: SubscriptionHandler,
    B: http_body::Body,
    B::Error: Into<BoxError>,
{
    let settings = subscriptions.settings();
    let (parts, body) = request.into_parts();
    source::check(settings, &parts)?;
    if parts.method != Method::POST {
        return Err(Refusal::method_not_allowed());
    }
    gate::content_type(&parts.headers)?;
    let (body, _) =
        gate::collect(body, settings.limits.body.unwrap_or(BODY), settings.limits.body_timeout).await?;
    let request = match Message::of(gate::parse(&body)?, settings.limits.id_bytes)? {
        Message::Request(request) => request,
        Message::Notification(_) => return Ok(answer::accepted()),
        Message::Unanswerable(malformed) => return Err(Refusal::from(malformed)),
    };
    let meta = gate::check(&parts.headers, &request)?;
    let caller = Caller::new(parts.headers, parts.extensions, meta);
    let refuse = |rejection| Refusal::new(Some(request.id.clone()), rejection);
    // A listen is admitted first: from then on it can be ended, whatever was said of its caller before.
    let admitted =
        (request.method == LISTEN).then(|| listen::admit(subscriptions, &caller, &request)).transpose()?;
    let capabilities = subscriptions.capabilities(&caller).map_err(refuse)?;
    if let Some(admitted) = admitted {
        let registered = admitted.register(subscriptions, caller, &SSE, capabilities.kinds);
        return listen::open(subscriptions, registered, &request.id, Kinds::ALL).await;
    }
    let answered = discover::answer(settings, capabilities, &request);
    let result = answered.map_err(|error| Refusal::not_found(&request.id, error))?;
    Ok(answer::result(&request.id, &result))
}
