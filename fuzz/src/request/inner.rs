//! The server behind a layer: writes down what it receives, and answers as the case says.

use std::{
    convert::Infallible,
    future::{Future, pending},
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use http_body_util::BodyExt;
use tower_service::Service;

use super::received::VERSION;
use crate::{
    body::{Scripted, Then},
    json,
    probe::UPDATES,
};

/// A header of everything that comes from the inner server.
pub(super) const MARK: &str = "x-inner";
/// What it answers to everything but `server/discover`.
pub(super) const TEXT: &str = "inner";

/// What it answers to `server/discover`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Answer {
    AllFamilies,
    ToolsAlone,
    AllFamiliesAsEvents,
    NoSuchMethod,
    Unauthorized,
    /// A result of an odd shape.
    Odd,
    NoJson,
    BreaksOff,
    /// Events, and no response among them.
    NeverEnds,
    Never,
}

impl Answer {
    pub(super) const ALL: [Self; 10] = [
        Self::AllFamilies,
        Self::ToolsAlone,
        Self::AllFamiliesAsEvents,
        Self::NoSuchMethod,
        Self::Unauthorized,
        Self::Odd,
        Self::NoJson,
        Self::BreaksOff,
        Self::NeverEnds,
        Self::Never,
    ];

    /// The kinds that a server with this answer can carry; `None`: no stream opens.
    pub(super) fn carried(self) -> Option<u8> {
        match self {
            Self::AllFamilies | Self::AllFamiliesAsEvents | Self::NoSuchMethod => Some(7 | UPDATES),
            Self::ToolsAlone | Self::Odd => Some(1),
            _ => None,
        }
    }

    fn response(self, id: &str) -> Response<Scripted> {
        let all = r#"{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":false}}"#;
        let result = |capabilities: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","capabilities":{capabilities},"ttlMs":7}}}}"#
            )
        };
        let error =
            |code: i64| format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"no"}}}}"#);
        let (status, media, body) = match self {
            Self::AllFamilies => {
                (200, "application/json", Scripted::new(result(all).as_bytes(), 9, Then::End))
            }
            Self::ToolsAlone => (200, "application/json", Scripted::whole(result(r#"{"tools":{}}"#))),
            Self::AllFamiliesAsEvents => {
                let events = format!(": hello\n\nid: 1\ndata: {}\n\n", result(all));
                (200, "text/event-stream", Scripted::new(events.as_bytes(), 50, Then::Hang))
            }
            Self::NoSuchMethod => (404, "application/json", Scripted::whole(error(-32601))),
            Self::Unauthorized => (401, "application/json", Scripted::whole(error(-32603))),
            Self::Odd => {
                let odd = r#"{"tools":{"a":1,"a":2},"prompts":7,"resources":null,"x":{"listChanged":1}}"#;
                (200, "application/json", Scripted::whole(result(odd)))
            }
            Self::NoJson => (200, "text/html", Scripted::whole("<!doctype html>")),
            Self::BreaksOff => {
                (200, "application/json", Scripted::new(&result(all).as_bytes()[..40], 10, Then::BreakOff))
            }
            Self::NeverEnds | Self::Never => {
                (200, "text/event-stream", Scripted::new(b": wait\n\ndata: {}\n\n", 3, Then::Hang))
            }
        };
        let response = Response::builder().status(status).header(MARK, "1").header("content-type", media);
        response.body(body).expect("it has all its parts")
    }
}

/// A request as the inner server received it.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    /// `None`: it broke off.
    pub(super) body: Option<Bytes>,
}

#[derive(Clone)]
pub(super) struct Inner {
    pub(super) answer: Answer,
    pub(super) seen: Arc<Mutex<Vec<Seen>>>,
}

impl Service<Request<mcp_sub::http::Body<Scripted>>> for Inner {
    type Response = Response<Scripted>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<mcp_sub::http::Body<Scripted>>) -> Self::Future {
        let inner = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.ok().map(http_body_util::Collected::to_bytes);
            // Of another revision it is a method like any other.
            let is_ours = parts.method == Method::POST
                && parts.headers.get("mcp-protocol-version").is_some_and(|version| version == VERSION)
                && parts.headers.get("mcp-method").is_some_and(|method| method == "server/discover");
            let id = body.as_deref().filter(|_| is_ours).and_then(discovers);
            let seen = Seen { method: parts.method, uri: parts.uri, headers: parts.headers, body };
            inner.seen.lock().expect("no panic in there").push(seen);
            match id {
                Some(_) if inner.answer == Answer::Never => pending().await,
                Some(id) => Ok(inner.answer.response(&id)),
                None => {
                    let response = Response::builder().status(StatusCode::IM_A_TEAPOT).header(MARK, "1");
                    Ok(response.body(Scripted::whole(TEXT)).expect("it has all its parts"))
                }
            }
        })
    }
}

/// The id of a `server/discover`.
fn discovers(body: &[u8]) -> Option<String> {
    let message = json::members(json::whole(body)?)?;
    let member = |name| message.iter().rev().find(|member| member.name.as_deref() == Some(name));
    let called = json::string(member("method")?.value)?;
    (called == "server/discover").then(|| Some(member("id")?.value.to_owned()))?
}
