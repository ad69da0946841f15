//! What was received: the shape of a JSON-RPC message, judged before any of its contents.

use serde_json::{Map, Value, json, value::RawValue};

use super::{
    VERSION,
    error::{Error, Shown},
    id::RequestId,
    meta,
    object::{Object, Unreadable},
};

/// A message that a client may send.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Request(Request<'a>),
    Notification(Notification<'a>),
    /// A response, or a request without an id. Over HTTP it is refused; where messages share a channel there is nobody to
    /// tell.
    Unanswerable(Malformed),
}

#[derive(Debug)]
pub(crate) struct Notification<'a> {
    pub(crate) method: String,
    /// `None`: absent, or no object.
    pub(crate) params: Option<Object<'a>>,
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
    serde_json::from_slice(json)
        .map_err(|error| Error::new(super::error::code::PARSE_ERROR, format!("not valid JSON: {error}")))
}

impl<'a> Message<'a> {
    /// Reads a message whose id has at most `id_bytes` bytes.
    pub(crate) fn of(json: &'a RawValue, id_bytes: usize) -> Result<Self, Malformed> {
        let Some(message) = read(json, "the message")? else {
            return Err(Error::invalid_request(
                "expected one JSON-RPC message, an object; batches are not served",
            )
            .into());
        };
        if message.all("id").count() > 1 {
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
        if message.get("method").is_none() {
            let error = Error::invalid_request("no `method`: a client sends requests and notifications only");
            let is_response = message.get("result").or_else(|| message.get("error")).is_some();
            return if is_response { Ok(Self::Unanswerable(Malformed { id, error })) } else { Err(error) };
        }
        let Some(method) = message.str("method") else {
            return Err(Error::invalid_request("`method` must be a string"));
        };
        let params = member(message, "params", "`params`")?;
        let meta = params.as_ref().map(|params| member(params, "_meta", "`_meta`")).transpose()?.flatten();
        match id {
            Some(id) => Ok(Self::Request(Request { id, method, params, meta })),
            None if method.starts_with("notifications/") => {
                Ok(Self::Notification(Notification { method, params }))
            }
            None => {
                let message = format!("`{}` is a request, and needs an `id`", Shown(&method));
                Ok(Self::Unanswerable(Error::invalid_request(message).into()))
            }
        }
    }
}

/// Whether a message, or one of a batch, says in its `_meta` that it is of revision 2026-07-28.
///
/// Where a member occurs twice each of the two counts, since each is what some reader takes. What cannot be read may
/// say so: it counts, and [`Message::of`] refuses it.
pub(crate) fn names_version(json: &RawValue) -> bool {
    if json.get().starts_with('[') {
        // A batch in a batch is no message. Following it down would give the depth of the stack to the client.
        let batch: Vec<&RawValue> = serde_json::from_str(json.get()).unwrap_or_default();
        return batch.into_iter().any(message_names_version);
    }
    message_names_version(json)
}

fn message_names_version(json: &RawValue) -> bool {
    any_member(json, "params", |params| {
        any_member(params, "_meta", |meta| {
            any_member(meta, meta::PROTOCOL_VERSION, |version| {
                serde_json::from_str(version.get()).is_ok_and(|text: String| text == VERSION)
            })
        })
    })
}

/// Whether `holds` for some member `name` of an object, or that cannot be known.
fn any_member(json: &RawValue, name: &str, holds: impl Fn(&RawValue) -> bool) -> bool {
    Object::read(json).map_or(true, |object| object.is_some_and(|object| object.all(name).any(holds)))
}

/// The member `name`, if it is an object.
fn member<'a>(object: &Object<'a>, name: &str, place: &str) -> Result<Option<Object<'a>>, Error> {
    let Some(json) = object.get(name) else { return Ok(None) };
    let member = read(json, place)?;
    member.iter().try_for_each(|member| once(member, place))?;
    Ok(member)
}

/// An object that cannot be read is refused, and never taken for one that is not there.
fn read<'a>(json: &'a RawValue, place: &str) -> Result<Option<Object<'a>>, Error> {
    Object::read(json).map_err(|Unreadable| {
        Error::invalid_request(format!("a name in {place} cannot be read: it has half of a surrogate pair"))
    })
}

fn no_id(json: &RawValue, id_bytes: usize) -> Error {
    if json.get().len() > id_bytes {
        let message = format!("`id` has {} bytes; at most {id_bytes} are served", json.get().len());
        return Error::invalid_request(message).with_data(json!({ "limit": "id_bytes" }));
    }
    Error::invalid_request("`id` must be a string or an integer")
}

fn once(object: &Object<'_>, place: &str) -> Result<(), Error> {
    match object.duplicate() {
        Some(name) => {
            Err(Error::invalid_request(format!("the member `{}` occurs twice in {place}", Shown(name))))
        }
        None => Ok(()),
    }
}

