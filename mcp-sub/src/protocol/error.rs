//! JSON-RPC errors.

use std::fmt;

use serde_json::{Value, json};

use super::VERSION;

/// Codes that the specification defines.
///
/// Specification: [Overview, Error Codes](https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes).
pub(crate) mod code {
    pub(crate) const PARSE_ERROR: i64 = -32700;
    pub(crate) const INVALID_REQUEST: i64 = -32600;
    pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
    pub(crate) const INVALID_PARAMS: i64 = -32602;
    pub(crate) const INTERNAL_ERROR: i64 = -32603;
    pub(crate) const HEADER_MISMATCH: i64 = -32020;
    pub(crate) const MISSING_CAPABILITY: i64 = -32021;
    pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;
}

/// The `error` member of a response.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Error {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

impl Error {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(crate) fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    pub(crate) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_REQUEST, message)
    }

    pub(crate) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    pub(crate) fn header_mismatch(message: impl Into<String>) -> Self {
        Self::new(code::HEADER_MISMATCH, message)
    }

    pub(crate) fn method_not_found(method: &str) -> Self {
        Self::new(code::METHOD_NOT_FOUND, format!("method not found: {}", Shown(method)))
    }

    /// The server is at a limit; `limit` is its name for programs.
    pub(crate) fn at_limit(limit: &str, message: impl Into<String>) -> Self {
        Self::new(code::INTERNAL_ERROR, message).with_data(json!({ "limit": limit }))
    }

    pub(crate) fn unsupported_version(requested: Option<&str>) -> Self {
        Self::new(
            code::UNSUPPORTED_VERSION,
            format!("unsupported protocol version; this server supports {VERSION}"),
        )
        .with_data(json!({ "supported": [VERSION], "requested": requested }))
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        error
    }
}

/// Text of a client's, where it is shown back: as much as tells which one is meant, whatever its length.
pub(crate) struct Shown<'a>(pub(crate) &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const CHARS: usize = 120;
        match self.0.char_indices().nth(CHARS) {
            Some((end, _)) => write!(f, "{}… ({} bytes)", self.0[..end].escape_debug(), self.0.len()),
            None => write!(f, "{}", self.0.escape_debug()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_back_is_short_and_on_one_line() {
        assert_eq!(Shown("tools/list").to_string(), "tools/list");
        assert_eq!(Shown("a\nb").to_string(), "a\\nb");
        let long = Shown(&"é".repeat(1_000)).to_string();
        assert!(long.ends_with("… (2000 bytes)") && long.len() < 300, "{long}");
    }
}
