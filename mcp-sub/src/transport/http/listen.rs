//! `subscriptions/listen` over HTTP.

use http::{
    HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName},
};

use super::{
    accept,
    answer::Refusal,
    body::Body,
    events::{Events, SSE},
};
use crate::{
    caller::Caller,
    handler::SubscriptionHandler,
    kind::Kinds,
    protocol::{error::Error, filter::RequestedFilter, id::RequestId, request::Request},
    rejection::Rejection,
    subscriptions::{Admission, Listen, Subscriptions},
};

/// Tells proxies such as nginx not to buffer.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A listen that can be answered here, and for which there is room.
pub(super) struct Admitted {
    filter: RequestedFilter,
    admission: Admission,
}

/// Reads what the request asks for, and makes room for it. In that order: what is wrong takes no room.
pub(super) fn admit<H: SubscriptionHandler>(
    subscriptions: &Subscriptions<H>,
    caller: &Caller,
    request: &Request<'_>,
) -> Result<Admitted, Refusal> {
    let refuse = |rejection| Refusal::new(Some(request.id.clone()), rejection);
    if !accept::admits_event_stream(caller.headers()) {
        let error = Error::invalid_request(
            "a listen is answered as text/event-stream, which `Accept` does not admit",
        );
        return Err(refuse(Rejection::from_error(StatusCode::NOT_ACCEPTABLE, error)));
    }
    let notifications = request.params.as_ref().and_then(|params| params.get("notifications"));
    let filter = RequestedFilter::of(notifications, subscriptions.settings().limits.filter())
        .map_err(|error| Refusal::bad_request(Some(&request.id), error))?;
    Ok(Admitted { filter, admission: subscriptions.admit(caller).map_err(refuse)? })
}

/// Opens the stream. `allowed` is what this place can carry at all.
pub(super) async fn open<H: SubscriptionHandler, B>(
    subscriptions: &Subscriptions<H>,
    Admitted { filter, admission }: Admitted,
    id: &RequestId,
    caller: Caller,
    allowed: Kinds,
) -> Result<Response<Body<B>>, Refusal> {
    let listen = Listen { id: id.clone(), caller, filter, framing: SSE };
    let stream = subscriptions
        .open(admission, listen, allowed)
        .await
        .map_err(|rejection| Refusal::new(Some(id.clone()), rejection))?;
    let mut response = Response::new(Body::events(Events::new(stream, subscriptions.settings().keep_alive)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    Ok(response)
}
