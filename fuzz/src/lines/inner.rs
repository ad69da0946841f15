//! The server behind: writes down what it receives, and answers as the plan says.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

use super::{plan::Inner, said::request};
use crate::{
    json,
    request::received::{is_unambiguous, names_version},
};

pub(super) const NOTIFICATION: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#;

/// All that it says if it dies.
pub(super) const HALF: &str = r#"{"jsonrpc":"2.0","id"#;

pub(super) type Seen = Arc<Mutex<Vec<Vec<u8>>>>;

/// Until there is nothing more to read, or nobody who listens.
pub(super) async fn serve(inner: Inner, channel: DuplexStream, seen: Seen) {
    let mut channel = BufReader::new(channel);
    loop {
        let mut line = Vec::new();
        if !matches!(channel.read_until(b'\n', &mut line).await, Ok(1..)) {
            return;
        }
        assert_eq!(line.pop(), Some(b'\n'), "whole lines");
        seen.lock().expect("no panic in there").push(line.clone());
        let said = json::whole(&line).and_then(request);
        let Some(answer) = said.map(|(id, method)| answer(inner, id, &method)) else { continue };
        if channel.write_all(answer.as_bytes()).await.is_err()
            || !answer.is_empty() && !answer.ends_with('\n')
        {
            return;
        }
    }
}

fn answer(inner: Inner, id: &str, method: &str) -> String {
    if method != "server/discover" {
        return format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n");
    }
    let all = r#"{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":false}}"#;
    let result = |capabilities: &str| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"capabilities\":{capabilities}}}}}\n")
    };
    let error = |code: i64| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":\"no\"}}}}\n")
    };
    match inner {
        Inner::AllFamilies | Inner::Sleeps => result(all),
        Inner::ToolsAlone => result(r#"{"tools":{}}"#),
        Inner::NoSuchMethod => error(-32601),
        Inner::Refuses => error(-32000),
        Inner::Twice => format!("{NOTIFICATION}\n{}{}", result(all), result(all)),
        Inner::Never => String::new(),
        Inner::Dies => HALF.into(),
    }
}

/// What reaches it is a line of the client's, to the byte and in order, or a question of the library's own.
pub(super) fn judge(input: &[u8], seen: &[Vec<u8>]) {
    let mut lines = input.split(|&byte| byte == b'\n');
    for seen in seen {
        let json = json::whole(seen).expect("JSON");
        if json.contains(r#""id":"mcp-sub-"#) {
            assert_eq!(request(json).map(|(_, method)| method).as_deref(), Some("server/discover"), "{json}");
            continue;
        }
        assert!(lines.any(|line| line == seen), "to the byte: {json}");
        if names_version(json) {
            assert!(is_unambiguous(json), "{json}");
            assert!(request(json).is_none_or(|(_, method)| method != "subscriptions/listen"), "{json}");
        }
    }
}
