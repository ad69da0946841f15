//! What a request says, read without the library.

use http::Method;

use super::case::{Case, Delivery};
use crate::{
    json::{self, Member},
    message::Granted,
};

pub(super) const VERSION: &str = "2026-07-28";
pub(super) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// The server's limit, in bytes.
pub(super) const ID_BYTES: usize = 64;

/// The id that an answer has to carry: the token, where it can be read.
pub(super) fn id(case: &Case) -> Option<&str> {
    let message = readable(json(case)?)?;
    let mut ids = message.iter().filter(|member| member.name.as_deref() == Some("id"));
    let token = ids.next()?.value;
    let is_id = json::string(token).is_some() || json::is_integer(token);
    (is_id && token.len() <= ID_BYTES && ids.next().is_none()).then_some(token)
}

/// The body, if all of it came and it is JSON.
pub(super) fn json(case: &Case) -> Option<&str> {
    if case.delivery == Delivery::BreaksOff { None } else { json::whole(&case.body) }
}

/// The text of the member `method`.
pub(super) fn called(case: &Case) -> Option<String> {
    json::string(get(&json::members(json(case)?)?, "method")?)
}

/// What a listen asks for.
pub(super) fn requested(case: &Case) -> Option<Granted> {
    let message = json::members(json(case)?)?;
    let params = json::members(get(&message, "params")?)?;
    Some(Granted::requested(get(&params, "notifications")?))
}

/// Whether the request says that it is of revision 2026-07-28, to any reader that there may be.
pub(super) fn is_modern(case: &Case) -> bool {
    case.method == Method::POST
        && (case.headers.get_all("mcp-protocol-version").iter().any(|version| version == VERSION)
            || json(case).is_some_and(names_version))
}

pub(crate) fn names_version(json: &str) -> bool {
    match json::items(json) {
        Some(batch) => batch.into_iter().any(message_names_version),
        None => message_names_version(json),
    }
}

fn message_names_version(message: &str) -> bool {
    // What cannot be read may say anything.
    let within = |json: &str, name: &str, says: &dyn Fn(&str) -> bool| {
        let members = json::members(json).unwrap_or_default();
        members.iter().any(|member| match &member.name {
            None => true,
            Some(other) => other == name && says(member.value),
        })
    };
    let version = |json: &str| json::string(json).is_some_and(|text| text == VERSION);
    let meta = |json: &str| within(json, VERSION_KEY, &version);
    let params = |json: &str| within(json, "_meta", &meta);
    within(message, "params", &params)
}

/// Whether everybody reads the same out of a message: no member at top level, in `params` or in `_meta` is ambiguous.
pub(crate) fn is_unambiguous(json: &str) -> bool {
    let Some(message) = readable(json) else { return false };
    let params = get(&message, "params").and_then(json::members);
    let meta = params.as_ref().and_then(|params| get(params, "_meta")).and_then(json::members);
    [Some(message), params, meta].into_iter().flatten().all(|members| !json::is_ambiguous(&members))
}

/// The last member of this name.
pub(crate) fn get<'a>(members: &[Member<'a>], name: &str) -> Option<&'a str> {
    let mut named = members.iter().rev().filter(|member| member.name.as_deref() == Some(name));
    named.next().map(|member| member.value)
}

pub(crate) fn readable(json: &str) -> Option<Vec<Member<'_>>> {
    let message = json::members(json)?;
    message.iter().all(|member| member.name.is_some()).then_some(message)
}
