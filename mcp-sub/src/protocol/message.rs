//! Rendering: what the server writes about one subscription.

use super::{CANCELLED, error::Error, id::RequestId, meta};
use crate::kind::{KINDS, Kind, Kinds};
use bytes::{BufMut, BytesMut};

/// The first message of a subscription, with what the server agreed to honour.
///
/// Specification: [Subscriptions, Acknowledgment][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#acknowledgment
pub(crate) fn acknowledged<'u>(
    out: &mut BytesMut,
    id: &RequestId,
    kinds: Kinds,
    uris: impl Iterator<Item = &'u str>,
) {
    open_notification(out, "notifications/subscriptions/acknowledged", id);
    out.put_slice(br#","notifications":{"#);
    let mut separator = Separator::default();
    for index in kinds.indices() {
        separator.put(out);
        name(out, KINDS[index].field);
        out.put_u8(b':');
        if Kinds::at(index) != Kinds::RESOURCES_UPDATED {
            out.put_slice(b"true");
        }
    }
    if kinds.contains(Kinds::RESOURCES_UPDATED) {
        // Its field is the last one, since its bit is.
        out.put_u8(b'[');
        let mut separator = Separator::default();
        for uri in uris {
            separator.put(out);
            string(out, uri);
        }
        out.put_u8(b']');
    }
    out.put_slice(b"}}}");
}

/// A change. `uri` is there exactly for `resources_updated`.
///
/// Specification: [Subscriptions, Receiving Notifications][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#receiving-notifications
pub(crate) fn notification(out: &mut BytesMut, id: &RequestId, kind: &Kind, uri: Option<&str>) {
    open_notification(out, kind.method, id);
    if let Some(uri) = uri {
        out.put_slice(br#","uri":"#);
        string(out, uri);
    }
    out.put_slice(b"}}");
}

/// The graceful end: the response to the listen. `server_info` is JSON.
///
/// Specification: [Subscriptions, Graceful Closure][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#graceful-closure
pub(crate) fn completed(out: &mut BytesMut, id: &RequestId, server_info: Option<&str>) {
    out.put_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.put_slice(id.as_json().as_bytes());
    out.put_slice(br#","result":{"resultType":"complete","#);
    put_meta(out, id);
    if let Some(server_info) = server_info {
        out.put_u8(b',');
        name(out, meta::SERVER_INFO);
        out.put_u8(b':');
        out.put_slice(server_info.as_bytes());
    }
    out.put_slice(b"}}}");
}

/// Says that a stream ends, before the response to its listen.
///
/// Specification: [Cancellation][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation#behavior-requirements
pub(crate) fn cancelled(out: &mut BytesMut, id: &RequestId) {
    out.put_slice(br#"{"jsonrpc":"2.0","method":"#);
    name(out, CANCELLED);
    out.put_slice(br#","params":{"requestId":"#);
    out.put_slice(id.as_json().as_bytes());
    out.put_slice(b"}}");
}

/// A response that is an error. Without an id where that could not be read.
pub(crate) fn error(out: &mut BytesMut, id: Option<&RequestId>, error: &Error) {
    response(out, id, "error", &error.to_json().to_string());
}

/// A response with a result, which is JSON.
pub(crate) fn result(out: &mut BytesMut, id: &RequestId, result: &str) {
    response(out, Some(id), "result", result);
}

fn response(out: &mut BytesMut, id: Option<&RequestId>, member: &str, json: &str) {
    out.put_slice(br#"{"jsonrpc":"2.0","#);
    if let Some(id) = id {
        out.put_slice(br#""id":"#);
        out.put_slice(id.as_json().as_bytes());
        out.put_u8(b',');
    }
    name(out, member);
    out.put_u8(b':');
    out.put_slice(json.as_bytes());
    out.put_u8(b'}');
}

fn open_notification(out: &mut BytesMut, method: &str, id: &RequestId) {
    out.put_slice(br#"{"jsonrpc":"2.0","method":"#);
    name(out, method);
    out.put_slice(br#","params":{"#);
    put_meta(out, id);
    out.put_u8(b'}');
}

/// `"_meta":{"…/subscriptionId":ID`, still open.
fn put_meta(out: &mut BytesMut, id: &RequestId) {
    out.put_slice(br#""_meta":{"#);
    name(out, meta::SUBSCRIPTION_ID);
    out.put_u8(b':');
    out.put_slice(id.as_json().as_bytes());
}

/// A name of the protocol's, in which nothing has to be escaped.
fn name(out: &mut BytesMut, name: &str) {
    debug_assert!(name.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')));
    out.put_u8(b'"');
    out.put_slice(name.as_bytes());
    out.put_u8(b'"');
}

fn string(out: &mut BytesMut, text: &str) {
    serde_json::to_writer(out.writer(), text).expect("a string is valid JSON, and memory takes it");
}

/// A comma before all but the first.
#[derive(Default)]
struct Separator(bool);

impl Separator {
    fn put(&mut self, out: &mut BytesMut) {
        if std::mem::replace(&mut self.0, true) {
            out.put_u8(b',');
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json, value::RawValue};

    use super::*;

    const ID: &str = "io.modelcontextprotocol/subscriptionId";

    fn id(json: &str) -> RequestId {
        let raw: Box<RawValue> = serde_json::from_str(json).unwrap();
        RequestId::of(&raw, 100).unwrap()
    }

    fn rendered(render: impl FnOnce(&mut BytesMut)) -> Value {
        let mut out = BytesMut::new();
        render(&mut out);
        assert!(!out.contains(&b'\n') && !out.contains(&b'\r'), "a message is one line");
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn the_acknowledgement_has_what_is_honoured_and_nothing_else() {
        let all = (0..4).map(Kinds::at).fold(Kinds::NONE, Kinds::union);
        let uris = ["file:///a", "x:\"\n"];
        assert_eq!(
            rendered(|out| acknowledged(out, &id("\"a\""), all, uris.into_iter())),
            json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {
                "_meta": {ID: "a"},
                "notifications": {"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
                    "resourceSubscriptions": uris}}})
        );
        let nothing = rendered(|out| acknowledged(out, &id("1"), Kinds::NONE, [].into_iter()));
        assert_eq!(nothing["params"]["notifications"], json!({}));
    }

    #[test]
    fn a_notification_carries_the_id_and_its_uri() {
        assert_eq!(
            rendered(|out| notification(out, &id("0"), &KINDS[0], None)),
            json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": {ID: 0}}})
        );
        assert_eq!(
            rendered(|out| notification(out, &id("0"), &KINDS[3], Some("a:b"))),
            json!({"jsonrpc": "2.0", "method": "notifications/resources/updated",
                "params": {"_meta": {ID: 0}, "uri": "a:b"}})
        );
    }

    #[test]
    fn the_graceful_end_is_the_response_to_the_listen() {
        let info = r#"{"name":"n","version":"1"}"#;
        assert_eq!(
            rendered(|out| completed(out, &id("\"abc\""), Some(info))),
            json!({"jsonrpc": "2.0", "id": "abc", "result": {"resultType": "complete", "_meta": {
                ID: "abc", "io.modelcontextprotocol/serverInfo": {"name": "n", "version": "1"}}}})
        );
    }

    #[test]
    fn an_error_has_no_id_where_none_could_be_read() {
        let refused = Error::invalid_request("no");
        assert_eq!(
            rendered(|out| error(out, None, &refused)),
            json!({"jsonrpc": "2.0", "error": {"code": -32600, "message": "no"}})
        );
        assert_eq!(rendered(|out| error(out, Some(&id("7")), &refused))["id"], json!(7));
    }

    #[test]
    fn an_id_goes_back_with_the_same_digits() {
        let long = "123456789012345678901234567890";
        let mut out = BytesMut::new();
        completed(&mut out, &id(long), None);
        assert_eq!(String::from_utf8(out.to_vec()).unwrap().matches(long).count(), 2);
    }
}
