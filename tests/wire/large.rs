//! A tool result of 100 MB goes through a layer to the byte, as it is produced, and the layer holds next to nothing of it.
//!
//! A process of its own, since it counts what the process allocates.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

use std::{
    convert::Infallible,
    future::{Ready, poll_fn, ready},
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::Full;
use mcp_sub::http::Body;
use mcp_sub_tests::{META, Probe, Server, within};
use peak_alloc::PeakAlloc;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::Mutex,
};
use tower_service::Service;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Both tests count what their process allocates.
static ALONE: Mutex<()> = Mutex::const_new(());

const CHUNK: usize = 64 * 1024;
const CHUNKS: usize = 100 * 1024 * 1024 / CHUNK;
const HEAD: &[u8] = br#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":""#;
const TAIL: &[u8] = br#""}]}}"#;
const LENGTH: usize = HEAD.len() + CHUNKS * CHUNK + TAIL.len();

/// One part of the result: each is another one.
fn part(number: usize) -> Vec<u8> {
    match number {
        0 => HEAD.to_vec(),
        _ if number == CHUNKS + 1 => TAIL.to_vec(),
        _ => format!("{number:08}").repeat(CHUNK / 8).into_bytes(),
    }
}

/// The result, part by part, each when it is asked for.
struct Produced {
    parts: Arc<AtomicUsize>,
    left: usize,
}

impl http_body::Body for Produced {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let number = self.parts.load(Ordering::SeqCst);
        if number == CHUNKS + 2 {
            return Poll::Ready(None);
        }
        let part = part(number);
        self.left -= part.len();
        self.parts.fetch_add(1, Ordering::SeqCst);
        Poll::Ready(Some(Ok(Frame::data(part.into()))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left as u64)
    }
}

/// The inner server, and how many parts it has produced.
#[derive(Clone, Default)]
struct Inner(Arc<AtomicUsize>);

impl<B> Service<Request<Body<B>>> for Inner {
    type Response = Response<Produced>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Produced>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Body<B>>) -> Self::Future {
        let body = Produced { parts: self.0.clone(), left: LENGTH };
        ready(Ok(Response::builder().header("content-type", "application/json").body(body).unwrap()))
    }
}

fn call() -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"large","arguments":{{}},{META}}}}}"#
    )
}

/// The layer alone: a part is asked for when it is taken, and is the same bytes in the same place.
#[tokio::test]
async fn each_part_is_produced_when_it_is_taken_and_none_is_copied() {
    let _alone = ALONE.lock().await;
    let inner = Inner::default();
    let mut layered = Probe::serve(|builder| builder).layer(inner.clone());
    let request = Request::post("/mcp")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "large")
        .body(Full::new(Bytes::from(call())))
        .unwrap();
    let mut body = pin!(layered.call(request).await.unwrap().into_body());
    assert_eq!(body.size_hint().exact(), Some(LENGTH as u64));
    let before = ALLOCATED.current_usage();
    ALLOCATED.reset_peak_usage();
    for number in 0..CHUNKS + 2 {
        assert_eq!(inner.0.load(Ordering::SeqCst), number, "nothing is produced ahead");
        let data = poll_fn(|cx| body.as_mut().poll_frame(cx)).await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(data, part(number));
    }
    assert!(poll_fn(|cx| body.as_mut().poll_frame(cx)).await.is_none());
    let peak = ALLOCATED.peak_usage() - before;
    println!("the layer: {peak} bytes at most");
    assert!(peak <= 4 * CHUNK, "{peak} bytes: more than a part, and what the test compares it to");
}

/// Over a socket: the first bytes arrive long before the last are produced, and a client that waits makes the inner server
/// wait.
#[tokio::test]
async fn over_a_socket_it_arrives_as_it_is_produced() {
    let _alone = ALONE.lock().await;
    let inner = Inner::default();
    let server = Server::start(Probe::serve(|builder| builder).layer(inner.clone()));
    let before = ALLOCATED.current_usage();
    ALLOCATED.reset_peak_usage();
    let mut socket = TcpStream::connect(server.address()).await.unwrap();
    let body = call();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
         Mcp-Name: large\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(within("the head", socket.read_u8()).await.unwrap());
    }
    let head = String::from_utf8(head).unwrap();
    assert!(
        head.starts_with("HTTP/1.1 200") && head.contains(&format!("content-length: {LENGTH}")),
        "{head}"
    );

    let mut received = vec![0; CHUNK];
    for number in 0..CHUNKS + 2 {
        let expected = part(number);
        let received = &mut received[..expected.len()];
        within("the next part", socket.read_exact(received)).await.unwrap();
        assert!(*received == expected, "part {number}");
        // What is between the two is in the kernel's buffers, and one of hyper's.
        let ahead = inner.0.load(Ordering::SeqCst) - number;
        assert!(ahead < CHUNKS / 4, "{ahead} parts are produced ahead, at part {number}");
    }
    let peak = ALLOCATED.peak_usage() - before;
    println!("over a socket: {peak} bytes at most");
    assert!(peak <= 2 * 1024 * 1024, "{peak} bytes");
}
