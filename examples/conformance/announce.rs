//! The tools that change something, or say who is told of it.

use rmcp::{ErrorData, model::JsonObject};
use serde_json::Value;

use crate::changes::{Change, Changes};

/// As often as one call may announce the same.
const MOST: u64 = 1_000_000;

/// What the tool says, or `None` for one that is not among these.
///
/// # Errors
/// Arguments that the tool does not take.
pub(crate) fn call(
    changes: &Changes,
    tool: &str,
    arguments: &JsonObject,
) -> Result<Option<String>, ErrorData> {
    let change = match tool {
        "test_trigger_tool_change" => Change::Tools,
        "test_trigger_prompt_change" => Change::Prompts,
        "test_trigger_resource_change" => Change::Resources,
        "test_update_resource" => {
            let uri = arguments.get("uri").and_then(Value::as_str);
            Change::Resource(
                uri.ok_or_else(|| ErrorData::invalid_params("`uri` is missing", None))?.to_owned(),
            )
        }
        "test_subscription_count" => return Ok(Some(changes.open().to_string())),
        "test_close_subscriptions" => {
            changes.end_all();
            return Ok(Some("all subscriptions were ended".into()));
        }
        _ => return Ok(None),
    };
    let count = arguments.get("count").map_or(Some(1), Value::as_u64).filter(|count| *count <= MOST);
    let count = count.ok_or_else(|| ErrorData::invalid_params(format!("`count` is 0 to {MOST}"), None))?;
    for _ in 0..count {
        changes.announce(change.clone());
    }
    Ok(Some(format!("announced {count} times")))
}
