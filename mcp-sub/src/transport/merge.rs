//! The inner server's word on what it has, and ours.

use std::sync::{Arc, Once};

use serde_json::{json, value::RawValue};

use super::discover::{PRIVATE, TTL_MS};
use crate::{
    kind::{KINDS, Kinds},
    protocol::{
        DISCOVER,
        error::{Error, code},
        object::Object,
        request::Request,
    },
    subscriptions::Capabilities,
};

/// Reads what the inner server answers to `server/discover`. It says once what will never be honoured.
#[derive(Clone)]
pub(super) struct Merger {
    warned: Arc<Once>,
}

impl Merger {
    pub(super) fn new() -> Self {
        Self { warned: Arc::new(Once::new()) }
    }

    /// The result of a response with our flags in it; `None`: it is no discover result.
    pub(super) fn merge(&self, response: &RawValue, told: Capabilities) -> Option<Merged> {
        let merged = merge(Object::of(response)?.get("result")?, told)?;
        let missing = told.kinds.difference(merged.carried);
        if !missing.is_empty() {
            self.warned.call_once(|| {
                tracing::warn!(
                    ?missing,
                    "declared, but the inner server does not advertise the family: never honoured"
                );
            });
        }
        Some(merged)
    }

    /// What a caller can be granted of what it is told. Whom the inner server refuses, gets nothing: with its error, if
    /// it says one.
    pub(super) fn carried(
        &self,
        response: Option<&RawValue>,
        told: Capabilities,
    ) -> Result<Kinds, Option<Error>> {
        if let Some(Merged { carried, .. }) = response.and_then(|response| self.merge(response, told)) {
            return Ok(carried.intersection(told.kinds));
        }
        let error = response.and_then(error);
        if error.as_ref().is_some_and(|error| error.code == code::METHOD_NOT_FOUND) {
            self.warned.call_once(|| {
                tracing::warn!("the inner server has no `server/discover`: all that is declared is honoured");
            });
            return Ok(told.kinds);
        }
        Err(error)
    }
}

/// `server/discover` in the name of the caller of `request`. `id` is JSON.
pub(super) fn ask(id: &str, request: &Request<'_>) -> String {
    let meta = request.params.as_ref().and_then(|params| params.get("_meta")).map_or("{}", |meta| meta.get());
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{DISCOVER}","params":{{"_meta":{meta}}}}}"#)
}

/// What a caller is told where the inner server says nothing that can be passed on.
pub(super) fn unknown() -> Error {
    Error::new(code::INTERNAL_ERROR, "the inner server does not say what it has")
}

fn error(response: &RawValue) -> Option<Error> {
    let error: serde_json::Value = serde_json::from_str(response.get()).ok()?;
    let error = error.get("error")?;
    let (code, message) = (error.get("code")?.as_i64()?, error.get("message")?.as_str()?);
    Some(Error { code, message: message.into(), data: error.get("data").cloned() })
}

/// The inner server's discover result with our flags in it.
#[derive(Debug)]
pub(super) struct Merged {
    /// JSON. Whatever is not about subscriptions is as the inner server wrote it.
    pub(super) result: String,
    /// The kinds of the families that the inner server has: only those can be honoured.
    pub(super) carried: Kinds,
}

/// Puts what this caller is told in the place of all that the inner server says about subscriptions. `None`: this is no
/// discover result.
///
/// A family that it does not advertise is not added. The time to live is the smaller one, the scope the stricter one.
fn merge(result: &RawValue, told: Capabilities) -> Option<Merged> {
    let result = Object::of(result)?;
    let advertised = Object::of(result.get("capabilities")?)?;
    let mut carried = Kinds::NONE;
    let mut capabilities = Members::of(&advertised);
    for (index, kind) in KINDS.iter().enumerate() {
        let Some(mut family) = capabilities.object(kind.family) else { continue };
        carried = carried.union(Kinds::at(index));
        family.set(kind.flag, told.kinds.contains(Kinds::at(index)).then(|| "true".into()));
        capabilities.set(kind.family, Some(family.to_json()));
    }
    let ttl = result.get("ttlMs").and_then(|json| json.get().parse::<u64>().ok()).unwrap_or(0);
    let mut result = Members::of(&result);
    result.set("capabilities", Some(capabilities.to_json()));
    result.set("ttlMs", Some(ttl.min(TTL_MS).to_string()));
    if told.depend_on_caller {
        result.set("cacheScope", Some(json!(PRIVATE).to_string()));
    }
    Some(Merged { result: result.to_json(), carried })
}

