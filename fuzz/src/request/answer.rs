//! What an answer may look like.

use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use http::{Response, header::CONTENT_TYPE};
use http_body::Body;
use http_body_util::BodyExt;
use mcp_sub::Subscriptions;

use super::{
    case::{Case, Delivery},
    received,
};
use crate::{
    json,
    message::{self, Granted, Message},
    probe::{Change, Decision, LISTS, Outcome, Probe, Target, UPDATES},
    sse,
};

/// The codes that a status may come with.
const ERRORS: [(u16, &[&str]); 12] = [
    (400, &["-32700", "-32600", "-32602", "-32020", "-32022"]),
    (401, &["-32603"]),
    (403, &["-32600"]),
    (404, &["-32601"]),
    (405, &["-32600"]),
    (406, &["-32600"]),
    (413, &["-32600"]),
    (415, &["-32600"]),
    (500, &["-32603"]),
    (502, &["-32603"]),
    (503, &["-32603"]),
    (504, &["-32603"]),
];

/// What is refused before its body is looked at.
const UNREAD: [u16; 4] = [403, 405, 413, 415];

/// Judges an answer of the library's own. `carried` are the kinds that the place can carry.
pub(super) async fn judge<const BITS: u8, B>(
    case: &Case,
    carried: Option<u8>,
    response: Response<B>,
    subscriptions: &Subscriptions<Probe<BITS>>,
) where
    B: Body<Data = Bytes, Error: std::fmt::Debug>,
{
    let status = response.status().as_u16();
    let media = response.headers().get(CONTENT_TYPE).map(|media| media.as_bytes().to_vec());
    let mut body = Box::pin(response.into_body());
    match (status, media.as_deref()) {
        (200, Some(b"text/event-stream")) => {
            let carried = carried.expect("no stream opens where the inner server does not say what it has");
            judge_stream(case, BITS & carried, body.as_mut(), subscriptions);
        }
        (202, None) => {
            let frame = poll_fn(|cx| body.as_mut().poll_frame(cx)).await;
            assert!(frame.is_none(), "202 has no body");
        }
        (_, Some(b"application/json")) => {
            let bytes = body.collect().await.expect("a body of ours does not fail").to_bytes();
            judge_json(case, status, &bytes);
        }
        _ => panic!("{status} with {media:?}"),
    }
}

fn judge_json(case: &Case, status: u16, bytes: &[u8]) {
    let shown = String::from_utf8_lossy(bytes);
    let answer = json::members(json::whole(bytes).expect("JSON")).expect("an object");
    assert!(!json::is_ambiguous(&answer), "{shown}");
    assert_eq!(json::only(&answer, "jsonrpc"), Some("\"2.0\""), "{shown}");
    let (id, expected) = (json::only(&answer, "id"), received::id(case));
    let Some(error) = json::only(&answer, "error") else {
        assert_eq!((status, id), (200, expected), "{shown}");
        assert!(answer.len() == 3 && json::only(&answer, "result").is_some(), "{shown}");
        return;
    };
    assert_eq!(answer.len(), 2 + usize::from(id.is_some()), "{shown}");
    let error = json::members(error).expect("an object");
    let code = json::only(&error, "code").expect("a code");
    let allowed = ERRORS.iter().find(|(other, _)| *other == status).map(|(_, codes)| *codes);
    assert!(allowed.is_some_and(|codes| codes.contains(&code)), "{status}: {shown}");
    assert!(json::only(&error, "message").and_then(json::string).is_some(), "{shown}");
    if UNREAD.contains(&status) {
        assert_eq!(id, None, "{shown}");
    } else {
        assert_eq!(id, expected, "{status}: {shown}");
        assert_eq!(code == "-32700", received::json(case).is_none(), "{status}: {shown}");
    }
}

fn judge_stream<const BITS: u8, B>(
    case: &Case,
    carried: u8,
    mut body: Pin<&mut B>,
    subscriptions: &Subscriptions<Probe<BITS>>,
) where
    B: Body<Data = Bytes, Error: std::fmt::Debug>,
{
    assert_ne!(case.delivery, Delivery::BreaksOff);
    assert_eq!(received::called(case).as_deref(), Some("subscriptions/listen"));
    let id = received::id(case).expect("a stream has an id");
    let expected = expected(case, carried);
    let read = |body: Pin<&mut B>| {
        let Poll::Ready(frame) = body.poll_frame(&mut Context::from_waker(Waker::noop())) else {
            return None;
        };
        let chunk = frame.map(|frame| frame.expect("no failure").into_data().expect("no trailers"));
        let messages =
            chunk.iter().flat_map(|chunk| sse::messages(chunk)).map(|text| message::read(text, id));
        Some(messages.collect::<Vec<_>>())
    };
    let mut first = Vec::new();
    while let Some(messages) = read(body.as_mut()) {
        if messages.is_empty() {
            assert_eq!(first.pop(), Some(Message::Completed), "nothing has happened yet");
            assert!(expected.is_empty(), "there is something to wait for");
            break;
        }
        first.extend(messages);
    }
    assert_eq!(first, [Message::Acknowledged(expected.clone())]);
    assert_eq!(subscriptions.open_streams(), usize::from(!expected.is_empty()));
    if expected.is_empty() {
        return;
    }
    let requested = received::requested(case).unwrap_or_default();
    let lists = (0..LISTS.len()).map(Target::List);
    let sends: Vec<_> = requested.uris.into_iter().map(Target::Uri).chain(lists).collect();
    let told: Vec<_> =
        sends.iter().filter(|target| expected.has(target)).cloned().map(Message::Told).collect();
    let then = (0, Outcome::Continue);
    let change = Change { number: 0, kinds: 7 | UPDATES, sends, pauses: false, then };
    assert_eq!(subscriptions.publish(change), 1);
    assert_eq!(read(body.as_mut()), Some(told));
}

/// requested ∩ declared ∩ what the place can carry ∩ what `subscribe` left.
fn expected(case: &Case, carried: u8) -> Granted {
    let mut granted = received::requested(case).expect("a stream has a filter");
    granted.lists &= carried;
    if carried & UPDATES == 0 {
        granted.uris.clear();
    }
    match case.decision {
        Decision::Accept => {}
        Decision::Narrow => {
            granted.lists &= !1;
            granted.uris.retain(|uri| uri.len() % 2 == 0);
        }
        other => panic!("{other:?} and a stream"),
    }
    granted
}
