//! What a server says of itself, where subscriptions are served alone.

use serde_json::{Map, Value, json};

use crate::{
    kind::KINDS,
    protocol::{DISCOVER, VERSION, error::Error, meta, request::Request},
    settings::Settings,
    subscriptions::Capabilities,
};

/// For how long a client may keep what was discovered. Capabilities change when a server is deployed.
pub(super) const TTL_MS: u64 = 300_000;

/// The scope of an answer that another caller may not get.
pub(super) const PRIVATE: &str = "private";

/// The result of a request that is no listen.
pub(super) fn answer(settings: &Settings, told: Capabilities, request: &Request<'_>) -> Result<Value, Error> {
    if request.method == DISCOVER {
        return Ok(result(settings, told));
    }
    empty_list(settings, told, &request.method).ok_or_else(|| not_found(&request.method))
}

fn not_found(method: &str) -> Error {
    let error = Error::method_not_found(method);
    if method != "initialize" {
        return error;
    }
    // An older client, or one that tries: it learns what it can do instead.
    let message =
        format!("method not found: initialize; this server supports {VERSION}, which has no handshake");
    Error { message, ..error }.with_data(json!({ "supported": [VERSION] }))
}

/// The result of `server/discover`.
///
/// Specification: [Discovery](https://modelcontextprotocol.io/specification/2026-07-28/server/discover).
fn result(settings: &Settings, told: Capabilities) -> Value {
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
fn empty_list(settings: &Settings, told: Capabilities, method: &str) -> Option<Value> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kinds;

    #[test]
    fn what_depends_on_the_caller_is_for_no_shared_cache() {
        let told = Capabilities { kinds: Kinds::TOOLS_LIST_CHANGED, depend_on_caller: true };
        assert_eq!(result(&Settings::default(), told)["cacheScope"], "private");
    }

    /// Promise 3: for each of the 16 subsets, what is advertised is what is declared.
    #[test]
    fn promise_3_the_flags_are_the_declared_kinds() {
        let settings = Settings::default();
        for bits in 0..16_usize {
            let kinds =
                (0..4).filter(|bit| bits & (1 << bit) != 0).map(Kinds::at).fold(Kinds::NONE, Kinds::union);
            let result = result(&settings, Capabilities { kinds, depend_on_caller: false });
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
}
