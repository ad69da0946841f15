//! What a message tells, in a word.

use serde_json::Value;

/// The kind of a list, the URI of a resource, `acknowledged`, `cancelled`, `result`, or `error` and why.
///
/// # Panics
///
/// If it is something else.
pub(crate) fn told(message: &Value) -> String {
    if let Some(uri) = message["params"]["uri"].as_str() {
        assert_eq!(message["method"], "notifications/resources/updated");
        return uri.to_owned();
    }
    let method = message["method"].as_str().and_then(|method| method.strip_prefix("notifications/"));
    if let Some(method) = method {
        let list = method.strip_suffix("/list_changed");
        return list.or(method.strip_prefix("subscriptions/")).unwrap_or(method).to_owned();
    }
    if message["result"].is_object() {
        return "result".into();
    }
    let reason = message["error"]["data"]["reason"].as_str();
    format!("error {}", reason.unwrap_or_else(|| panic!("what is this? {message}")))
}
