//! What one message of a stream says, and whether it may look like that.

use crate::{
    json::{self, Member},
    probe::{LISTS, Target},
};

pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

#[derive(Debug, PartialEq)]
pub(crate) enum Message {
    Acknowledged(Granted),
    Told(Target),
    /// The graceful end.
    Completed,
    /// The end by an error, with its `data.reason`.
    Failed(String),
}

/// A filter: bits of [`LISTS`], and URIs in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Granted {
    pub(crate) lists: u8,
    pub(crate) uris: Vec<String>,
}

impl Granted {
    pub(crate) fn is_empty(&self) -> bool {
        self.lists == 0 && self.uris.is_empty()
    }

    pub(crate) fn has(&self, target: &Target) -> bool {
        match target {
            Target::List(index) => self.lists & (1 << index) != 0,
            Target::Uri(uri) => self.uris.contains(uri),
        }
    }

    /// What a filter asks for, read as generously as it may be: members of a wrong type are as absent.
    pub(crate) fn requested(notifications: &str) -> Self {
        let mut granted = Self::default();
        for Member { name, value } in json::members(notifications).unwrap_or_default() {
            let Some(name) = name else { continue };
            if let Some(index) = LISTS.iter().position(|list| list.field == name) {
                granted.lists |= u8::from(value == "true") << index;
            }
            if name == "resourceSubscriptions" {
                for uri in json::items(value).unwrap_or_default().into_iter().filter_map(json::string) {
                    if !granted.uris.contains(&uri) {
                        granted.uris.push(uri);
                    }
                }
            }
        }
        granted
    }
}

/// Reads a message of the subscription whose id is the token `id`.
///
/// # Panics
///
/// If it is no such message, to the letter.
pub(crate) fn read(text: &str, id: &str) -> Message {
    let message = object(json::whole(text.as_bytes()).expect("a message is JSON"));
    assert_eq!(json::only(&message, "jsonrpc"), Some("\"2.0\""), "{text}");
    if let Some(result) = json::only(&message, "result") {
        assert_eq!(names(&message), ["id", "jsonrpc", "result"], "{text}");
        assert_eq!(json::only(&message, "id"), Some(id), "{text}");
        let result = object(result);
        assert_eq!(json::only(&result, "resultType"), Some("\"complete\""), "{text}");
        assert_eq!(subscription_id(&result), id, "{text}");
        return Message::Completed;
    }
    if let Some(error) = json::only(&message, "error") {
        assert_eq!(names(&message), ["error", "id", "jsonrpc"], "{text}");
        assert_eq!(json::only(&message, "id"), Some(id), "{text}");
        let error = object(error);
        assert_eq!(json::only(&error, "code"), Some("-32603"), "{text}");
        let data = object(json::only(&error, "data").expect("data"));
        return Message::Failed(json::only(&data, "reason").and_then(json::string).expect("a reason"));
    }
    assert_eq!(names(&message), ["jsonrpc", "method", "params"], "{text}");
    let params = object(json::only(&message, "params").expect("params"));
    assert_eq!(subscription_id(&params), id, "{text}");
    let method = json::only(&message, "method").and_then(json::string).expect("a method");
    if method == "notifications/subscriptions/acknowledged" {
        assert_eq!(names(&params), ["_meta", "notifications"], "{text}");
        return Message::Acknowledged(granted(json::only(&params, "notifications").expect("there")));
    }
    if method == "notifications/resources/updated" {
        assert_eq!(names(&params), ["_meta", "uri"], "{text}");
        let uri = json::only(&params, "uri").and_then(json::string).expect("a URI");
        return Message::Told(Target::Uri(uri));
    }
    assert_eq!(names(&params), ["_meta"], "{text}");
    let list = LISTS.iter().position(|list| list.method == method);
    Message::Told(Target::List(list.unwrap_or_else(|| panic!("what is this? {text}"))))
}

/// What an acknowledgement says: nothing that is `false`, empty or unknown.
fn granted(notifications: &str) -> Granted {
    for Member { name, value } in object(notifications) {
        let name = name.expect("a name");
        let is_list = LISTS.iter().any(|list| list.field == name);
        assert!(if is_list { value == "true" } else { name == "resourceSubscriptions" && value != "[]" });
    }
    let granted = Granted::requested(notifications);
    let uris = object(notifications).iter().find_map(|member| json::items(member.value));
    assert_eq!(uris.unwrap_or_default().len(), granted.uris.len(), "each URI once, and a string");
    granted
}

fn subscription_id<'a>(params: &[Member<'a>]) -> &'a str {
    let meta = object(json::only(params, "_meta").expect("`_meta`"));
    json::only(&meta, SUBSCRIPTION_ID).expect("the subscription's id")
}

fn object(token: &str) -> Vec<Member<'_>> {
    let members = json::members(token).expect("an object");
    assert!(!json::is_ambiguous(&members), "{token}");
    members
}

fn names<'a>(members: &'a [Member<'_>]) -> Vec<&'a str> {
    let mut names: Vec<_> = members.iter().filter_map(|member| member.name.as_deref()).collect();
    names.sort_unstable();
    names
}
