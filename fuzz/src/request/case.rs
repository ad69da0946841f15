//! From a fuzzer's bytes to a request, and to what it meets.
//!
//! Six characters come first: how the rest is read, what the handler declares, how `subscribe` decides, how the inner
//! server answers, how the body is delivered, and a line break that nobody reads. Digits stand for themselves, so that
//! a seed can be written by hand.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use libfuzzer_sys::arbitrary::Unstructured;

use super::{compose, inner::Answer, mutate};
use crate::{
    body::{Scripted, Then},
    probe::{Decision, Seat},
};

#[derive(Debug)]
pub(super) struct Case {
    pub(super) declares_all: bool,
    pub(super) decision: Decision,
    pub(super) answer: Answer,
    pub(super) delivery: Delivery,
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Delivery {
    Whole,
    /// In chunks of this many bytes.
    Chunks(usize),
    /// Breaks off after the last byte.
    BreaksOff,
}

const CONTROLS: usize = 6;
const DELIVERIES: [Delivery; 4] =
    [Delivery::Whole, Delivery::Chunks(1), Delivery::Chunks(100), Delivery::BreaksOff];

impl Case {
    /// `None`: the bytes are no request that HTTP could carry.
    pub(super) fn of(data: &[u8]) -> Option<Self> {
        let (controls, rest) = data.split_at_checked(CONTROLS)?;
        let choice = |index: usize, count: usize| usize::from(controls[index].wrapping_sub(b'0')) % count;
        let mut unstructured = Unstructured::new(rest);
        let (method, uri, headers, body) = match choice(0, 3) {
            0 => text(rest)?,
            1 => mutate::listen(&mut unstructured).ok()?,
            _ => compose::request(&mut unstructured).ok()?,
        };
        Some(Self {
            declares_all: choice(1, 2) == 0,
            decision: Decision::ALL[choice(2, Decision::ALL.len())],
            answer: Answer::ALL[choice(3, Answer::ALL.len())],
            delivery: DELIVERIES[choice(4, DELIVERIES.len())],
            method,
            uri,
            headers,
            body,
        })
    }

    pub(super) fn request(&self) -> Request<Scripted> {
        let body = match self.delivery {
            Delivery::Whole => Scripted::whole(&self.body),
            Delivery::Chunks(bytes) => Scripted::new(&self.body, bytes, Then::End),
            Delivery::BreaksOff => Scripted::new(&self.body, 100, Then::BreakOff),
        };
        let mut request = Request::new(body);
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        request.extensions_mut().insert(Seat { number: 0, decision: self.decision });
        request
    }
}

/// All of a request but what a [`Case`] has beside it.
pub(super) type Parts = (Method, Uri, HeaderMap, Vec<u8>);

/// `POST /mcp`, headers, an empty line, the body: as HTTP writes it, but for the line breaks.
fn text(data: &[u8]) -> Option<Parts> {
    let mut rest = data;
    let mut line = || {
        let end = rest.iter().position(|&byte| byte == b'\n')?;
        let (line, after) = rest.split_at(end);
        rest = &after[1..];
        Some(line)
    };
    let mut start = line()?.splitn(2, |&byte| byte == b' ');
    let method = Method::from_bytes(start.next()?).ok()?;
    let uri = Uri::from_maybe_shared(Bytes::copy_from_slice(start.next()?)).ok()?;
    let mut headers = HeaderMap::new();
    loop {
        let line = line()?;
        if line.is_empty() {
            break;
        }
        let colon = line.iter().position(|&byte| byte == b':')?;
        let name = HeaderName::from_bytes(&line[..colon]).ok()?;
        headers.append(name, HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?);
    }
    Some((method, uri, headers, rest.to_vec()))
}