/// The members of an object as JSON, each name once, to be changed and written again.
struct Members(Vec<(String, String)>);

impl Members {
    fn of(object: &Object<'_>) -> Self {
        let mut members = Self(Vec::new());
        for (name, json) in &object.members {
            members.set(name, Some(json.get().into()));
        }
        members
    }

    /// The member `name`, if it is an object.
    fn object(&self, name: &str) -> Option<Self> {
        let (_, json) = self.0.iter().find(|(member, _)| member == name)?;
        let object: Object<'_> = serde_json::from_str(json).ok()?;
        Some(Self::of(&object))
    }

    /// Sets the member, in its place if it is there, or takes it out.
    fn set(&mut self, name: &str, json: Option<String>) {
        let place = self.0.iter().position(|(member, _)| member == name);
        match (place, json) {
            (Some(place), Some(json)) => self.0[place].1 = json,
            (Some(place), None) => drop(self.0.remove(place)),
            (None, Some(json)) => self.0.push((name.into(), json)),
            (None, None) => {}
        }
    }

    fn to_json(&self) -> String {
        let members = self.0.iter().map(|(name, json)| format!("{}:{json}", json!(name)));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(kinds: Kinds) -> Capabilities {
        Capabilities { kinds, depend_on_caller: false }
    }

    #[test]
    fn what_depends_on_the_caller_is_for_no_shared_cache() {
        let told = Capabilities { depend_on_caller: true, ..told(Kinds::TOOLS_LIST_CHANGED) };
        let inner = r#"{"capabilities":{"tools":{}},"cacheScope":"public"}"#;
        let merged = merge(serde_json::from_str(inner).unwrap(), told).unwrap();
        assert_eq!(
            merged.result,
            r#"{"capabilities":{"tools":{"listChanged":true}},"cacheScope":"private","ttlMs":0}"#
        );
    }

    fn merged(json: &str, kinds: Kinds) -> Option<Merged> {
        merge(serde_json::from_str(json).unwrap(), told(kinds))
    }

    #[test]
    fn the_inner_servers_flags_are_replaced_and_all_else_stays_to_the_letter() {
        let ours = Kinds::RESOURCES_UPDATED.union(Kinds::PROMPTS_LIST_CHANGED);
        let Merged { result, carried } = merged(
            r#"{"x":1e400,"capabilities":{"tools":{"listChanged":true,"n":12345678901234567890123},"resources":{"listChanged":1},"logging":{}},"ttlMs":900000,"cacheScope":"private"}"#,
            ours,
        )
        .unwrap();
        assert_eq!(carried, (0..4).filter(|i| *i != 1).map(Kinds::at).fold(Kinds::NONE, Kinds::union));
        assert_eq!(
            result,
            r#"{"x":1e400,"capabilities":{"tools":{"n":12345678901234567890123},"resources":{"subscribe":true},"logging":{}},"ttlMs":300000,"cacheScope":"private"}"#
        );
        let smaller = merged(r#"{"capabilities":{},"ttlMs":7}"#, ours).unwrap();
        assert_eq!(
            (smaller.result.as_str(), smaller.carried),
            (r#"{"capabilities":{},"ttlMs":7}"#, Kinds::NONE)
        );
    }

    #[test]
    fn an_answer_of_another_shape_is_no_discover_result() {
        for json in ["null", "[]", "{}", r#"{"capabilities":1}"#] {
            assert!(merged(json, Kinds::TOOLS_LIST_CHANGED).is_none(), "{json}");
        }
        // A family that is no object is not there.
        let odd = merged(r#"{"capabilities":{"tools":true}}"#, Kinds::TOOLS_LIST_CHANGED).unwrap();
        assert_eq!(odd.carried, Kinds::NONE);
    }
}
