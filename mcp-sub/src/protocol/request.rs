//! What was received: the shape of a JSON-RPC message, judged before any of its contents.

use serde_json::{json, value::RawValue};

use super::{error::Error, id::RequestId, meta, object::Object};

/// A message that a client may send.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Request(Request<'a>),
    /// With the protocol version in its `_meta`, if there is one.
    Notification(Option<String>),
}

#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) id: RequestId,
    pub(crate) method: String,
    /// `None`: absent, or no object.
    pub(crate) params: Option<Object<'a>>,
    /// `params._meta`; `None`: absent, or no object.
    pub(crate) meta: Option<Object<'a>>,
}

/// What is wrong with a message, and its id if that could be read.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub(crate) id: Option<RequestId>,
    pub(crate) error: Error,
}

impl From<Error> for Malformed {
    fn from(error: Error) -> Self {
        Self { id: None, error }
    }
}

/// Whether `json` is well-formed, and the text.
pub(crate) fn syntax(json: &[u8]) -> Result<&RawValue, Error> {
    serde_json::from_slice(json).map_err(|error| {
        Error::new(super::error::code::PARSE_ERROR, format!("the body is not valid JSON: {error}"))
    })
}

impl<'a> Message<'a> {
    /// Reads a message whose id has at most `id_bytes` bytes.
    pub(crate) fn of(json: &'a RawValue, id_bytes: usize) -> Result<Self, Malformed> {
        let Some(message) = Object::of(json) else {
            return Err(Error::invalid_request(
                "expected one JSON-RPC message, an object; batches are not served",
            )
            .into());
        };
        if message.duplicate.as_deref() == Some("id") {
            return Err(Error::invalid_request("the member `id` occurs twice").into());
        }
        let id = match message.get("id") {
            Some(json) => Some(RequestId::of(json, id_bytes).ok_or_else(|| no_id(json, id_bytes))?),
            None => None,
        };
        match Self::members(&message, id.clone()) {
            Ok(message) => Ok(message),
            Err(error) => Err(Malformed { id, error }),
        }
    }

    fn members(message: &Object<'a>, id: Option<RequestId>) -> Result<Self, Error> {
        once(message, "the message")?;
        if message.str("jsonrpc").as_deref() != Some("2.0") {
            return Err(Error::invalid_request("`jsonrpc` must be \"2.0\""));
        }
        if !message.contains("method") {
            return Err(Error::invalid_request(
                "no `method`: a client sends requests and notifications only",
            ));
        }
        let Some(method) = message.str("method") else {
            return Err(Error::invalid_request("`method` must be a string"));
        };
        let params = message.get("params").and_then(Object::of);
        let meta = params.as_ref().and_then(|params| params.get("_meta")).and_then(Object::of);
        params.iter().try_for_each(|params| once(params, "`params`"))?;
        meta.iter().try_for_each(|meta| once(meta, "`_meta`"))?;
        match id {
            Some(id) => Ok(Self::Request(Request { id, method, params, meta })),
            None if method.starts_with("notifications/") => Ok(Self::Notification(version(meta.as_ref()))),
            None => Err(Error::invalid_request(format!("`{method}` is a request, and needs an `id`"))),
        }
    }
}

fn no_id(json: &RawValue, id_bytes: usize) -> Error {
    if json.get().len() > id_bytes {
        let message = format!("`id` has {} bytes; at most {id_bytes} are served", json.get().len());
        return Error::invalid_request(message).with_data(json!({ "limit": "id_bytes" }));
    }
    Error::invalid_request("`id` must be a string or an integer")
}

fn once(object: &Object<'_>, place: &str) -> Result<(), Error> {
    match &object.duplicate {
        Some(name) => Err(Error::invalid_request(format!("the member `{name}` occurs twice in {place}"))),
        None => Ok(()),
    }
}

impl Request<'_> {
    /// The protocol version in `_meta`, if there is one.
    pub(crate) fn version(&self) -> Option<String> {
        version(self.meta.as_ref())
    }

    /// The fields of `_meta` that every request must have.
    ///
    /// Specification: [Overview, `_meta`](https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta).
    pub(crate) fn check_meta(&self) -> Result<(), Error> {
        let Some(meta) = &self.meta else {
            return Err(Error::invalid_params("`params._meta` is missing, or not an object"));
        };
        if self.version().is_none() {
            return Err(missing(meta, meta::PROTOCOL_VERSION, "a string"));
        }
        let capabilities = meta.get(meta::CLIENT_CAPABILITIES);
        if !capabilities.is_some_and(|json| json.get().starts_with('{')) {
            return Err(missing(meta, meta::CLIENT_CAPABILITIES, "an object"));
        }
        Ok(())
    }
}

fn version(meta: Option<&Object<'_>>) -> Option<String> {
    meta?.str(meta::PROTOCOL_VERSION)
}

fn missing(meta: &Object<'_>, key: &str, expected: &str) -> Error {
    Error::invalid_params(if meta.contains(key) {
        format!("`{key}` in `_meta` must be {expected}")
    } else {
        format!("`{key}` is missing in `_meta`")
    })
}

#[cfg(test)]
mod tests {
    use super::{super::error::code, *};

    type Id = Option<String>;

    fn read(json: &str) -> Result<(Id, String), (Id, i64, String)> {
        let raw = syntax(json.as_bytes()).map_err(|error| (None, error.code, error.message))?;
        match Message::of(raw, 64) {
            Ok(Message::Request(request)) => Ok((Some(request.id.to_string()), request.method)),
            Ok(Message::Notification(version)) => Ok((None, version.unwrap_or_default())),
            Err(Malformed { id, error }) => Err((id.map(|id| id.to_string()), error.code, error.message)),
        }
    }

    #[test]
    fn requests_and_notifications_are_told_apart_by_their_id() {
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":7,"method":"x"}"#), Ok((Some("7".into()), "x".into())));
        assert!(matches!(read(r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#), Ok((None, _))));
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","method":"subscriptions/listen"}"#).unwrap_err().1,
            code::INVALID_REQUEST
        );
    }

    #[test]
    fn what_is_not_json_is_a_parse_error() {
        for json in ["", "{", r#"{"a":}"#, "{} {}", "\u{1}"] {
            assert_eq!(read(json).unwrap_err().1, code::PARSE_ERROR, "{json:?}");
        }
        assert!(syntax(b"{\"a\":\"\xff\"}").is_err());
        assert!(syntax("[".repeat(100_000).as_bytes()).is_err());
    }

    #[test]
    fn what_is_no_message_is_an_invalid_request() {
        for json in [
            "[]",
            "1",
            "\"x\"",
            "{}",
            r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
        ] {
            assert_eq!(read(json).unwrap_err().1, code::INVALID_REQUEST, "{json}");
        }
    }

    #[test]
    fn an_error_carries_the_id_where_it_could_be_read() {
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":"a","method":5}"#).unwrap_err().0.as_deref(), Some("\"a\""));
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#).unwrap_err().0, None);
    }

    #[test]
    fn members_that_occur_twice_are_refused_wherever_someone_else_reads_them() {
        for json in [
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"x","method":"y"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":1,"name":2}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"k":1,"k":2}}}"#,
        ] {
            let (_, code, message) = read(json).unwrap_err();
            assert_eq!(code, code::INVALID_REQUEST);
            assert!(message.contains("twice"), "{message}");
        }
    }
}
