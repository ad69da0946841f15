//! An inner server that writes down what it receives, and answers as it is told.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, Uri};
use http_body::Frame;
use http_body_util::BodyExt;
use mcp_sub::{Subscriptions, http::Body as LayerBody};
use mcp_sub_tests::{Probe, Server};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tower_service::Service;

/// A request as the inner server received it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) trailers: Option<HeaderMap>,
}

impl Seen {
    /// The method of JSON-RPC, if there is one.
    pub(crate) fn called(&self) -> Option<String> {
        let message: Value = serde_json::from_slice(&self.body).ok()?;
        message["method"].as_str().map(str::to_owned)
    }
}

type Answer = dyn Fn(&Seen) -> Response<Body> + Send + Sync;

#[derive(Clone)]
pub(crate) struct Inner {
    seen: Arc<Mutex<Vec<Seen>>>,
    answer: Arc<Answer>,
}

impl Inner {
    pub(crate) fn new(answer: impl Fn(&Seen) -> Response<Body> + Send + Sync + 'static) -> Self {
        Self { seen: Arc::default(), answer: Arc::new(answer) }
    }

    /// Answers `server/discover` with these capabilities, all else with `"inner"`.
    pub(crate) fn advertising(capabilities: &Value) -> Self {
        let result = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": capabilities, "ttlMs": 60_000, "cacheScope": "public"});
        Self::new(move |seen| match seen.called().as_deref() {
            Some("server/discover") => json_response(&answer_to(seen, &result)),
            _ => Response::new("inner".into()),
        })
    }

    /// All requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The JSON-RPC methods of all requests so far.
    pub(crate) fn called(&self) -> Vec<String> {
        self.seen().iter().map(|seen| seen.called().unwrap_or_else(|| seen.method.to_string())).collect()
    }
}

pub(crate) fn answer_to(seen: &Seen, result: &Value) -> Value {
    let request: Value = serde_json::from_slice(&seen.body).unwrap();
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
}

pub(crate) fn json_response(body: &Value) -> Response<Body> {
    Response::builder().header("content-type", "application/json").body(body.to_string().into()).unwrap()
}

impl Service<Request<LayerBody<Body>>> for Inner {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<LayerBody<Body>>) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.unwrap();
            let trailers = body.trailers().cloned();
            let body = body.to_bytes();
            let seen = Seen { method: parts.method, uri: parts.uri, headers: parts.headers, body, trailers };
            this.seen.lock().unwrap().push(seen.clone());
            Ok((this.answer)(&seen))
        })
    }
}

/// A body whose chunks a test sends one by one.
pub(crate) struct Chunks(mpsc::UnboundedReceiver<&'static str>);

pub(crate) fn chunks() -> (mpsc::UnboundedSender<&'static str>, Chunks) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (sender, Chunks(receiver))
}

impl http_body::Body for Chunks {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|chunk| chunk.map(|chunk| Ok(Frame::data(Bytes::from(chunk)))))
    }
}

/// The inner service's readiness is awaited before it is called.
#[derive(Clone)]
pub(crate) struct OnlyWhenReady {
    pub(crate) inner: Inner,
    pub(crate) ready: bool,
}

impl Service<Request<LayerBody<Body>>> for OnlyWhenReady {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = <Inner as Service<Request<LayerBody<Body>>>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        if !std::mem::replace(&mut self.ready, true) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<LayerBody<Body>>) -> Self::Future {
        assert!(self.ready, "called before it was ready");
        self.inner.call(request)
    }
}

/// A filter that asks for everything.
pub(crate) const ALL: &str = r#"{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a:1"]}"#;

/// Our layer over `inner`, on a socket.
pub(crate) fn over(inner: &Inner) -> (Subscriptions<Probe>, Server) {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.layer(inner.clone()));
    (subscriptions, server)
}
