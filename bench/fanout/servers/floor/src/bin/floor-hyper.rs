//! What a library on hyper can reach: an event is one reference to bytes that were encoded before, in the queue of each
//! stream's body, and one wake-up of its connection.

use std::{
    collections::{HashMap, VecDeque},
    convert::Infallible,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use axum::{
    body::{Body, Bytes},
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use bench_floor::{BUFFER, Frames, Registry, lock};
use http_body::Frame;

#[derive(Default)]
struct Queue {
    frames: VecDeque<Bytes>,
    waker: Option<Waker>,
}

struct Stream {
    frames: Frames,
    tools: Bytes,
    resources: HashMap<String, Bytes>,
    queue: Mutex<Queue>,
    capacity: usize,
}

impl bench_floor::Stream for Stream {
    fn frames(&self) -> &Frames {
        &self.frames
    }

    fn send(&self, uri: Option<&str>) {
        let frame = uri.map_or(&self.tools, |uri| &self.resources[uri]);
        let mut queue = lock(&self.queue);
        if queue.frames.len() < self.capacity {
            queue.frames.push_back(frame.clone());
        }
        let waker = queue.waker.take();
        drop(queue);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

struct Events {
    key: u64,
    stream: Arc<Stream>,
    registry: Arc<Registry<Stream>>,
}

impl http_body::Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let mut queue = lock(&self.stream.queue);
        if let Some(frame) = queue.frames.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(frame))));
        }
        queue.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.registry.remove(self.key, &self.stream.frames);
    }
}

type Server = (Arc<Registry<Stream>>, usize);

async fn listen(State((registry, capacity)): State<Server>, body: Bytes) -> Response {
    let Some(mut frames) = Frames::of_listen(&body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    // What is shared holds the bytes: `frames` keeps only what there is.
    let bytes = |frame: &mut Vec<u8>| Bytes::from(std::mem::take(frame));
    let acknowledgement = bytes(&mut frames.acknowledgement);
    let stream = Arc::new(Stream {
        tools: frames.tools.as_mut().map(bytes).unwrap_or_default(),
        resources: frames.resources.iter_mut().map(|(uri, frame)| (uri.clone(), bytes(frame))).collect(),
        frames,
        queue: Mutex::new(Queue { frames: VecDeque::from([acknowledgement]), waker: None }),
        capacity,
    });
    let key = registry.insert(&stream);
    let headers =
        [("content-type", "text/event-stream"), ("cache-control", "no-cache"), ("x-accel-buffering", "no")];
    (headers, Body::new(Events { key, stream, registry })).into_response()
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let options = bench_trigger::options();
    let registry = Arc::<Registry<Stream>>::default();
    let app = axum::Router::new()
        .route("/mcp", axum::routing::post(listen))
        .with_state((registry.clone(), options.buffer.unwrap_or(BUFFER)));
    let listener = tokio::net::TcpListener::bind(options.mcp).await?;
    tokio::spawn(bench_trigger::serve(options.trigger, async move |event| registry.publish(&event)));
    axum::serve(listener, app).await
}
