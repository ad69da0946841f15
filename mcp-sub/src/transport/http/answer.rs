//! Responses that are no stream.

use bytes::{Bytes, BytesMut};
use http::{
    HeaderValue, Response, StatusCode,
    header::{ALLOW, CONTENT_TYPE},
};
use serde_json::Value;

use super::body::Body;
use crate::{
    handler::SubscriptionHandler,
    protocol::{error::Error, id::RequestId, message, request::Malformed},
    rejection::Rejection,
    subscriptions::Subscriptions,
};

/// Why a request is refused, and its id where that could be read.
#[derive(Debug)]
pub(super) struct Refusal {
    id: Option<RequestId>,
    rejection: Rejection,
}

impl Refusal {
    pub(super) fn new(id: Option<RequestId>, rejection: Rejection) -> Self {
        Self { id, rejection }
    }

    pub(super) fn status(status: StatusCode, error: Error) -> Self {
        Self::new(None, Rejection::from_error(status, error))
    }

    /// Most of what can be wrong with a request.
    pub(super) fn bad_request(id: Option<&RequestId>, error: Error) -> Self {
        Self::new(id.cloned(), Rejection::from_error(StatusCode::BAD_REQUEST, error))
    }

    pub(super) fn not_found(id: &RequestId, error: Error) -> Self {
        Self::new(Some(id.clone()), Rejection::from_error(StatusCode::NOT_FOUND, error))
    }

    pub(super) fn method_not_allowed() -> Self {
        let error = Error::invalid_request("MCP messages are sent by POST");
        let rejection = Rejection::from_error(StatusCode::METHOD_NOT_ALLOWED, error);
        Self::new(None, rejection.with_header(ALLOW, HeaderValue::from_static("POST")))
    }

    /// The answer. What was refused at a limit is counted.
    pub(super) fn into_response<H: SubscriptionHandler, B>(
        self,
        subscriptions: &Subscriptions<H>,
    ) -> Response<Body<B>> {
        subscriptions.refused(&self.rejection);
        let (status, headers, error) = self.rejection.into_parts();
        tracing::debug!(%status, code = error.code, message = error.message, "request refused");
        let mut out = BytesMut::new();
        message::error(&mut out, self.id.as_ref(), &error);
        let mut response = json(status, out.freeze());
        response.headers_mut().extend(headers);
        response
    }
}

impl From<Malformed> for Refusal {
    fn from(malformed: Malformed) -> Self {
        Self::bad_request(malformed.id.as_ref(), malformed.error)
    }
}

/// The response of a request that succeeded.
pub(super) fn result<B>(id: &RequestId, result: &Value) -> Response<Body<B>> {
    let mut out = BytesMut::new();
    message::result(&mut out, id, &result.to_string());
    json(StatusCode::OK, out.freeze())
}

/// A notification was received: 202, no body.
pub(super) fn accepted<B>() -> Response<Body<B>> {
    let mut response = Response::new(Body::whole(Bytes::new()));
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

pub(super) fn json<B>(status: StatusCode, body: Bytes) -> Response<Body<B>> {
    let mut response = Response::new(Body::whole(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
