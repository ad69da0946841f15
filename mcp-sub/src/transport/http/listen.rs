//! `subscriptions/listen` over HTTP.

use http::{
    HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName},
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
    settings::Settings,
    subscriptions::{Admission, Listen, Subscriptions},
};

/// Tells proxies such as nginx not to buffer.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// What the request asks for, if it can be answered here.
pub(super) fn asked(
    settings: &Settings,
    headers: &HeaderMap,
    request: &Request<'_>,
) -> Result<RequestedFilter, Refusal> {
    if !accept::admits_event_stream(headers) {
        let error = Error::invalid_request(
            "a listen is answered as text/event-stream, which `Accept` does not admit",
        );
        let rejection = Rejection::from_error(StatusCode::NOT_ACCEPTABLE, error);
        return Err(Refusal::new(Some(request.id.clone()), rejection));
    }
    let notifications = request.params.as_ref().and_then(|params| params.get("notifications"));
    RequestedFilter::of(notifications, settings.limits.filter())
        .map_err(|error| Refusal::bad_request(Some(&request.id), error))
}

/// Makes room for the stream, or refuses the request.
pub(super) fn admit<H: SubscriptionHandler>(
    subscriptions: &Subscriptions<H>,
    request: &Request<'_>,
) -> Result<Admission, Refusal> {
    subscriptions.admit().map_err(|rejection| Refusal::new(Some(request.id.clone()), rejection))
}

/// Opens the stream. `allowed` is what this place can carry at all.
pub(super) async fn open<H: SubscriptionHandler, B>(
    subscriptions: &Subscriptions<H>,
    admission: Admission,
    request: ListenRequest,
    filter: RequestedFilter,
    allowed: Kinds,
) -> Result<Response<Body<B>>, Refusal> {
    let id = request.id().clone();
    let listen = Listen { request, filter, framing: SSE };
    let stream = subscriptions
        .open(admission, listen, allowed)
        .await
        .map_err(|rejection| Refusal::new(Some(id), rejection))?;
    let mut response = Response::new(Body::events(Events::new(stream, subscriptions.settings().keep_alive)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    Ok(response)
}
