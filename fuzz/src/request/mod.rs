//! Whatever is asked, there is one answer of the right shape, and a layer lets nothing through that can be misread.

mod answer;
mod case;
mod compose;
mod inner;
mod mutate;
pub(crate) mod received;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use http::{Method, Response, StatusCode};
use http_body_util::BodyExt;
use mcp_sub::{Limits, Subscriptions, http::Body};
use tower_service::Service;

use self::{
    case::{Case, Delivery},
    inner::{Inner, MARK, Seen, TEXT},
    received::{VERSION, VERSION_KEY},
};
use crate::{
    body::Scripted,
    json,
    probe::{Log, Probe, UPDATES},
    runtime::{block_on, settle},
};

/// One input of the target `request`.
pub fn run(data: &[u8]) {
    let Some(case) = Case::of(data) else { return };
    block_on(async {
        if case.declares_all {
            both::<{ 7 | UPDATES }>(&case).await;
        } else {
            both::<{ 1 | UPDATES }>(&case).await;
        }
    });
}

async fn both<const BITS: u8>(case: &Case) {
    let (subscriptions, log) = server::<BITS>();
    let response = answered(subscriptions.http().call(case.request())).await;
    answer::judge(case, Some(7 | UPDATES), response, &subscriptions).await;
    assert_nothing_is_left(&subscriptions, &log).await;

    let (subscriptions, log) = server::<BITS>();
    let inner = Inner { answer: case.answer, seen: Arc::default() };
    let response = answered(subscriptions.layer(inner.clone()).call(case.request())).await;
    let seen = std::mem::take(&mut *inner.seen.lock().expect("no panic in there"));
    assert!(seen.len() <= 1, "one request is at most one request to the inner server");
    for seen in &seen {
        judge_seen(case, seen);
    }
    if response.headers().contains_key(MARK) {
        judge_passed(case, &seen[0], response).await;
    } else {
        answer::judge(case, case.answer.carried(), response, &subscriptions).await;
    }
    assert_nothing_is_left(&subscriptions, &log).await;
}

type Served<const BITS: u8> = (Subscriptions<Probe<BITS>>, Arc<Mutex<Log>>);

fn server<const BITS: u8>() -> Served<BITS> {
    let log = Arc::default();
    let limits = Limits::default()
        .with_body(128 * 1024)
        .with_uris(6)
        .with_uri_bytes(200)
        .with_id_bytes(received::ID_BYTES);
    let builder = Subscriptions::builder(Probe { log: Arc::clone(&log) }).server_info("fuzz", "1");
    (builder.limits(limits).keep_alive(None).build(), log)
}

/// The answer, which has to come. The clock moves when nothing else does.
async fn answered<R, E: std::fmt::Debug>(answer: impl Future<Output = Result<R, E>>) -> R {
    let answer = tokio::time::timeout(Duration::from_secs(24 * 60 * 60), answer).await;
    answer.expect("there is always an answer").expect("a service never fails")
}

async fn assert_nothing_is_left<const BITS: u8>(
    subscriptions: &Subscriptions<Probe<BITS>>,
    log: &Mutex<Log>,
) {
    settle().await;
    assert_eq!(subscriptions.open_streams(), 0);
    let log = log.lock().expect("no panic in there");
    assert!(log.is_settled(), "each accepted subscription is closed once: {log:?}");
}

/// What reaches the inner server can be read in one way only.
fn judge_seen(case: &Case, seen: &Seen) {
    assert_eq!((&seen.method, &seen.uri), (&case.method, &case.uri));
    if is_question(case) {
        let body = seen.body.as_deref().and_then(json::whole).expect("JSON");
        assert!(received::is_unambiguous(body), "{body}");
        assert_eq!(seen.headers["mcp-method"], "server/discover");
        return;
    }
    if case.delivery == Delivery::BreaksOff {
        assert_eq!((seen.body.as_deref(), case.method == Method::POST), (None, false));
    } else {
        assert_eq!(seen.body.as_deref(), Some(&*case.body), "to the byte");
    }
    let mut headers = case.headers.clone();
    if received::is_modern(case) {
        let body = received::json(case).expect("JSON");
        assert!(received::is_unambiguous(body), "{body}");
        let message = json::members(body).expect("an object");
        let called = json::only(&message, "method").and_then(json::string).expect("a method");
        let params = json::only(&message, "params").and_then(json::members).expect("`params`");
        let meta = json::only(&params, "_meta").and_then(json::members).expect("`_meta`");
        let version = json::only(&meta, VERSION_KEY).and_then(json::string);
        assert_eq!(version.as_deref(), Some(VERSION));
        assert_eq!(case.headers["mcp-protocol-version"], VERSION);
        assert_eq!(case.headers["mcp-method"].as_bytes(), called.as_bytes());
        assert_ne!(called, "subscriptions/listen", "that is answered by the layer");
        if called == "server/discover" {
            headers.remove("accept-encoding");
        }
    }
    assert_eq!(seen.headers, headers);
}

/// Whether what the inner server sees is the layer's own question, in the course of a listen.
fn is_question(case: &Case) -> bool {
    received::is_modern(case) && received::called(case).as_deref() == Some("subscriptions/listen")
}

/// What the inner server answers comes out as it is, but for the flags in `server/discover`.
async fn judge_passed(case: &Case, seen: &Seen, response: Response<Body<Scripted>>) {
    let status = response.status();
    if status == StatusCode::IM_A_TEAPOT {
        assert_eq!(answered(response.into_body().collect()).await.to_bytes(), TEXT);
    } else if received::is_modern(case) && status == StatusCode::OK && case.answer.carried().is_some() {
        // The merged answer to `server/discover`.
        let body = answered(response.into_body().collect()).await.to_bytes();
        let answer = json::members(json::whole(&body).expect("JSON")).expect("an object");
        assert_eq!(json::only(&answer, "id"), received::id(case), "{seen:?}");
        let result = json::only(&answer, "result").and_then(json::members).expect("a result");
        let capabilities = json::only(&result, "capabilities").and_then(json::members).expect("there");
        assert!(!json::is_ambiguous(&capabilities));
        assert_eq!(json::only(&result, "ttlMs"), Some("7"));
    }
}
