//! What every request of revision 2026-07-28 has to get right before its method matters.

use std::time::Duration;

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::{HeaderName, StatusCode, header::HeaderMap};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::{Map, json, value::RawValue};

use super::{accept, answer::Refusal};
use crate::protocol::{
    VERSION,
    error::{Error, Shown, code},
    request::{Request, syntax},
};

pub(super) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(super) const NAME: HeaderName = HeaderName::from_static("mcp-name");

pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;

pub(super) fn content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    if accept::is_json(headers) {
        return Ok(());
    }
    let error = Error::invalid_request("`Content-Type` must be application/json");
    Err(Refusal::status(StatusCode::UNSUPPORTED_MEDIA_TYPE, error))
}

/// Reads the body, up to `limit` bytes, and not for ever. With its trailers.
pub(super) async fn collect<B>(
    body: B,
    limit: usize,
    within: Duration,
) -> Result<(Bytes, Option<HeaderMap>), Refusal>
where
    B: http_body::Body,
    B::Error: Into<BoxError>,
{
    let too_large = || {
        let error = Error::invalid_request(format!("the body has more than {limit} bytes"));
        Refusal::status(StatusCode::PAYLOAD_TOO_LARGE, error.with_data(json!({ "limit": "body" })))
    };
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    let Ok(collected) = tokio::time::timeout(within, Limited::new(body, limit).collect()).await else {
        let error = Error::invalid_request("the body did not come in time");
        let error = error.with_data(json!({ "limit": "body_timeout" }));
        return Err(Refusal::status(StatusCode::REQUEST_TIMEOUT, error));
    };
    match collected {
        Ok(body) => {
            let trailers = body.trailers().cloned();
            Ok((body.to_bytes(), trailers))
        }
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(error) => {
            let message = format!("the body could not be read: {error}");
            Err(Refusal::bad_request(None, Error::new(code::PARSE_ERROR, message)))
        }
    }
}

pub(super) fn parse(body: &[u8]) -> Result<&RawValue, Refusal> {
    syntax(body).map_err(|error| Refusal::bad_request(None, error))
}

/// The headers that mirror the body, and the fields of `_meta`, in the order in which they are judged. Returns `_meta`.
///
/// Specification: [Streamable HTTP, Request Metadata][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#request-metadata
pub(super) fn check(
    headers: &HeaderMap,
    request: &Request<'_>,
) -> Result<Map<String, serde_json::Value>, Refusal> {
    let checked = check_version(headers, request)
        .and_then(|()| mirrored(headers, "Mcp-Method", &METHOD, &request.method, |value| Some(value.into())))
        .and_then(|()| request.check_meta());
    checked.map_err(|error| Refusal::bad_request(Some(&request.id), error))
}

fn check_version(headers: &HeaderMap, request: &Request<'_>) -> Result<(), Error> {
    match single(headers, &PROTOCOL_VERSION) {
        Value::Missing if request.method == "initialize" => Err(request.handshake()),
        Value::Missing => Err(missing("MCP-Protocol-Version")),
        Value::Ambiguous => Err(ambiguous("MCP-Protocol-Version")),
        Value::One(version) => match request.version() {
            Some(body) if body != version => Err(Error::header_mismatch(format!(
                "the header `MCP-Protocol-Version: {}` differs from `{}` in the body's `_meta`",
                Shown(version),
                Shown(&body)
            ))),
            _ if version != VERSION => Err(Error::unsupported_version(Some(version))),
            _ => Ok(()),
        },
    }
}

/// `Mcp-Name`, where it is required.
pub(super) fn check_name(headers: &HeaderMap, request: &Request<'_>) -> Result<(), Refusal> {
    let source = match &*request.method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(()),
    };
    // Without the member there is nothing to mirror; the inner server says what is wrong.
    if request.params.as_ref().is_none_or(|params| params.get(source).is_none()) {
        return Ok(());
    }
    let checked = match request.params.as_ref().and_then(|params| params.str(source)) {
        Some(name) => mirrored(headers, "Mcp-Name", &NAME, &name, decoded),
        None => Err(Error::invalid_params(format!("`{source}` must be a string"))),
    };
    checked.map_err(|error| Refusal::bad_request(Some(&request.id), error))
}

/// Whether the header `name` has what `body` has, once it is decoded.
fn mirrored(
    headers: &HeaderMap,
    shown: &str,
    name: &HeaderName,
    body: &str,
    decode: impl FnOnce(&str) -> Option<String>,
) -> Result<(), Error> {
    match single(headers, name) {
        Value::Missing => Err(missing(shown)),
        Value::Ambiguous => Err(ambiguous(shown)),
        Value::One(value) if decode(value).as_deref() == Some(body) => Ok(()),
        Value::One(value) => Err(Error::header_mismatch(format!(
            "the header `{shown}: {}` differs from `{}` in the body",
            Shown(value),
            Shown(body)
        ))),
    }
}

fn missing(header: &str) -> Error {
    Error::header_mismatch(format!("the header `{header}` is missing"))
}

fn ambiguous(header: &str) -> Error {
    Error::header_mismatch(format!("the header `{header}` is not one text"))
}

enum Value<'a> {
    Missing,
    One(&'a str),
    /// Several that differ, or one that is no text.
    Ambiguous,
}

fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Value<'a> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else { return Value::Missing };
    match first.to_str() {
        Ok(text) if values.all(|other| other == first) => Value::One(text),
        _ => Value::Ambiguous,
    }
}

/// The text behind `=?base64?…?=`.
///
/// Specification: [Streamable HTTP, Value Encoding][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#value-encoding
fn decoded(value: &str) -> Option<String> {
    match value.strip_prefix("=?base64?").and_then(|value| value.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoded_value_is_decoded_before_it_is_compared() {
        for (value, text) in [
            ("us-west1", Some("us-west1")),
            ("=?base64?SGVsbG8sIOS4lueVjA==?=", Some("Hello, 世界")),
            ("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", Some("=?base64?literal?=")),
            ("=?BASE64?SGVsbG8=?=", Some("=?BASE64?SGVsbG8=?=")),
            ("=?base64?not base64?=", None),
            ("=?base64?/w==?=", None),
        ] {
            assert_eq!(decoded(value).as_deref(), text, "{value}");
        }
    }
}
