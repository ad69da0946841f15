//! `subscriptions/listen` over HTTP.

use http::{
    HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName},
    request::Parts,
};

use super::{
    accept,
    answer::Refusal,
    body::Body,
    events::{Events, SSE},
};
use crate::{
    handler::SubscriptionHandler,
    kind::Kinds,
    listen::ListenRequest,
    protocol::{error::Error, filter::RequestedFilter, request::Request},
    rejection::Rejection,
    subscriptions::{Listen, Subscriptions},
};

/// Tells proxies such as nginx not to buffer.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Opens the stream that the request asks for. `allowed` is what this place can carry at all.
pub(super) async fn listen<H: SubscriptionHandler, B>(
    subscriptions: &Subscriptions<H>,
    parts: Parts,
    request: &Request<'_>,
    allowed: Kinds,
) -> Result<Response<Body<B>>, Refusal> {
    let refuse = |rejection| Refusal::new(Some(request.id.clone()), rejection);
    if !accept::admits_event_stream(&parts.headers) {
        let error = Error::invalid_request(
            "a listen is answered as text/event-stream, which `Accept` does not admit",
        );
        return Err(refuse(Rejection::from_error(StatusCode::NOT_ACCEPTABLE, error)));
    }
    let settings = subscriptions.settings();
    let params = request.params.as_ref();
    let filter =
        RequestedFilter::of(params.and_then(|params| params.get("notifications")), settings.limits.filter())
            .map_err(|error| Refusal::bad_request(Some(&request.id), error))?;
    let meta = params.and_then(|params| params.get("_meta")).map_or("{}", |meta| meta.get()).into();
    let listen = Listen {
        request: ListenRequest::new(request.id.clone(), parts.headers, parts.extensions, meta),
        filter,
        framing: SSE,
    };
    let stream = subscriptions.open(listen, allowed).await.map_err(refuse)?;
    let mut response = Response::new(Body::events(Events::new(stream, settings.keep_alive)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    Ok(response)
}
