//! `Accept` and `Content-Type`.

use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap};

/// Whether the client takes server-sent events: by the most specific of its media ranges that includes them.
pub(super) fn admits_event_stream(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(ACCEPT).iter().peekable();
    if values.peek().is_none() {
        return true;
    }
    let ranges = values.flat_map(|value| value.to_str().unwrap_or_default().split(','));
    let rated = ranges.filter_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let known = ["*/*", "text/*", "text/event-stream"];
        let specific = known.iter().position(|known| media.eq_ignore_ascii_case(known))?;
        let mut weights =
            parts.filter_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        Some((specific, weights.all(|weight| weight.parse() != Ok(0.0))))
    });
    rated.max_by_key(|(specific, _)| *specific).is_some_and(|(_, admitted)| admitted)
}

/// Whether the body says that it is JSON, or does not say what it is.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_TYPE).iter().all(|value| {
        let media = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
        media.trim().eq_ignore_ascii_case("application/json")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &http::HeaderName, values: &[&'static str]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), http::HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn whatever_admits_an_event_stream_is_enough() {
        for values in [
            &[][..],
            &["*/*"],
            &["text/*"],
            &["application/json, text/event-stream"],
            &["application/json", "TEXT/Event-Stream;q=0.5"],
            &["text/event-stream; charset=utf-8"],
        ] {
            assert!(admits_event_stream(&headers(&ACCEPT, values)), "{values:?}");
        }
        for values in [
            &["application/json"][..],
            &["text/html"],
            &["text/event-stream;q=0"],
            &["text/event-stream;q=0, */*;q=0.1"],
            &[""],
        ] {
            assert!(!admits_event_stream(&headers(&ACCEPT, values)), "{values:?}");
        }
    }

    #[test]
    fn json_may_have_parameters_and_need_not_be_said() {
        for values in [&[][..], &["application/json"], &["Application/JSON; charset=utf-8"]] {
            assert!(is_json(&headers(&CONTENT_TYPE, values)), "{values:?}");
        }
        for values in [&["text/plain"][..], &["application/jsonl"], &[""]] {
            assert!(!is_json(&headers(&CONTENT_TYPE, values)), "{values:?}");
        }
    }
}
