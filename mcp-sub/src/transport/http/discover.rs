//! What a server says of itself.

use serde_json::{Map, Value, json, value::RawValue};

use crate::{
    kind::{KINDS, Kinds},
    protocol::{VERSION, meta, object::Object},
    settings::Settings,
    subscriptions::Capabilities,
};

/// For how long a client may keep what was discovered. Capabilities change when a server is deployed.
pub(super) const TTL_MS: u64 = 300_000;

/// Of an answer that another caller may not get.
const PRIVATE: &str = "private";

/// The result of `server/discover`.
///
/// Specification: [Discovery](https://modelcontextprotocol.io/specification/2026-07-28/server/discover).
pub(super) fn result(settings: &Settings, told: Capabilities) -> Value {
    let mut capabilities = Map::new();
    for index in told.kinds.indices() {
        let family = capabilities.entry(KINDS[index].family).or_insert_with(|| json!({}));
        family[KINDS[index].flag] = json!(true);
    }
    let mut result = complete(settings, told, TTL_MS);
    result["supportedVersions"] = json!([VERSION]);
    result["capabilities"] = capabilities.into();
    if let Some(instructions) = &settings.instructions {
        result["instructions"] = json!(instructions);
    }
    result
}

/// The empty list of a family that is advertised; `None`: `method` is none of these lists.
///
/// A client that is told of a family lists it. There is nothing in it where subscriptions are served alone.
pub(super) fn empty_list(settings: &Settings, told: Capabilities, method: &str) -> Option<Value> {
    let (family, member) = match method {
        "tools/list" => ("tools", "tools"),
        "prompts/list" => ("prompts", "prompts"),
        "resources/list" => ("resources", "resources"),
        "resources/templates/list" => ("resources", "resourceTemplates"),
        _ => return None,
    };
    told.kinds.indices().find(|&index| KINDS[index].family == family)?;
    let mut result = complete(settings, told, 0);
    result[member] = json!([]);
    Some(result)
}

fn complete(settings: &Settings, told: Capabilities, ttl_ms: u64) -> Value {
    let scope = if told.depend_on_caller { PRIVATE } else { "public" };
    let mut result = json!({ "resultType": "complete", "ttlMs": ttl_ms, "cacheScope": scope });
    let info = settings.server_info.as_deref().and_then(|info| serde_json::from_str::<Value>(info).ok());
    if let Some(info) = info {
        result["_meta"] = json!({ meta::SERVER_INFO: info });
    }
    result
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
pub(super) fn merge(result: &RawValue, told: Capabilities) -> Option<Merged> {
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
        assert_eq!(result(&Settings::default(), told)["cacheScope"], "private");
        let inner = r#"{"capabilities":{"tools":{}},"cacheScope":"public"}"#;
        let merged = merge(serde_json::from_str(inner).unwrap(), told).unwrap();
        assert_eq!(
            merged.result,
            r#"{"capabilities":{"tools":{"listChanged":true}},"cacheScope":"private","ttlMs":0}"#
        );
    }

    /// Promise 3: for each of the 16 subsets, what is advertised is what is declared.
    #[test]
    fn promise_3_the_flags_are_the_declared_kinds() {
        let settings = Settings::default();
        for bits in 0..16_usize {
            let kinds =
                (0..4).filter(|bit| bits & (1 << bit) != 0).map(Kinds::at).fold(Kinds::NONE, Kinds::union);
            let result = result(&settings, told(kinds));
            for (index, kind) in KINDS.iter().enumerate() {
                let flag = &result["capabilities"][kind.family][kind.flag];
                assert_eq!(*flag == json!(true), kinds.contains(Kinds::at(index)), "{kinds:?}: {result}");
            }
            let families = result["capabilities"].as_object().unwrap();
            assert!(
                families.values().all(|flags| flags.as_object().unwrap().values().all(|flag| flag == true))
            );
        }
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
