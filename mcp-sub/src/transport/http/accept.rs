//! `Accept` and `Content-Type`.

use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap};

/// Whether the client takes server-sent events.
pub(super) fn admits_event_stream(headers: &HeaderMap) -> bool {
    let mut ranges = headers.get_all(ACCEPT).iter().peekable();
    if ranges.peek().is_none() {
        return true;
    }
    ranges.flat_map(|value| value.to_str().unwrap_or_default().split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let admitted =
            ["*/*", "text/*", "text/event-stream"].iter().any(|one| media.eq_ignore_ascii_case(one));
        let mut weights =
            parts.filter_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        admitted && weights.all(|weight| weight.parse() != Ok(0.0))
    })
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
        for values in [&["application/json"][..], &["text/html"], &["text/event-stream;q=0"], &[""]] {
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