impl Request<'_> {
    /// The protocol version in `_meta`, if there is one.
    pub(crate) fn version(&self) -> Option<String> {
        self.meta.as_ref()?.str(meta::PROTOCOL_VERSION)
    }

    /// A client of an older revision begins with `initialize`: it learns which one is served.
    pub(crate) fn handshake(&self) -> Error {
        let requested = self.params.as_ref().and_then(|params| params.str("protocolVersion"));
        Error::unsupported_version(requested.as_deref())
    }

    /// `params._meta`, if it has the fields that every request must have.
    ///
    /// Specification: [Overview, `_meta`](https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta).
    pub(crate) fn check_meta(&self) -> Result<Map<String, Value>, Error> {
        let json = self.params.as_ref().and_then(|params| params.get("_meta"));
        let Some(json) = json.filter(|_| self.meta.is_some()) else {
            return Err(Error::invalid_params("`params._meta` is missing, or not an object"));
        };
        let meta: Map<String, Value> = serde_json::from_str(json.get())
            .map_err(|error| Error::invalid_params(format!("`params._meta` cannot be read: {error}")))?;
        for (key, holds, expected) in [
            (meta::PROTOCOL_VERSION, Value::is_string as fn(&Value) -> bool, "a string"),
            (meta::CLIENT_CAPABILITIES, Value::is_object, "an object"),
        ] {
            match meta.get(key) {
                Some(value) if holds(value) => {}
                Some(_) => {
                    return Err(Error::invalid_params(format!("`{key}` in `_meta` must be {expected}")));
                }
                None => return Err(Error::invalid_params(format!("`{key}` is missing in `_meta`"))),
            }
        }
        Ok(meta)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::error::code, *};

    type Id = Option<String>;

    fn read(json: &str) -> Result<(Id, String), (Id, i64, String)> {
        let raw = syntax(json.as_bytes()).map_err(|error| (None, error.code, error.message))?;
        match Message::of(raw, 64) {
            Ok(Message::Request(request)) => Ok((Some(request.id.to_string()), request.method)),
            Ok(Message::Notification(Notification { method, .. })) => Ok((None, method)),
            Ok(Message::Unanswerable(Malformed { id, error })) | Err(Malformed { id, error }) => {
                Err((id.map(|id| id.to_string()), error.code, error.message))
            }
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
    fn what_nobody_waits_an_answer_for_is_known() {
        for (json, unanswerable) in [
            (r#"{"jsonrpc":"2.0","method":"subscriptions/listen"}"#, true),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, true),
            (r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, true),
            (r#"{"jsonrpc":"2.0","id":1}"#, false),
            (r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, false),
        ] {
            let read = Message::of(syntax(json.as_bytes()).unwrap(), 9);
            assert_eq!(matches!(read, Ok(Message::Unanswerable(_))), unanswerable, "{json}");
        }
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

    #[test]
    fn a_message_names_its_version_wherever_some_reader_finds_it() {
        let names = |json: &str| names_version(syntax(json.as_bytes()).unwrap());
        let meta =
            |version: &str| format!(r#""_meta":{{"io.modelcontextprotocol/protocolVersion":{version}}}"#);
        let (ours, escaped, older) =
            (meta(r#""2026-07-28""#), meta(r#""2026-07-2\u0038""#), meta(r#""2025-11-25""#));
        for json in [
            format!(r#"{{"params":{{{ours}}}}}"#),
            format!(r#"{{"params":{{{escaped}}}}}"#),
            format!(r#"{{"params":{{{ours},{older}}}}}"#),
            format!(r#"{{"params":{{{older}}},"params":{{{ours}}},"params":{{}}}}"#),
            format!(r#"[1,{{"params":{{{ours}}}}}]"#),
        ] {
            assert!(names(&json), "{json}");
        }
        for json in [
            format!(r#"{{"params":{{{older}}}}}"#),
            format!(r#"{{"result":{{{ours},"text":"2026-07-28"}}}}"#),
            r#"{"params":{"day":"2026-07-28","_meta":["2026-07-28"]}}"#.into(),
            r#"{"params":[]}"#.into(),
            "[]".into(),
            "7".into(),
        ] {
            assert!(!names(&json), "{json}");
        }
        assert!(names(r#"{"params":{"\ud800":1}}"#), "it may, and is refused");
    }

    #[test]
    fn a_batch_may_be_as_deep_as_it_likes() {
        let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert!(!names_version(syntax(deep.as_bytes()).unwrap()));
    }

    #[test]
    fn what_cannot_be_read_is_never_taken_for_absent() {
        for json in [
            r#"{"jsonrpc":"2.0","id":1,"method":"x","\ud800":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"\ud800":1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"\ud800":1}}}"#,
        ] {
            assert_eq!(read(json).unwrap_err().1, code::INVALID_REQUEST, "{json}");
        }
    }

    #[test]
    fn the_fields_of_meta_have_to_be_readable() {
        let check = |fields: &str| {
            let json = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"v",{fields}}}}}}}"#
            );
            let raw = syntax(json.as_bytes()).unwrap();
            let Ok(Message::Request(request)) = Message::of(raw, 9) else { panic!("{json}") };
            request.check_meta().map_err(|error| error.message)
        };
        let capabilities = r#""io.modelcontextprotocol/clientCapabilities":{}"#;
        assert_eq!(check(capabilities).unwrap().len(), 2);
        for (fields, named) in [
            (r#""a":1"#.to_owned(), "clientCapabilities` is missing"),
            (r#""io.modelcontextprotocol/clientCapabilities":[]"#.to_owned(), "must be an object"),
            (format!(r#"{capabilities},"x":1e999"#), "cannot be read"),
            (format!(r#"{capabilities},"x":"\ud800""#), "cannot be read"),
        ] {
            assert!(check(&fields).unwrap_err().contains(named), "{fields}");
        }
    }
}
