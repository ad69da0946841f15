//! The request of a stream, and the check of what comes back.

use serde_json::{Value, json};

const PROTOCOL_VERSION: &str = "2026-07-28";
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// The bytes of a listen with this id.
pub fn listen(port: u16, id: u64, filter: &Value) -> Vec<u8> {
    let body = json!({
        "jsonrpc": "2.0",
        "id": id,
        "method": "subscriptions/listen",
        "params": {
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": PROTOCOL_VERSION,
                "io.modelcontextprotocol/clientInfo": { "name": "loadgen", "version": "1.0.0" },
                "io.modelcontextprotocol/clientCapabilities": {},
            },
            "notifications": filter,
        },
    })
    .to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {PROTOCOL_VERSION}\r\n\
         Mcp-Method: subscriptions/listen\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

#[derive(Debug, PartialEq)]
pub enum Message {
    Acknowledged,
    Changed,
    Result,
}

/// Checks the messages of one stream. Nearly all are the same, so one that is equal to the last good one is not parsed again.
pub struct Checker {
    id: u64,
    filter: Value,
    acknowledged: bool,
    last: Vec<u8>,
}

impl Checker {
    pub fn new(id: u64, filter: Value) -> Self {
        Self { id, filter, acknowledged: false, last: Vec::new() }
    }

    pub fn check(&mut self, data: &[u8]) -> Result<Message, String> {
        if self.acknowledged && data == self.last {
            return Ok(Message::Changed);
        }
        let message: Value = serde_json::from_slice(data).map_err(|_| "a message that is not JSON")?;
        if let Some(error) = message.get("error") {
            return Err(format!("an error: {error}"));
        }
        let meta = message.pointer("/params/_meta").or_else(|| message.pointer("/result/_meta"));
        if meta.and_then(|meta| meta.get(SUBSCRIPTION_ID)) != Some(&json!(self.id)) {
            return Err("no subscription id, or another stream's".to_owned());
        }
        if message.get("result").is_some() {
            return Ok(Message::Result);
        }
        let params = &message["params"];
        let uris = &self.filter["resourceSubscriptions"];
        match message["method"].as_str().unwrap_or_default() {
            "notifications/subscriptions/acknowledged" if !self.acknowledged => {
                let honoured = &params["notifications"];
                let all = if uris.is_null() {
                    honoured["toolsListChanged"] == true
                } else {
                    honoured["resourceSubscriptions"] == *uris
                };
                if !all {
                    return Err(format!("only some of the filter is honoured: {honoured}"));
                }
                self.acknowledged = true;
                return Ok(Message::Acknowledged);
            }
            "notifications/tools/list_changed" if self.acknowledged && uris.is_null() => {}
            "notifications/resources/updated" if self.acknowledged => {
                if !uris.as_array().is_some_and(|uris| uris.contains(&params["uri"])) {
                    return Err("a notification for a URI that was not asked for".to_owned());
                }
            }
            method => return Err(format!("an unexpected message: {method}")),
        }
        data.clone_into(&mut self.last);
        Ok(Message::Changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(method: &str, id: u64, mut params: Value) -> Vec<u8> {
        params["_meta"] = json!({ SUBSCRIPTION_ID: id });
        json!({ "jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": params })
            .to_string()
            .into_bytes()
    }

    #[test]
    fn only_what_was_asked_for_is_accepted() {
        let filter = json!({ "resourceSubscriptions": ["bench://hot"] });
        let mut checker = Checker::new(7, filter.clone());
        let updated = |id, uri| message("resources/updated", id, json!({ "uri": uri }));
        assert!(checker.check(&updated(7, "bench://hot")).is_err(), "before the acknowledgement");
        let less = message("subscriptions/acknowledged", 7, json!({ "notifications": {} }));
        assert!(checker.check(&less).is_err(), "honoured in part");
        let all = message("subscriptions/acknowledged", 7, json!({ "notifications": filter }));
        assert_eq!(checker.check(&all), Ok(Message::Acknowledged));
        assert_eq!(checker.check(&updated(7, "bench://hot")), Ok(Message::Changed));
        assert!(checker.check(&all).is_err(), "a second acknowledgement");
        assert!(checker.check(&updated(8, "bench://hot")).is_err(), "another stream's");
        assert!(checker.check(&updated(7, "bench://other")).is_err(), "another URI");
        assert!(checker.check(&message("tools/list_changed", 7, json!({}))).is_err(), "another kind");
        assert!(checker.check(b"{").is_err(), "no JSON");
    }
}
