//! What passes through a layer, to the byte: odd requests as they were sent, any response as it was answered.

use std::{
    collections::VecDeque,
    convert::Infallible,
    io::{Read as _, Write as _},
    pin::Pin,
    task::{Context, Poll},
};

use axum::{body::Body, routing::post};
use bytes::Bytes;
use http::{HeaderMap, Method, Response, StatusCode, header::HeaderValue};
use http_body::Frame;
use mcp_sub_tests::{META, Probe, Request, Server, ToolsChanged, within};

use crate::inner::{Inner, chunks, over};

/// An inner server whose every answer is this one.
fn answering(response: impl Fn() -> Response<Body> + Send + Sync + 'static) -> Inner {
    Inner::new(move |_| response())
}

fn call() -> Request {
    Request::call("7", "tools/call", r#""name":"x""#).header("Mcp-Name", "x")
}

/// A body of the test's own, as that of a call of the tool `x`.
fn calling(params: &str) -> Request {
    call().body(params)
}

#[tokio::test]
async fn the_bytes_of_a_request_are_those_that_the_client_sent() {
    let inner = answering(|| Response::new("inner".into()));
    let (_, server) = over(&inner);
    let arguments = r#""arguments":{"k":1,"k":[{"z":1,"z":2}],"\u006b":1e400,"n":-0,"d":1.000000000000000000000000001,"i":123456789012345678901234567890,"s":"\ud800\/\u0000é"}"#;
    for body in [
        // Whitespace of every kind, around and within.
        format!(
            "\n\t {{ \"params\" :\r\n{{\"name\" : \"x\", {META} , {arguments} }},\"id\":\t7 ,\"method\":\"tools/call\",\"jsonrpc\":\"2.0\"}} \r\n"
        ),
        // Members that nobody knows, in any order; an id of many digits; `_meta` last, with duplicates below it.
        format!(
            r#"{{"x":null,"id":{},"params":{{"name":"\u0078",{arguments},{}}},"method":"tools\/call","jsonrpc":"2.0","y":{{"y":1,"y":2}}}}"#,
            "9".repeat(100),
            META.replace(r#""_meta":{"#, r#""_meta":{"com.example/x":{"a":1,"a":2},"n":1.50,"#),
        ),
        // Large, but not too large.
        format!(
            r#"{{"jsonrpc":"2.0","id":"é","method":"tools/call","params":{{"name":"x",{META},"pad":"{}"}}}}"#,
            "é".repeat(1024 * 1024)
        ),
    ] {
        let mut response = server.send(&calling(&body)).await;
        assert_eq!(response.bytes().await, b"inner", "{}", &body[..300.min(body.len())]);
        assert_eq!(inner.seen().pop().unwrap().body, body.as_bytes());
    }
}

#[tokio::test]
async fn the_headers_of_a_request_are_those_that_the_client_sent() {
    let inner = answering(|| Response::new("inner".into()));
    let (_, server) = over(&inner);
    let request = call()
        .header("x-twice", "b")
        .header("Accept-Encoding", "zstd, br;q=0.5")
        .header("X-Twice", "a")
        .header("x-latin", "caf\u{e9}")
        .header("x-empty", "")
        .header("Mcp-Session-Id", "s")
        .header("Last-Event-ID", "5")
        .header("Mcp-Param-A", "=?base64?not base64?=")
        .header("Cookie", "a=b; c=\"d\"")
        .header("Authorization", "Bearer x")
        .target("/mcp?a=%2F&b#");
    assert_eq!(server.send(&request).await.status(), 200);
    let seen = inner.seen().pop().expect("it is sent on");
    assert_eq!(seen.uri, "/mcp?a=%2F&b");
    let twice: Vec<_> = seen.headers.get_all("x-twice").iter().collect();
    assert_eq!(twice, ["b", "a"], "in their order");
    assert_eq!(seen.headers["x-latin"].as_bytes(), "caf\u{e9}".as_bytes());
    assert_eq!(seen.headers["x-empty"], "");
    for (name, value) in [
        ("accept-encoding", "zstd, br;q=0.5"),
        ("mcp-session-id", "s"),
        ("last-event-id", "5"),
        ("mcp-param-a", "=?base64?not base64?="),
        ("cookie", "a=b; c=\"d\""),
        ("authorization", "Bearer x"),
        ("mcp-name", "x"),
        ("mcp-method", "tools/call"),
        ("mcp-protocol-version", "2026-07-28"),
    ] {
        assert_eq!(seen.headers[name], value);
    }
    assert_eq!(seen.headers.len(), 17, "and no other: {:?}", seen.headers);
}

#[tokio::test]
async fn a_request_may_come_in_chunks_and_with_trailers() {
    let inner = answering(|| Response::new("inner".into()));
    let (_, server) = over(&inner);
    let whole = call().bytes();
    let body = &whole[whole.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4..];
    let mut chunked = Vec::new();
    for piece in body.chunks(7) {
        write!(chunked, "{:X};x=y\r\n", piece.len()).unwrap();
        chunked.extend_from_slice(piece);
        chunked.extend_from_slice(b"\r\n");
    }
    chunked.extend_from_slice(b"0\r\nx-sum: 7\r\n\r\n");
    let request = call().body(chunked).without_length().header("Transfer-Encoding", "chunked");
    assert_eq!(server.send(&request).await.bytes().await, b"inner");
    let seen = inner.seen().pop().unwrap();
    assert_eq!(seen.body, body);
    assert_eq!(seen.trailers.expect("trailers")["x-sum"], "7");
}

/// A stream of events, of a call or of the `GET` of an older session, as fast as it is written.
#[tokio::test]
async fn events_of_the_inner_server_come_one_by_one() {
    let (senders, bodies): (Vec<_>, VecDeque<_>) = (0..2).map(|_| chunks()).unzip();
    let bodies = std::sync::Mutex::new(bodies);
    let inner = answering(move || {
        let body = Body::new(bodies.lock().unwrap().pop_front().unwrap());
        let response = Response::builder().header("content-type", "text/event-stream; charset=utf-8");
        response.header("cache-control", "no-store").header("mcp-session-id", "s").body(body).unwrap()
    });
    let (_, server) = over(&inner);
    let get = Request::post("").method("GET").without("Mcp-Method").set("MCP-Protocol-Version", "2025-11-25");
    for (request, sender) in [call(), get].iter().zip(senders) {
        let mut response = server.send(request).await;
        assert_eq!(response.header("content-type"), Some("text/event-stream; charset=utf-8"));
        assert_eq!(response.header("cache-control"), Some("no-store"));
        assert_eq!(response.header("mcp-session-id"), Some("s"));
        assert_eq!(response.header("x-accel-buffering"), None);
        let mut expected = Vec::new();
        for event in [
            "id: 0\nretry: 3000\ndata:\n\n",
            ": a comment\r\n\r\n",
            "event: message\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"notifications/progress\"}\n\n",
            "data: half an ev",
            "ent\n\n",
        ] {
            // It is not written before the one before it has arrived.
            sender.send(event).unwrap();
            expected.extend_from_slice(event.as_bytes());
            while response.received().len() < expected.len() {
                assert!(response.more().await);
            }
            assert_eq!(response.received(), expected);
        }
        drop(sender);
        assert!(!response.more().await);
    }
}

#[tokio::test]
async fn the_inner_server_learns_that_the_client_has_left() {
    let (sender, body) = chunks();
    let body = std::sync::Mutex::new(Some(body));
    let inner = answering(move || Response::new(Body::new(body.lock().unwrap().take().unwrap())));
    let (_, server) = over(&inner);
    let mut response = server.send(&call()).await;
    sender.send("data").unwrap();
    assert!(response.more().await);
    response.leave();
    within("its body is dropped", sender.closed()).await;
}

#[tokio::test]
async fn the_status_and_the_headers_of_a_response_are_the_inner_servers() {
    for status in [200, 201, 202, 204, 205, 304, 307, 400, 404, 405, 418, 429, 500, 599] {
        let inner = answering(move || {
            let response = Response::builder()
                .status(status)
                .header("set-cookie", "a=1")
                .header("x-inner", HeaderValue::from_bytes(b"caf\xe9").unwrap())
                .header("set-cookie", "b=2")
                .header("etag", "\"e\"")
                .header("date", "never")
                .header("access-control-allow-origin", "*");
            response.body(Body::empty()).unwrap()
        });
        let (_, server) = over(&inner);
        let mut client = server.connect().await;
        client.write(&call().header("Connection", "close")).await;
        let answer = client.raw().await;
        let head: Vec<_> = answer.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end).collect();
        assert!(head[0].starts_with(format!("HTTP/1.1 {status}").as_bytes()));
        let mut fields: Vec<_> = head[1..].iter().copied().filter(|line| !line.is_empty()).collect();
        // hyper's own.
        fields.retain(|line| ![&b"connection: close"[..], b"content-length: 0"].contains(line));
        assert_eq!(
            fields,
            [
                &b"set-cookie: a=1"[..],
                b"set-cookie: b=2",
                b"x-inner: caf\xe9",
                b"etag: \"e\"",
                b"date: never",
                b"access-control-allow-origin: *"
            ],
            "{status}"
        );
    }
}

#[tokio::test]
async fn a_compressed_response_stays_as_it_is() {
    let text = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
    let mut compressed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    compressed.write_all(text.as_bytes()).unwrap();
    let compressed = compressed.finish().unwrap();
    let answer = compressed.clone();
    let inner = answering(move || {
        let response = Response::builder().header("content-encoding", "gzip");
        response.header("content-type", "application/json").body(answer.clone().into()).unwrap()
    });
    let (_, server) = over(&inner);
    let mut response = server.send(&call().header("Accept-Encoding", "gzip")).await;
    assert_eq!(response.header("content-encoding"), Some("gzip"));
    assert_eq!(response.header("content-length"), Some(&*compressed.len().to_string()));
    assert_eq!(response.bytes().await, compressed);
    let mut inflated = String::new();
    flate2::read::GzDecoder::new(response.received()).read_to_string(&mut inflated).unwrap();
    assert_eq!(inflated, text);
}

/// Data, and then trailers.
struct Trailing(VecDeque<Frame<Bytes>>);

impl http_body::Body for Trailing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(Ok))
    }
}

