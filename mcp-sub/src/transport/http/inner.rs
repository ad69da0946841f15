//! The inner server of a layer: what goes to it, and what is asked of it.

use std::{future::poll_fn, pin::pin};

use bytes::{Bytes, BytesMut};
use http::{
    HeaderValue, Request, Response, StatusCode,
    header::{
        ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, EXPECT, HeaderMap, HeaderName,
        RETRY_AFTER, TRANSFER_ENCODING, WWW_AUTHENTICATE,
    },
    request::Parts,
    response,
};
use serde_json::value::RawValue;
use tower_service::Service;

use super::{
    answer::Refusal,
    body::Body,
    gate::{BoxError, METHOD, NAME},
};
use crate::{
    kind::Kinds,
    protocol::{
        DISCOVER,
        error::{Error, code},
        id::RequestId,
        message,
        object::Object,
        request::Request as McpRequest,
    },
    rejection::Rejection,
    settings::Settings,
    subscriptions::Capabilities,
    transport::merge::{self, Merged, Merger},
};

/// The largest answer to `server/discover` that is read.
const ANSWER: usize = 4 * 1024 * 1024;

/// What no longer describes a body that was changed.
const OF_THE_BODY: [HeaderName; 5] = [
    CONTENT_LENGTH,
    TRANSFER_ENCODING,
    ETAG,
    HeaderName::from_static("content-digest"),
    HeaderName::from_static("repr-digest"),
];

/// What a listen may have beside that, and a `server/discover` in its place has not. Sessions are of older revisions.
const OF_THE_LISTEN: [HeaderName; 5] = [
    ACCEPT_ENCODING,
    EXPECT,
    NAME,
    HeaderName::from_static("mcp-session-id"),
    HeaderName::from_static("last-event-id"),
];

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

pub(super) struct Inner<S> {
    pub(super) service: S,
    pub(super) merger: Merger,
}

/// The inner server's answer to `server/discover`.
struct Answer {
    parts: response::Parts,
    body: Bytes,
    /// The JSON-RPC response in it, if there is one.
    response: Option<Box<RawValue>>,
}

impl<S> Inner<S> {
    async fn call<B, R>(&mut self, parts: Parts, body: Body<B>) -> Result<Response<R>, Stop<S::Error>>
    where
        S: Service<Request<Body<B>>, Response = Response<R>>,
    {
        poll_fn(|cx| self.service.poll_ready(cx)).await.map_err(Stop::Failed)?;
        self.service.call(Request::from_parts(parts, body)).await.map_err(Stop::Failed)
    }

    /// Sends a request on, and its response back, untouched.
    pub(super) async fn pass<B, R>(
        mut self,
        parts: Parts,
        body: Body<B>,
    ) -> Result<Response<Body<R>>, Stop<S::Error>>
    where
        S: Service<Request<Body<B>>, Response = Response<R>>,
    {
        Ok(self.call(parts, body).await?.map(Body::passed))
    }

    /// Sends `server/discover` on, and puts what this caller is told into its answer.
    pub(super) async fn discover<B, R>(
        mut self,
        mut parts: Parts,
        body: Bytes,
        request: &McpRequest<'_>,
        settings: &Settings,
        told: Capabilities,
    ) -> Result<Response<Body<R>>, Stop<S::Error>>
    where
        S: Service<Request<Body<B>>, Response = Response<R>>,
        R: http_body::Body<Data = Bytes>,
        R::Error: Into<BoxError>,
    {
        // The answer has to be readable here.
        parts.headers.remove(ACCEPT_ENCODING);
        let mut answer = self.ask(parts, body, &request.id, settings).await?;
        let merged = answer.response.as_ref().and_then(|response| self.merger.merge(response, told));
        // Events are read up to the response, and what is said of their body may be said of more.
        if merged.is_some() || is_events(&answer.parts.headers) {
            for name in OF_THE_BODY {
                answer.parts.headers.remove(name);
            }
        }
        let Some(Merged { result, .. }) = merged else {
            return Ok(Response::from_parts(answer.parts, Body::whole(answer.body)));
        };
        answer.parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut out = BytesMut::new();
        message::result(&mut out, &request.id, &result);
        Ok(Response::from_parts(answer.parts, Body::whole(out.freeze())))
    }

    /// What the inner server can carry, for the caller of `request`: it is asked in that caller's name, each time, since
    /// it may answer each caller differently. A caller that it refuses gets no stream either.
    pub(super) async fn carried<B, R>(
        mut self,
        parts: Parts,
        request: &McpRequest<'_>,
        settings: &Settings,
        told: Capabilities,
    ) -> Result<Kinds, Stop<S::Error>>
    where
        S: Service<Request<Body<B>>, Response = Response<R>>,
        R: http_body::Body<Data = Bytes>,
        R::Error: Into<BoxError>,
    {
        let body = merge::ask("\"discover\"", request).into();
        let answer = self.ask(discover_parts(parts), body, &request.id, settings).await?;
        let carried = self.merger.carried(answer.response.as_deref(), told);
        Ok(carried.map_err(|error| refused(&answer.parts, error, &request.id))?)
    }

