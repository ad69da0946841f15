//! The id of a JSON-RPC request.

use std::{
    borrow::Cow,
    fmt::{self, Write as _},
    hash::{Hash, Hasher},
};

use serde_json::value::RawValue;

/// The id of a request: a string or an integer, kept as the token that was received.
///
/// Integers may have any number of digits. What was received goes back unchanged: the same type, the same digits,
/// the same escapes. Two ids are equal if they mean the same: `"a"` and `"\u0061"` do, `1` and `"1"` do not.
///
/// Specification: [Overview, Requests](https://modelcontextprotocol.io/specification/2026-07-28/basic#requests).
#[derive(Clone)]
pub struct RequestId(Box<str>);

impl RequestId {
    /// `None`: neither a string nor an integer, or longer than `max` bytes.
    pub(crate) fn of(json: &RawValue, max: usize) -> Option<Self> {
        let token = json.get();
        let ok = match token.as_bytes().first()? {
            // Decoded, since JSON that is well-formed can still hold half of a surrogate pair.
            b'"' => serde_json::from_str::<String>(token).is_ok(),
            b'-' | b'0'..=b'9' => !token.contains(['.', 'e', 'E']),
            _ => false,
        };
        (ok && token.len() <= max).then(|| Self(token.into()))
    }

    /// Of a request of our own: a JSON string.
    pub(crate) fn ours(token: String) -> Self {
        Self(token.into())
    }

    /// The id of a request that has none, or none that is known.
    #[cfg(feature = "rmcp")]
    pub(crate) fn unknown() -> Self {
        Self("null".into())
    }

    /// The JSON token, as it was received.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

impl RequestId {
    /// One token for each meaning.
    fn canonical(&self) -> Cow<'_, str> {
        let token = &*self.0;
        if token == "-0" {
            return "0".into();
        }
        if !token.contains('\\') {
            return token.into();
        }
        let text: Result<String, _> = serde_json::from_str(token);
        text.map_or(token.into(), |text| serde_json::Value::from(text).to_string().into())
    }
}

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        self.canonical() == other.canonical()
    }
}

impl Eq for RequestId {}

impl Hash for RequestId {
    fn hash<S: Hasher>(&self, state: &mut S) {
        self.canonical().hash(state);
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // For people and logs: short, and on one line. A transport writes `as_json`.
        const CHARS: usize = 120;
        for char in self.0.chars().take(CHARS) {
            if char.is_control() || matches!(char, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}') {
                write!(f, "{}", char.escape_unicode())?;
            } else {
                f.write_char(char)?;
            }
        }
        if self.0.chars().nth(CHARS).is_some() { write!(f, "… ({} bytes)", self.0.len()) } else { Ok(()) }
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(json: &str) -> Option<String> {
        let raw: Box<RawValue> = serde_json::from_str(json).unwrap();
        RequestId::of(&raw, 24).map(|id| id.as_json().to_owned())
    }

    #[test]
    fn strings_and_integers_are_kept_to_the_letter() {
        for json in ["0", "-1", "18446744073709551615", r#""""#, r#""1""#, r#""\u00e9\n\"\\""#, "\"é\""] {
            assert_eq!(id(json).as_deref(), Some(json));
        }
        assert_eq!(id(" 7 ").as_deref(), Some("7"));
    }

    #[test]
    fn ids_are_equal_if_they_mean_the_same() {
        let id =
            |json: &str| RequestId::of(&serde_json::from_str::<Box<RawValue>>(json).unwrap(), 99).unwrap();
        for (one, other, equal) in [
            (r#""é\/""#, r#""\u00e9/""#, true),
            (r#""\u0041""#, r#""A""#, true),
            ("-0", "0", true),
            ("1", r#""1""#, false),
            ("1", "-1", false),
            (r#""a""#, r#""\\u0061""#, false),
        ] {
            assert_eq!(id(one) == id(other), equal, "{one} {other}");
        }
    }

    #[test]
    fn nothing_else_is_an_id() {
        for json in ["null", "true", "1.5", "1.0", "1e3", "1E3", "{}", "[]", r#""\ud800""#] {
            assert_eq!(id(json), None, "{json}");
        }
    }

    #[test]
    fn an_id_over_the_limit_is_refused() {
        assert!(id(&"1".repeat(24)).is_some());
        assert!(id(&"1".repeat(25)).is_none());
    }
}