#[tokio::test]
async fn the_trailers_of_a_response_are_the_inner_servers() {
    let inner = answering(|| {
        let trailers = HeaderMap::from_iter([("x-sum".parse().unwrap(), HeaderValue::from_static("7"))]);
        let frames = [Frame::data(Bytes::from_static(b"data")), Frame::trailers(trailers)];
        Response::builder().header("trailer", "x-sum").body(Body::new(Trailing(frames.into()))).unwrap()
    });
    let (_, server) = over(&inner);
    let mut client = server.connect().await;
    client.write(&call().header("TE", "trailers").header("Connection", "close")).await;
    let answer = String::from_utf8(client.raw().await).unwrap();
    assert!(answer.ends_with("\r\n\r\n4\r\ndata\r\n0\r\nx-sum: 7\r\n\r\n"), "{answer}");
}

#[tokio::test]
async fn a_response_whose_body_breaks_off_is_cut_and_never_completed() {
    struct Broken(u8);
    impl http_body::Body for Broken {
        type Data = Bytes;
        type Error = std::io::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
            self.0 += 1;
            match self.0 {
                1 => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"data"))))),
                // So that it is written first.
                2 => {
                    cx.waker().wake_by_ref();
                    Poll::Pending
                }
                _ => Poll::Ready(Some(Err(std::io::Error::other("as told")))),
            }
        }
    }
    let inner = answering(|| Response::new(Body::new(Broken(0))));
    let (_, server) = over(&inner);
    let mut client = server.connect().await;
    client.write(&call()).await;
    let answer = String::from_utf8(client.raw().await).unwrap();
    assert!(answer.ends_with("4\r\ndata\r\n") && answer.contains("chunked"), "{answer}");
}