    /// Calls the inner server, and reads its answer, up to the response in it.
    async fn ask<B, R>(
        &mut self,
        parts: Parts,
        body: Bytes,
        id: &RequestId,
        settings: &Settings,
    ) -> Result<Answer, Stop<S::Error>>
    where
        S: Service<Request<Body<B>>, Response = Response<R>>,
        R: http_body::Body<Data = Bytes>,
        R::Error: Into<BoxError>,
    {
        let asked = async {
            let (parts, body) = self.call(parts, Body::whole(body)).await?.into_parts();
            Ok(read(&parts.headers, body).await.map(|(body, response)| Answer { parts, body, response }))
        };
        let (status, problem) = match tokio::time::timeout(settings.limits.subscribe_timeout, asked).await {
            Ok(Ok(Ok(answer))) => return Ok(answer),
            Ok(Err(stop)) => return Err(stop),
            Ok(Ok(Err(problem))) => (StatusCode::BAD_GATEWAY, problem),
            Err(_) => (StatusCode::GATEWAY_TIMEOUT, "it does not come".into()),
        };
        tracing::error!(%problem, "the inner server's answer to `server/discover` cannot be read");
        let error = Error::new(code::INTERNAL_ERROR, "the inner server's answer cannot be read");
        Err(Refusal::new(Some(id.clone()), Rejection::from_error(status, error)).into())
    }
}

/// The inner server's refusal, as the answer to a listen.
fn refused(answer: &response::Parts, error: Option<Error>, id: &RequestId) -> Refusal {
    let is_error = answer.status.is_client_error() || answer.status.is_server_error();
    let status = if is_error { answer.status } else { StatusCode::BAD_GATEWAY };
    let mut rejection = Rejection::from_error(status, error.unwrap_or_else(merge::unknown));
    for name in [WWW_AUTHENTICATE, RETRY_AFTER] {
        for value in answer.headers.get_all(&name) {
            rejection = rejection.with_header(name.clone(), value.clone());
        }
    }
    Refusal::new(Some(id.clone()), rejection)
}

fn discover_parts(mut parts: Parts) -> Parts {
    for name in OF_THE_BODY.into_iter().chain(OF_THE_LISTEN) {
        parts.headers.remove(name);
    }
    parts.headers.insert(METHOD, HeaderValue::from_static(DISCOVER));
    parts.headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    parts
}

/// Reads a body to its end, or up to the response where that comes in a stream of events, which may stay open.
async fn read<R>(headers: &HeaderMap, body: R) -> Result<(Bytes, Option<Box<RawValue>>), BoxError>
where
    R: http_body::Body<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    let is_events = is_events(headers);
    let mut body = pin!(body);
    let mut read = BytesMut::new();
    while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
        let Ok(data) = frame.map_err(Into::into)?.into_data() else { continue };
        if read.len() + data.len() > ANSWER {
            return Err(format!("it has more than {ANSWER} bytes").into());
        }
        read.extend_from_slice(&data);
        if is_events && let Some(response) = response_in_events(&read) {
            return Ok((read.freeze(), Some(response)));
        }
    }
    let response = response(&read);
    Ok((read.freeze(), response))
}

fn is_events(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream")
}

/// `json`, if it is a JSON-RPC response.
fn response(json: &[u8]) -> Option<Box<RawValue>> {
    let json: Box<RawValue> = serde_json::from_slice(json).ok()?;
    let object = Object::of(&json)?;
    let is_response = object.get("result").or_else(|| object.get("error")).is_some();
    is_response.then_some(json)
}

/// The first response among the events that have come so far.
fn response_in_events(bytes: &[u8]) -> Option<Box<RawValue>> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // What comes next may complete it.
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?,
    };
    let mut data = String::new();
    for line in text.lines() {
        if let Some(value) = line.strip_prefix("data:") {
            data.push_str(value.strip_prefix(' ').unwrap_or(value));
            data.push('\n');
        } else if line.is_empty() {
            if let Some(response) = response(data.as_bytes()) {
                return Some(response);
            }
            data.clear();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESPONSE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#;

    #[test]
    fn the_response_is_found_among_events() {
        let found = |text: &str| response_in_events(text.as_bytes()).map(|json| json.get().to_owned());
        let events = format!(": hi\n\nid: 0\nretry: 3000\ndata:\n\nevent: message\ndata: {RESPONSE}\n\n");
        assert_eq!(found(&events).as_deref(), Some(RESPONSE));
        let note = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;
        assert_eq!(found(&format!("data: {note}\n\ndata: {RESPONSE}\r\n\r\n")).as_deref(), Some(RESPONSE));
        let lines = "data: {\"jsonrpc\":\"2.0\",\r\ndata: \"error\":7}\r\n\r\n";
        assert!(found(lines).is_some());
        assert_eq!(found(&format!("data: {RESPONSE}\n")), None, "the event is not complete");
        assert_eq!(found(": nothing\n\n"), None);
    }

    #[test]
    fn half_a_character_waits_for_the_other_half() {
        let mut bytes = format!("data: {RESPONSE}\n\n: ").into_bytes();
        bytes.push(0xc3);
        assert!(response_in_events(&bytes).is_some());
    }

    #[test]
    fn what_is_no_response_is_none() {
        for json in [r#"{"jsonrpc":"2.0","method":"x"}"#, "[]", "", "x"] {
            assert!(response(json.as_bytes()).is_none(), "{json}");
        }
        assert!(response(br#"{"error":{"code":1,"message":""}}"#).is_some());
    }
}
