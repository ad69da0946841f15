//! The promises where messages share a channel.

mod alone;
mod cancelling;
mod endings;
mod input;
mod over;
mod process;
mod rmcp;
mod slow;
mod streams;

use serde_json::Value;

const TOOLS: &str = r#"{"toolsListChanged":true}"#;
const PROMPTS: &str = r#"{"promptsListChanged":true}"#;

fn told(id: &str, what: &str) -> (String, String) {
    (id.into(), what.into())
}

/// The code of an error, and its id if it has one.
fn refused(message: &Value) -> (Option<&Value>, i64) {
    (message.get("id"), message["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {message}")))
}
