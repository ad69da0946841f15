//! What a client may write, and what it gets for it.

use mcp_sub::Limits;
use mcp_sub_tests::{Lines, Probe, ToolsChanged, message};
use serde_json::{Value, json};

use super::{TOOLS, refused, told};

/// A line, and the error that answers it: its id, and its code.
type Case<'a> = (&'a [u8], Option<(Option<Value>, i64)>);

#[tokio::test]
async fn promise_9_no_line_harms_the_streams_that_are_open() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut client = Lines::connect(&subscriptions);
    client.listening("\"keep\"", TOOLS).await;
    let nested = "[".repeat(100_000);
    let (nothing, parse, invalid) = (None, Some((None, -32700)), Some((None, -32600)));
    let cases: &[Case<'_>] = &[
        (br#"{"jsonrpc":"2.0","id":1,"#, parse.clone()),
        (b"hello", parse.clone()),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\xfe\"}", parse.clone()),
        (nested.as_bytes(), parse),
        (b"[]", invalid.clone()),
        (b"5", invalid.clone()),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"server/discover"}]"#, invalid.clone()),
        (br#"{"id":5,"method":"server/discover"}"#, Some((Some(json!(5)), -32600))),
        (br#"{"jsonrpc":"2.0","id":null,"method":"server/discover"}"#, invalid.clone()),
        (br#"{"jsonrpc":"2.0","id":1.0,"method":"server/discover"}"#, invalid.clone()),
        (br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"server/discover"}"#, invalid),
        // There is nobody to tell.
        (br#"{"jsonrpc":"2.0","id":99,"result":{}}"#, nothing.clone()),
        (br#"{"jsonrpc":"2.0","method":"subscriptions/listen","params":{}}"#, nothing.clone()),
        (br#"{"jsonrpc":"2.0","method":"notifications/unheard_of"}"#, nothing.clone()),
        (b"", nothing.clone()),
        (b" \t\r", nothing),
    ];
    for (line, outcome) in cases {
        let shown = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
        client.write([line, &b"\n"[..]].concat()).await;
        if let Some((id, code)) = outcome {
            let message = client.message().await;
            assert_eq!(refused(&message), (id.as_ref(), *code), "{shown}");
        }
        client.write(format!("{}\r\n", message("2", "server/discover", ""))).await;
        assert_eq!(client.message().await["id"], 2, "{shown}");
        subscriptions.publish(ToolsChanged);
        assert_eq!(client.told().await, told("\"keep\"", "tools"), "{shown}");
    }
}

#[tokio::test]
async fn what_every_request_needs_is_asked_for_in_order() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut client = Lines::connect(&subscriptions);
    let listen = || message("1", "subscriptions/listen", &format!(r#""notifications":{TOOLS}"#));
    let other = |from: &str, to: &str| {
        assert!(listen().contains(from));
        listen().replace(from, to)
    };
    for (line, code, named) in [
        (message("1", "no/such", ""), -32601, "no/such"),
        (message("1", "resources/subscribe", ""), -32601, "resources/subscribe"),
        (other("2026-07-28", "1900-01-01"), -32022, "2026-07-28"),
        (other("2026-07-28", "2025-11-25").replace("clientCapabilities", "x"), -32022, "2026-07-28"),
        (other("clientCapabilities", "x"), -32602, "clientCapabilities"),
        (other("protocolVersion", "x"), -32602, "protocolVersion"),
        (other("_meta", "meta"), -32602, "_meta"),
        (other(TOOLS, "[]"), -32602, "notifications"),
        (other(TOOLS, r#"{"toolsListChanged":"yes"}"#), -32602, "toolsListChanged"),
        (other(TOOLS, r#"{"resourceSubscriptions":["no uri"]}"#), -32602, "no uri"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}"#.into(), -32602, "_meta"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#
                .into(),
            -32022,
            "2026-07-28",
        ),
    ] {
        client.send(&[&line]).await;
        let message = client.message().await;
        assert_eq!(refused(&message), (Some(&json!(1)), code), "{line}");
        assert!(message["error"].to_string().contains(named), "{message}");
        if code == -32022 {
            assert_eq!(message["error"]["data"]["supported"], json!(["2026-07-28"]));
        }
    }
    assert_eq!(subscriptions.handler().accepted(), 0);
}

#[tokio::test]
async fn a_line_over_the_limit_is_refused_and_skipped_without_being_held() {
    let subscriptions = Probe::serve(|builder| builder.limits(Limits::default().with_body(1000)));
    let mut client = Lines::connect(&subscriptions);
    client.listening("1", TOOLS).await;
    for length in [1001, 100_000] {
        client.write(format!("{}\n", "x".repeat(length))).await;
        let message = client.message().await;
        assert_eq!((refused(&message), &message["error"]["data"]["limit"]), ((None, -32600), &json!("body")));
    }
    let blank = " ".repeat(1000);
    client.write(format!("{blank}\n{}\n", message("2", "server/discover", ""))).await;
    assert_eq!(client.message().await["id"], 2);
    assert_eq!(subscriptions.stats().refused["body"], 2);
    subscriptions.publish(ToolsChanged);
    assert_eq!(client.told().await, told("1", "tools"));
}
