//! The `tracing` span of a subscription.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    sync::LazyLock,
    time::Duration,
};

use tracing::{Span, field};

use crate::{caller::Caller, ending::CloseReason, filter::Honoured, protocol::id::RequestId, stats::Counts};

/// Begins with the decision and ends when `handle_close` has returned. All that a handler's methods log is inside.
///
/// What is known later is recorded then. The principal is told by a hash with a key of this process, so that its streams can
/// be put together in a log which does not say who it is.
///
/// Specification: [Overview, `_meta`][spec], for `traceparent`.
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
pub(crate) fn of(stream: u64, id: &RequestId, caller: &Caller, principal: Option<&str>) -> Span {
    tracing::info_span!(
        "subscription",
        stream,
        %id,
        principal = principal.map(|principal| field::display(Hashed(principal))),
        traceparent = traceparent(caller),
        kinds = field::Empty,
        uris = field::Empty,
        reason = field::Empty,
        open = field::Empty,
        events = field::Empty,
        notifications = field::Empty,
        merged = field::Empty,
        filtered = field::Empty,
        catch_ups = field::Empty,
    )
}

/// What is honoured is known.
pub(crate) fn accepted(span: &Span, honoured: &Honoured) {
    span.record("kinds", field::debug(honoured.kinds()));
    span.record("uris", honoured.uris().len());
}

/// The subscription has ended, and was open for so long.
pub(crate) fn ended(span: &Span, reason: &CloseReason, open: Duration, counts: Counts) {
    let Counts { events, notifications, merged, filtered, catch_ups } = counts;
    span.record("reason", reason.name());
    span.record("open", field::debug(open));
    span.record("events", events);
    span.record("notifications", notifications);
    span.record("merged", merged);
    span.record("filtered", filtered);
    span.record("catch_ups", catch_ups);
}

struct Hashed<'a>(&'a str);

impl fmt::Display for Hashed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        write!(f, "{:016x}", KEY.hash_one(self.0))
    }
}

/// The W3C trace context of the client, if it is one. Anything else would be a way to write into logs.
fn traceparent(caller: &Caller) -> Option<&str> {
    let context = caller.meta().get("traceparent")?.as_str()?;
    let parts: Vec<&str> = context.split('-').collect();
    let is_hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    (lengths == [2, 32, 16, 2] && parts.into_iter().all(is_hex)).then_some(context)
}

#[cfg(test)]
mod tests {
    use http::{Extensions, HeaderMap};
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_trace_context_is_taken_for_one() {
        const CONTEXT: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
        for (value, expected) in [
            (json!(CONTEXT), Some(CONTEXT)),
            (json!(CONTEXT.to_uppercase()), None),
            (json!(format!("{CONTEXT}\nERROR")), None),
            (json!(&CONTEXT[1..]), None),
            (json!(1), None),
        ] {
            let meta = [(String::from("traceparent"), value)].into_iter().collect();
            let caller = Caller::new(HeaderMap::new(), Extensions::new(), meta);
            assert_eq!(traceparent(&caller), expected);
        }
    }

    #[test]
    fn a_principal_is_told_by_a_hash_that_stays_the_same() {
        let hashed = Hashed("alice").to_string();
        assert_eq!((hashed.len(), &hashed), (16, &Hashed("alice").to_string()));
        assert_ne!(hashed, Hashed("bob").to_string());
    }
}
