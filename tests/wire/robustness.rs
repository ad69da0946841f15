//! Promise 9: no input makes the server panic, stop or answer someone else.

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use mcp_sub::http::Body;
use mcp_sub_tests::{Client, META, Probe, Server, ToolsChanged, within};
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tower_service::Service as _;

/// The same numbers each time, and none of them expected.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }
}

const PIECES: [&[u8]; 16] = [
    b"null",
    b"-1",
    b"1e999",
    b"[",
    b"]",
    b"{",
    b"}",
    b"\"",
    b",",
    b":",
    b"\\u0000",
    b"\\ud800",
    b"\xff",
    b"\xc3\xa9",
    b"\"id\":8,",
    b"0",
];

fn changed(random: &mut Random, valid: &str) -> Vec<u8> {
    let mut bytes = valid.as_bytes().to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        let piece = PIECES[random.below(PIECES.len())];
        match random.below(5) {
            0 => drop(bytes.splice(at..at, piece.iter().copied())),
            1 => drop(bytes.splice(at..=at, piece.iter().copied())),
            2 => bytes.truncate(at.max(1)),
            3 => {
                let end = (at + random.below(40)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            _ => bytes[at] ^= 1 << random.below(8),
        }
    }
    bytes
}

async fn assert_sound(response: Response<Body>, body: &[u8]) {
    let shown = String::from_utf8_lossy(body).into_owned();
    let status = response.status().as_u16();
    assert!([200, 202, 400, 404].contains(&status), "{status}: {shown}");
    if status == 202 || response.headers()["content-type"] == "text/event-stream" {
        return;
    }
    let answer = response.into_body().collect().await.unwrap().to_bytes();
    let answer: Value = serde_json::from_slice(&answer).unwrap_or_else(|error| panic!("{error}: {shown}"));
    assert_eq!(answer["jsonrpc"], "2.0", "{shown}");
    assert_ne!(answer.get("id"), Some(&Value::Null), "{shown}");
    assert_eq!(answer.get("error").is_some(), status != 200, "{shown}");
}

#[tokio::test]
async fn promise_9_each_body_has_its_answer() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut service = subscriptions.http();
    let valid = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{{{META},"notifications":{{"toolsListChanged":true,"resourceSubscriptions":["a:1","a:é"]}}}}}}"#
    );
    let mut random = Random(0x5eed_5eed_5eed_5eed);
    for _ in 0..5_000 {
        let body = changed(&mut random, &valid);
        let request = Request::post("/mcp")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "subscriptions/listen")
            .body(Full::new(Bytes::from(body.clone())))
            .unwrap();
        assert_sound(service.call(request).await.unwrap(), &body).await;
    }
    assert_eq!(subscriptions.open_streams(), 0, "each that opened was dropped");
    subscriptions.handler().closed(subscriptions.handler().accepted()).await;
    assert!(subscriptions.handler().accepted() > 0, "some were still right");
}

#[tokio::test]
async fn promise_9_each_header_has_its_answer() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut service = subscriptions.http();
    let names =
        ["host", "origin", "accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"];
    let values: [&[u8]; 9] = [
        b"",
        b" ",
        b"\xff\xfe",
        b"=?base64?",
        b"=?base64?=",
        b"=?base64?//8=?=",
        b",;q=,",
        b"[::",
        b"a@b:c:d/",
    ];
    for method in [Method::POST, Method::GET, Method::from_bytes(b"LISTEN").unwrap()] {
        for name in names {
            for value in values {
                let body = Full::new(Bytes::from_static(b"{}"));
                let request = Request::builder().method(&method).header(name, value).body(body).unwrap();
                let response = service.call(request).await.unwrap();
                assert!(
                    response.status().is_client_error(),
                    "{method} {name} {value:?}: {}",
                    response.status()
                );
            }
        }
    }
}

/// A connection that breaks off anywhere in its request harms nobody.
#[tokio::test]
async fn promise_9_a_request_may_break_off_anywhere() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut stream = server.listening("1", r#"{"toolsListChanged":true}"#).await;
    let bytes = mcp_sub_tests::Request::listen("2", r#"{"toolsListChanged":true}"#).bytes();
    for end in (0..bytes.len()).step_by(17) {
        let mut socket = tokio::net::TcpStream::connect(server.address()).await.unwrap();
        socket.write_all(&bytes[..end]).await.unwrap();
        if end % 2 == 0 {
            socket.set_zero_linger().unwrap();
        }
    }
    drop(within("a connection", Client::connect(server.address())).await);
    subscriptions.publish(ToolsChanged);
    assert_eq!(stream.told().await, "tools");
    assert_eq!((subscriptions.handler().accepted(), subscriptions.open_streams()), (1, 1));
}
