//! The inner server of a layer: what goes to it, and what is asked of it.

use std::{
    future::poll_fn,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http::{
    HeaderValue, Request, Response, StatusCode,
    header::{
        ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, TRANSFER_ENCODING, WWW_AUTHENTICATE,
    },
    request::Parts,
    response,
};
use http_body_util::{BodyExt, Limited};
use serde_json::Value;
use tokio::time::Instant;
use tower_service::Service;

use super::{
    answer::Refusal,
    body::Body,
    discover,
    gate::{BoxError, METHOD, NAME},
    request_body::RequestBody,
};
use crate::{
    kind::Kinds,
    protocol::{
        DISCOVER,
        error::{Error, code},
        id::RequestId,
        message,
        request::Request as McpRequest,
    },
    rejection::Rejection,
    settings::Settings,
    sync::lock,
};

/// Why a request came to nothing.
pub(super) enum Stop<E> {
    Refused(Refusal),
    /// The inner service failed as a service.
    Failed(E),
}

impl<E> From<Refusal> for Stop<E> {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// What the inner server can carry, as long as its answer may be kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Carried(Arc<Mutex<Option<(Kinds, Instant)>>>);

impl Carried {
    fn get(&self) -> Option<Kinds> {
        lock(&self.0).filter(|(_, until)| Instant::now() < *until).map(|(carried, _)| carried)
    }
}

pub(super) struct Inner<S> {
    pub(super) service: S,
    pub(super) carried: Carried,
}

impl<S> Inner<S> {
    async fn call<B, R>(&mut self, parts: Parts, body: RequestBody<B>) -> Result<Response<R>, Stop<S::Error>>
    where
        S: Service<Request<RequestBody<B>>, Response = Response<R>>,
    {
        poll_fn(|cx| self.service.poll_ready(cx)).await.map_err(Stop::Failed)?;
        self.service.call(Request::from_parts(parts, body)).await.map_err(Stop::Failed)
    }

    /// Sends a request on, and its response back, untouched.
    pub(super) async fn pass<B, R>(
        mut self,
        parts: Parts,
        body: RequestBody<B>,
    ) -> Result<Response<Body<R>>, Stop<S::Error>>
    where
        S: Service<Request<RequestBody<B>>, Response = Response<R>>,
    {
        Ok(self.call(parts, body).await?.map(Body::inner))
    }

    /// Sends `server/discover` on, and puts `declared` into its answer.
    pub(super) async fn discover<B, R>(
        mut self,
        mut parts: Parts,
        body: Bytes,
        request: &McpRequest<'_>,
        limit: usize,
        declared: Kinds,
    ) -> Result<Response<Body<R>>, Stop<S::Error>>
    where
        S: Service<Request<RequestBody<B>>, Response = Response<R>>,
        R: http_body::Body<Data = Bytes>,
        R::Error: Into<BoxError>,
    {
        // The answer has to be readable here.
        parts.headers.remove(ACCEPT_ENCODING);
        let (mut parts, body) = self.answer(parts, body, &request.id, limit).await?;
        let result = result_of(&parts.headers, &body);
        let Some((result, _)) = result.and_then(|result| self.merged(result, declared)) else {
            return Ok(Response::from_parts(parts, Body::answer(body)));
        };
        for name in [CONTENT_LENGTH, TRANSFER_ENCODING] {
            parts.headers.remove(name);
        }
        parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut out = BytesMut::new();
        message::result(&mut out, &request.id, &result);
        Ok(Response::from_parts(parts, Body::answer(out.freeze())))
    }

    /// What the inner server can carry for the caller of `request`. Asks it, unless it said so before to anybody. A
    /// caller that it does not talk to gets no stream either.
    pub(super) async fn carried<B, R>(
        mut self,
        parts: &Parts,
        request: &McpRequest<'_>,
        settings: &Settings,
        declared: Kinds,
    ) -> Result<Kinds, Stop<S::Error>>
    where
        S: Service<Request<RequestBody<B>>, Response = Response<R>>,
        R: http_body::Body<Data = Bytes>,
        R::Error: Into<BoxError>,
    {
        if let Some(carried) = self.carried.get() {
            return Ok(carried);
        }
        let limit = settings.limits.body.unwrap_or(1024 * 1024);
        let body = discover_request(request);
        let asked = self.answer(discover_parts(parts), body, &request.id, limit);
        let answer = tokio::time::timeout(settings.limits.subscribe_timeout, asked).await;
        let known = match answer {
            Ok(Ok((parts, _)))
                if matches!(parts.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) =>
            {
                return Err(denied(parts, &request.id).into());
            }
            Ok(Ok((parts, body))) => {
                result_of(&parts.headers, &body).and_then(|result| self.merged(result, declared))
            }
            Ok(Err(Stop::Failed(error))) => return Err(Stop::Failed(error)),
            Ok(Err(Stop::Refused(_))) | Err(_) => None,
        };
        let Some((_, carried)) = known else {
            tracing::warn!(
                "the inner server does not answer `server/discover`: all that is declared is honoured"
            );
            return Ok(declared);
        };
        Ok(carried)
    }

    /// Calls the inner server, and reads its answer up to `limit` bytes.
    async fn answer<B, R>(
        &mut self,
        parts: Parts,
        body: Bytes,
        id: &RequestId,
        limit: usize,
    ) -> Result<(response::Parts, Bytes), Stop<S::Error>>
    where
        S: Service<Request<RequestBody<B>>, Response = Response<R>>,
        R: http_body::Body<Data = Bytes>,
        R::Error: Into<BoxError>,
    {
        let (parts, body) = self.call(parts, RequestBody::buffered(body)).await?.into_parts();
        match Limited::new(body, limit).collect().await {
            Ok(body) => Ok((parts, body.to_bytes())),
            Err(error) => {
                tracing::error!(%error, "the inner server's answer to `server/discover` cannot be read");
                let error = Error::new(code::INTERNAL_ERROR, "the inner server's answer cannot be read");
                let rejection = Rejection::from_error(StatusCode::BAD_GATEWAY, error);
                Err(Refusal::new(Some(id.clone()), rejection).into())
            }
        }
    }

    /// The result with our flags, and what the inner server carries. Remembers that, if anyone may.
    fn merged(&self, mut result: Value, declared: Kinds) -> Option<(Value, Kinds)> {
        let (carried, public) = discover::merge(&mut result, declared)?;
        let missing = declared.difference(carried);
        let ttl = Duration::from_millis(result["ttlMs"].as_u64().unwrap_or(0));
        if !missing.is_empty() {
            tracing::warn!(
                ?missing,
                "declared, but the inner server does not advertise the family: never honoured"
            );
        }
        if public && !ttl.is_zero() {
            *lock(&self.carried.0) = Some((carried, Instant::now() + ttl));
        }
        Some((result, carried))
    }
}

/// `server/discover` in the name of the caller of `request`.
fn discover_request(request: &McpRequest<'_>) -> Bytes {
    let meta = request.params.as_ref().and_then(|params| params.get("_meta")).map_or("{}", |meta| meta.get());
    format!(r#"{{"jsonrpc":"2.0","id":"discover","method":"{DISCOVER}","params":{{"_meta":{meta}}}}}"#).into()
}

fn discover_parts(listen: &Parts) -> Parts {
    let mut parts = listen.clone();
    for name in [ACCEPT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING, NAME] {
        parts.headers.remove(name);
    }
    parts.headers.insert(METHOD, HeaderValue::from_static(DISCOVER));
    parts.headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    parts
}

/// The inner server's refusal, as the answer to a listen.
fn denied(mut answer: response::Parts, id: &RequestId) -> Refusal {
    let error = Error::new(code::INTERNAL_ERROR, "the inner server refuses this caller");
    let mut rejection = Rejection::from_error(answer.status, error);
    if let Some(challenge) = answer.headers.remove(WWW_AUTHENTICATE) {
        rejection = rejection.with_header(WWW_AUTHENTICATE, challenge);
    }
    Refusal::new(Some(id.clone()), rejection)
}

/// The `result` of a JSON-RPC response, sent as JSON or as server-sent events.
fn result_of(headers: &HeaderMap, body: &[u8]) -> Option<Value> {
    let media = headers.get(CONTENT_TYPE)?.to_str().ok()?.split(';').next()?.trim();
    if media.eq_ignore_ascii_case("application/json") {
        return take_result(body);
    }
    if media.eq_ignore_ascii_case("text/event-stream") {
        return events(std::str::from_utf8(body).ok()?).iter().find_map(|data| take_result(data));
    }
    None
}

fn take_result(json: &[u8]) -> Option<Value> {
    let mut response: Value = serde_json::from_slice(json).ok()?;
    response.get_mut("result").map(Value::take)
}

/// The data of each event.
fn events(text: &str) -> Vec<BytesMut> {
    let mut events = vec![BytesMut::new()];
    for line in text.lines() {
        let last = events.last_mut().expect("it begins with one");
        if let Some(data) = line.strip_prefix("data:") {
            last.extend_from_slice(data.strip_prefix(' ').unwrap_or(data).as_bytes());
            last.extend_from_slice(b"\n");
        } else if line.is_empty() && !last.is_empty() {
            events.push(BytesMut::new());
        }
    }
    events
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(media: &'static str, body: &str) -> Option<Value> {
        let headers = [(CONTENT_TYPE, HeaderValue::from_static(media))].into_iter().collect();
        result_of(&headers, body.as_bytes())
    }

    #[test]
    fn the_result_is_found_in_json_and_in_events() {
        let response = r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#;
        assert_eq!(result("application/json; charset=utf-8", response), Some(json!({"a": 1})));
        let events = format!(": hi\n\nid: 0\nretry: 3000\ndata:\n\nevent: message\ndata: {response}\n\n");
        assert_eq!(result("text/event-stream", &events), Some(json!({"a": 1})));
        let lines = "data: {\"jsonrpc\":\"2.0\",\r\ndata: \"result\":7}\r\n\r\n";
        assert_eq!(result("text/event-stream", lines), Some(json!(7)));
    }

    #[test]
    fn what_is_no_result_is_left_alone() {
        assert_eq!(
            result("application/json", r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#),
            None
        );
        assert_eq!(result("text/plain", r#"{"result":1}"#), None);
        assert_eq!(result("text/event-stream", ": nothing\n\n"), None);
    }
}
