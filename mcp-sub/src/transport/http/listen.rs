//! `subscriptions/listen` over HTTP.

use http::{
    HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName},
};

use super::{accept, answer::Refusal, body::Body, events::Events};
use crate::{
    caller::Caller,
    handler::SubscriptionHandler,
    kind::Kinds,
    protocol::{error::Error, id::RequestId, request::Request},
    rejection::Rejection,
    subscriptions::{Registered, Subscriptions},
    transport::listen::Admitted,
};

/// Tells proxies such as nginx not to buffer.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Reads what the request asks for, and makes room for it. In that order: what is wrong takes no room.
pub(super) fn admit<H: SubscriptionHandler>(
    subscriptions: &Subscriptions<H>,
    caller: &Caller,
    request: &Request<'_>,
) -> Result<Admitted, Refusal> {
    if !accept::admits_event_stream(caller.headers()) {
        let error = Error::invalid_request(
            "a listen is answered as text/event-stream, which `Accept` does not admit",
        );
        let rejection = Rejection::from_error(StatusCode::NOT_ACCEPTABLE, error);
        return Err(Refusal::new(Some(request.id.clone()), rejection));
    }
    let admitted = Admitted::of(subscriptions, caller, request);
    admitted.map_err(|rejection| Refusal::new(Some(request.id.clone()), rejection))
}

/// Opens the stream. `carried` is what this place can serve at all.
pub(super) async fn open<H: SubscriptionHandler, B>(
    subscriptions: &Subscriptions<H>,
    registered: Registered<H>,
    id: &RequestId,
    carried: Kinds,
) -> Result<Response<Body<B>>, Refusal> {
    let opened = registered.open(carried).await;
    let stream = opened.map_err(|rejection| Refusal::new(Some(id.clone()), rejection))?;
    let mut response = Response::new(Body::events(Events::new(stream, subscriptions.settings().keep_alive)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    Ok(response)
}