#[tokio::test]
async fn a_head_has_no_body_and_the_length_that_the_inner_server_says() {
    let inner =
        answering(|| Response::builder().header("content-length", "1234").body(Body::empty()).unwrap());
    let (_, server) = over(&inner);
    let mut client = server.connect().await;
    client.write(&Request::post("").method("HEAD").header("Connection", "close")).await;
    let answer = String::from_utf8(client.raw().await).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("content-length: 1234\r\n") && answer.ends_with("\r\n\r\n"), "{answer}");
    assert_eq!(inner.seen()[0].method, Method::HEAD);
}

/// What a service outside of the layer has found out is there for the inner server, and the other way round.
#[tokio::test]
async fn extensions_pass_in_both_directions() {
    use tower_service::Service;
    #[derive(Clone, Debug, PartialEq)]
    struct Mark(u8);
    let inner = Answering(|request: http::Request<mcp_sub::http::Body<Body>>| {
        assert_eq!(request.extensions().get::<Mark>(), Some(&Mark(1)));
        let mut response = Response::new(Body::from("inner"));
        response.extensions_mut().insert(Mark(2));
        *response.status_mut() = StatusCode::CREATED;
        response
    });
    let subscriptions = Probe::serve(|builder| builder);
    let mut layered = subscriptions.layer(inner);
    for method in [Method::POST, Method::GET] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{{{META}}}}}"#);
        let mut request = http::Request::new(Body::from(body));
        *request.method_mut() = method;
        request.headers_mut().insert("mcp-protocol-version", HeaderValue::from_static("2026-07-28"));
        request.headers_mut().insert("mcp-method", HeaderValue::from_static("tools/list"));
        request.extensions_mut().insert(Mark(1));
        let response = layered.call(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::CREATED);
        assert_eq!(response.extensions().get::<Mark>(), Some(&Mark(2)));
    }
}

/// As `tower` and axum put a layer around what there is.
#[tokio::test]
async fn it_is_a_layer_of_an_axum_router() {
    let subscriptions = Probe::serve(|builder| builder);
    let no_discover =
        r#"{"jsonrpc":"2.0","id":"discover","error":{"code":-32601,"message":"no such method"}}"#;
    let inner = post(
        async move |headers: HeaderMap| {
            if headers["mcp-method"] == "server/discover" { no_discover } else { "inner" }
        },
    );
    let app = axum::Router::new().route("/mcp", inner).layer(subscriptions.clone());
    let server = Server::start(app.into_service());
    assert_eq!(server.send(&call()).await.bytes().await, b"inner");
    let mut stream = server.listening("1", r#"{"toolsListChanged":true}"#).await;
    subscriptions.publish(ToolsChanged);
    assert_eq!(stream.told().await, "tools");
}

/// A service out of a function.
#[derive(Clone)]
struct Answering<F>(F);

impl<F, Q> tower_service::Service<Q> for Answering<F>
where
    F: Fn(Q) -> Response<Body> + Clone,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Q) -> Self::Future {
        std::future::ready(Ok(self.0(request)))
    }
}
