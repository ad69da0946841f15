//! A server in this process, driven by hand through its public interface: a request is called, a body is polled, and no
//! socket and no other thread takes part.

#![forbid(unsafe_code)]

pub mod cases;

use std::{
    future::Future,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body as _;
use http_body_util::Full;
use mcp_sub::{Channel, HandledBy, Rejection, Subscriptions, http::Body, subscription_handler};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tower_service::Service;

pub struct Bench;
pub struct ToolsChanged;
pub struct PromptsChanged;
pub struct Updated(pub &'static str);

#[subscription_handler]
#[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the attribute asks for this shape")]
impl Bench {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn tools_changed(&self, _: &ToolsChanged, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(prompts_list_changed)]
    fn prompts_changed(&self, _: &PromptsChanged, channel: &mut Channel<'_>) {
        channel.prompts_list_changed();
    }

    #[emits(resources_updated)]
    fn updated(&self, event: &Updated, channel: &mut Channel<'_>) {
        channel.resources_updated(event.0);
    }
}

/// A server, and the streams that are open.
pub struct Server {
    subscriptions: Subscriptions<Bench>,
    streams: Vec<Stream>,
    /// Timers and tasks belong to it. It never runs: only what is polled by hand does.
    runtime: Runtime,
}

/// A URI that is never freed: what an event of the user's costs is not to be measured.
#[must_use]
pub fn uri(index: usize) -> &'static str {
    format!("bench://res/{index}").leak()
}

/// A filter for tools.
#[must_use]
pub fn tools() -> Value {
    json!({ "toolsListChanged": true })
}

/// A filter for these resources.
#[must_use]
pub fn resources(indices: impl IntoIterator<Item = usize>) -> Value {
    let uris: Vec<&str> = indices.into_iter().map(uri).collect();
    json!({ "resourceSubscriptions": uris })
}

/// A listen with this filter.
#[must_use]
pub fn listen(filter: &Value) -> Request<Full<Bytes>> {
    request("subscriptions/listen", json!({ "notifications": filter }))
}

/// A complete request.
///
/// # Panics
///
/// When `params` is no object.
#[must_use]
pub fn request(method: &str, mut params: Value) -> Request<Full<Bytes>> {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "micro", "version": "1.0.0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    Request::post("/mcp")
        .header("Host", "127.0.0.1:8000")
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", method)
        .body(Full::from(body))
        .expect("all of it is valid")
}

impl Server {
    /// With a stream for each filter, whose acknowledgement was taken, and which waits.
    ///
    /// # Panics
    ///
    /// When a stream is not opened.
    #[must_use]
    pub fn with(filters: impl IntoIterator<Item = Value>) -> Self {
        let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
        let subscriptions = Subscriptions::builder(Bench).build();
        let mut server = Self { subscriptions, streams: Vec::new(), runtime };
        // The first listen sets something up that the others find there.
        server.open(listen(&tools()));
        server.close();
        for filter in filters {
            server.open(listen(&filter));
        }
        assert_eq!(server.drain(), 0, "nothing comes after the acknowledgement");
        server
    }

    /// One request, to its answer.
    ///
    /// # Panics
    ///
    /// When the answer has to be waited for.
    pub fn call(&self, request: Request<Full<Bytes>>) -> Response<Body> {
        let _runtime = self.runtime.enter();
        let answer = pin!(self.subscriptions.http().call(request));
        match answer.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(response)) => response,
            Poll::Pending => panic!("an answer does not have to be waited for"),
        }
    }

    /// Opens a stream, and takes its acknowledgement.
    ///
    /// # Panics
    ///
    /// When it is refused.
    pub fn open(&mut self, request: Request<Full<Bytes>>) {
        let response = self.call(request);
        assert_eq!(response.status(), 200);
        let mut body = Box::pin(response.into_body());
        let _runtime = self.runtime.enter();
        assert!(take(&mut body).is_some(), "the acknowledgement is there at once");
        self.streams.push(body);
    }

    /// To how many streams.
    pub fn publish<E: HandledBy<Bench>>(&self, event: E) -> usize {
        self.subscriptions.publish(event)
    }

    /// To how many streams.
    #[must_use]
    pub fn publish_for(&self, uri: &'static str) -> usize {
        self.subscriptions.publish_for(uri, Updated(uri))
    }

    /// The clients leave.
    pub fn close(&mut self) {
        let _runtime = self.runtime.enter();
        self.streams.clear();
    }

    /// Takes from each stream what waits, until it waits itself. How many bytes.
    pub fn drain(&mut self) -> usize {
        let _runtime = self.runtime.enter();
        let drain =
            |stream: &mut Stream| std::iter::from_fn(|| take(stream)).map(|bytes| bytes.len()).sum::<usize>();
        self.streams.iter_mut().map(drain).sum()
    }
}

type Stream = Pin<Box<Body>>;

/// What there is to write; `None` if the stream waits.
fn take(stream: &mut Stream) -> Option<Bytes> {
    match stream.as_mut().poll_frame(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Some(Ok(frame))) => frame.into_data().ok(),
        Poll::Ready(_) => panic!("the stream has ended"),
        Poll::Pending => None,
    }
}
