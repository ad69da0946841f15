//! What a server says of itself.

use serde_json::{Map, Value, json};

use crate::{
    kind::{KINDS, Kinds},
    protocol::{VERSION, meta},
    settings::Settings,
};

/// For how long a client may keep what was discovered. Capabilities change when a server is deployed.
pub(super) const TTL_MS: u64 = 300_000;

/// The result of `server/discover`.
///
/// Specification: [Discovery](https://modelcontextprotocol.io/specification/2026-07-28/server/discover).
pub(super) fn result(settings: &Settings, kinds: Kinds) -> Value {
    let mut capabilities = Map::new();
    for index in kinds.indices() {
        let family = capabilities.entry(KINDS[index].family).or_insert_with(|| json!({}));
        family[KINDS[index].flag] = json!(true);
    }
    let mut result = complete(settings, TTL_MS);
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
pub(super) fn empty_list(settings: &Settings, kinds: Kinds, method: &str) -> Option<Value> {
    let (family, member) = match method {
        "tools/list" => ("tools", "tools"),
        "prompts/list" => ("prompts", "prompts"),
        "resources/list" => ("resources", "resources"),
        "resources/templates/list" => ("resources", "resourceTemplates"),
        _ => return None,
    };
    kinds.indices().find(|&index| KINDS[index].family == family)?;
    let mut result = complete(settings, 0);
    result[member] = json!([]);
    Some(result)
}

fn complete(settings: &Settings, ttl_ms: u64) -> Value {
    let mut result = json!({ "resultType": "complete", "ttlMs": ttl_ms, "cacheScope": "public" });
    let info = settings.server_info.as_deref().and_then(|info| serde_json::from_str::<Value>(info).ok());
    if let Some(info) = info {
        result["_meta"] = json!({ meta::SERVER_INFO: info });
    }
    result
}

/// Which kinds a server that advertises `capabilities` can carry at all: those of the families that it has.
pub(super) fn carried(capabilities: &Value) -> Kinds {
    let has_family = |index: &usize| capabilities[KINDS[*index].family].is_object();
    (0..KINDS.len()).filter(has_family).map(Kinds::at).fold(Kinds::NONE, Kinds::union)
}

/// Puts `kinds` in the place of all that the inner server says about subscriptions in its discover result. Returns what
/// it carries, and whether anyone may keep that.
pub(super) fn merge(result: &mut Value, kinds: Kinds) -> Option<(Kinds, bool)> {
    let result = result.as_object_mut()?;
    let capabilities = result.get_mut("capabilities").filter(|capabilities| capabilities.is_object())?;
    let carried = carried(capabilities);
    for index in carried.indices() {
        let family = capabilities.get_mut(KINDS[index].family).and_then(Value::as_object_mut)?;
        if kinds.contains(Kinds::at(index)) {
            family.insert(KINDS[index].flag.into(), json!(true));
        } else {
            family.remove(KINDS[index].flag);
        }
    }
    let ttl = result.get("ttlMs").and_then(Value::as_u64).unwrap_or(0).min(TTL_MS);
    result.insert("ttlMs".into(), json!(ttl));
    let public = result.get("cacheScope") == Some(&json!("public"));
    Some((carried, public))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise 3: for each of the 16 subsets, what is advertised is what is declared.
    #[test]
    fn promise_3_the_flags_are_the_declared_kinds() {
        let settings = Settings::default();
        for bits in 0..16_usize {
            let kinds =
                (0..4).filter(|bit| bits & (1 << bit) != 0).map(Kinds::at).fold(Kinds::NONE, Kinds::union);
            let result = result(&settings, kinds);
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

    #[test]
    fn the_inner_servers_flags_are_replaced_and_its_families_stay() {
        let mut result = json!({"capabilities": {"tools": {"listChanged": true, "x": 1}, "resources": {}, "logging": {}},
            "ttlMs": 900_000, "cacheScope": "private", "instructions": "i"});
        let ours = Kinds::RESOURCES_UPDATED.union(Kinds::PROMPTS_LIST_CHANGED);
        let (carried, public) = merge(&mut result, ours).unwrap();
        assert_eq!(carried, (0..4).filter(|i| *i != 1).map(Kinds::at).fold(Kinds::NONE, Kinds::union));
        assert!(!public);
        assert_eq!(
            result,
            json!({"capabilities": {"tools": {"x": 1}, "resources": {"subscribe": true}, "logging": {}},
                "ttlMs": TTL_MS, "cacheScope": "private", "instructions": "i"})
        );
    }

    #[test]
    fn an_answer_of_another_shape_is_left_alone() {
        for mut result in [json!(null), json!([]), json!({}), json!({"capabilities": 1})] {
            let before = result.clone();
            assert!(merge(&mut result, Kinds::TOOLS_LIST_CHANGED).is_none());
            assert_eq!(result, before);
        }
    }
}
