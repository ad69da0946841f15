//! In front of a server that exists.

use mcp_sub::{Limits, ListChanges, Subscriptions, ToolsListChanged};
use mcp_sub_tests::{Lines, Probe, PromptsChanged, ToolsChanged, eventually, message, within};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};

use super::{TOOLS, refused, told};

/// An inner server that is played by the test.
struct Inner(BufReader<DuplexStream>);

impl Inner {
    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = within("a line reaches the inner server", self.0.read_line(&mut line)).await.unwrap();
        (read != 0).then_some(line)
    }

    async fn request(&mut self) -> Value {
        serde_json::from_str(&self.line().await.unwrap()).unwrap()
    }

    async fn say(&mut self, text: &str) {
        within("it is taken", self.0.write_all(text.as_bytes())).await.unwrap();
    }

    /// Answers `server/discover`.
    async fn discovered(&mut self, capabilities: &Value) {
        let asked = self.request().await;
        assert_eq!(asked["method"], "server/discover");
        let result = json!({ "capabilities": capabilities, "supportedVersions": ["2026-07-28"], "ttlMs": 5 });
        let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result });
        self.say(&format!("{answer}\n")).await;
    }
}

fn over(subscriptions: &Subscriptions<Probe>) -> (Lines, Inner) {
    let (ours, inners) = duplex(64 * 1024);
    let client = Lines::to(|reader, writer| subscriptions.stdio(reader, writer).over(ours));
    (client, Inner(BufReader::new(inners)))
}

#[tokio::test]
async fn all_else_passes_to_the_byte_both_ways() {
    let subscriptions = Probe::serve(|builder| builder);
    let (mut client, mut inner) = over(&subscriptions);
    for line in [
        message("1", "tools/call", r#""name":"x",  "arguments":{"n":1e400,"n":12345678901234567890123}"#),
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#.into(),
        r#"  {"jsonrpc":"2.0","method":"notifications/initialized"}  "#.into(),
        r#"{"jsonrpc":"2.0","id":7,"result":{"roots":[]}}"#.into(),
        r#"[{"jsonrpc":"2.0","id":2,"method":"ping"}]"#.into(),
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#.into(),
        r#"{"jsonrpc":"2.0","id":3,"method":"server/discover"}"#.into(),
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\"}\r".into(),
    ] {
        client.send(&[&line]).await;
        assert_eq!(inner.line().await, Some(line.clone() + "\n"));
        inner.say(&(line.clone() + "\n")).await;
        assert_eq!(client.text().await, Some(line));
    }
}

#[tokio::test]
async fn what_is_of_this_revision_has_to_be_right_about_it() {
    let subscriptions = Probe::serve(|builder| builder);
    let (mut client, mut inner) = over(&subscriptions);
    let call = message("1", "tools/call", r#""name":"x""#);
    for (line, code) in [
        (call.replace("clientCapabilities", "x"), -32602),
        (call.replace(r#""name":"x""#, r#""name":"x","name":"y""#), -32600),
        ("{".into(), -32700),
        (message("1", "ping", ""), -32601),
        (message("1", "resources/subscribe", r#""uri":"a:1""#), -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}"#.into(), -32602),
    ] {
        client.send(&[&line]).await;
        assert_eq!(refused(&client.message().await).1, code, "{line}");
    }
    client.send(&[&call]).await;
    assert_eq!(inner.line().await, Some(call + "\n"), "none of those came through");
}

#[tokio::test]
async fn promise_3_what_is_discovered_is_ours_and_so_is_what_is_honoured() {
    let subscriptions = Probe::serve(|builder| builder);
    let (mut client, mut inner) = over(&subscriptions);
    let families = json!({ "tools": { "listChanged": false, "x": 1 }, "logging": {} });
    client.send(&[message("\"\\u0061\"", "server/discover", "")]).await;
    inner.discovered(&families).await;
    let answer = client.text().await.unwrap();
    assert!(answer.contains(r#""id":"\u0061""#), "the client's own: {answer}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(
        answer["result"]["capabilities"],
        json!({ "tools": { "listChanged": true, "x": 1 }, "logging": {} })
    );
    assert_eq!(answer["result"]["ttlMs"], 5);

    client.listen("1", r#"{"toolsListChanged":true,"promptsListChanged":true}"#).await;
    // Nothing is lost that is published while the inner server is asked.
    eventually("it is registered", || subscriptions.open_streams() == 1).await;
    assert_eq!((subscriptions.publish(ToolsChanged), subscriptions.publish(PromptsChanged)), (1, 1));
    inner.discovered(&families).await;
    let acknowledged = client.message().await;
    assert_eq!(acknowledged["params"]["notifications"], json!({ "toolsListChanged": true }));
    assert_eq!(client.told().await, told("1", "tools"));
    client.send(&[message("2", "tools/list", "")]).await;
    assert_eq!(inner.request().await["id"], 2, "and no prompts");
}

#[tokio::test]
async fn whom_the_inner_server_refuses_gets_no_stream() {
    let subscriptions = Probe::serve(|builder| builder);
    let (mut client, mut inner) = over(&subscriptions);
    for (answer, told) in [
        (json!({ "error": { "code": -32000, "message": "not you" } }), -32000),
        (json!({ "result": {} }), -32603),
    ] {
        client.listen("1", TOOLS).await;
        let asked = inner.request().await;
        assert!(asked["params"]["_meta"].is_object(), "in the caller's name: {asked}");
        let mut answer = answer;
        answer["id"] = asked["id"].clone();
        inner.say(&format!("{answer}\n")).await;
        let message = client.message().await;
        assert_eq!(refused(&message), (Some(&json!(1)), told));
    }
    // One that knows no discovery is asked for nothing.
    client.listen("1", TOOLS).await;
    let id = inner.request().await["id"].clone();
    inner.say(&format!("{}\n", json!({ "id": id, "error": { "code": -32601, "message": "what?" } }))).await;
    assert_eq!(client.told().await, told_acknowledged());
}

fn told_acknowledged() -> (String, String) {
    told("1", "acknowledged")
}

#[tokio::test]
async fn a_line_of_any_length_comes_through_as_it_comes() {
    let subscriptions = Probe::serve(|builder| builder);
    let (mut client, mut inner) = over(&subscriptions);
    let length = 100 << 20;
    let writing = tokio::spawn(async move {
        let piece = "x".repeat(64 * 1024);
        inner.say(r#"{"jsonrpc":"2.0","id":1,"result":""#).await;
        for _ in 0..length / piece.len() {
            inner.say(&piece).await;
        }
        inner.say("\"}\n{\"next\":1}\n").await;
        inner
    });
    let text = client.text().await.unwrap();
    assert_eq!(text.len(), length + r#"{"jsonrpc":"2.0","id":1,"result":""}"#.len());
    assert_eq!(client.message().await["next"], 1);
    drop(writing.await.unwrap());
}

#[tokio::test]
async fn the_end_of_the_input_is_the_inner_servers_and_it_may_still_answer() {
    let subscriptions = Probe::serve(|builder| builder);
    let (mut client, mut inner) = over(&subscriptions);
    let call = message("1", "tools/call", "");
    client.send(&[&call]).await;
    client.end_input();
    assert_eq!(inner.line().await, Some(call + "\n"));
    assert_eq!(inner.line().await, None);
    inner.say("{\"late\":1}\n").await;
    drop(inner);
    assert_eq!(client.rest().await, [json!({ "late": 1 })]);
    client.ended().await.unwrap();
}

#[tokio::test]
async fn when_the_inner_server_ends_so_does_the_connection() {
    let subscriptions = Subscriptions::builder(ListChanges::new().tools()).build();
    let (ours, inners) = duplex(64 * 1024);
    let mut client = Lines::to(|reader, writer| subscriptions.stdio(reader, writer).over(ours));
    let mut inner = Inner(BufReader::new(inners));
    client.listen("1", TOOLS).await;
    inner.discovered(&json!({ "tools": {} })).await;
    assert_eq!(client.told().await, told_acknowledged());
    subscriptions.publish(ToolsListChanged);
    assert_eq!(client.told().await, told("1", "tools"));
    inner.say("{\"half\":").await;
    drop(inner);
    assert_eq!(client.text().await.as_deref(), Some("{\"half\":"), "a line, though it broke off");
    assert_eq!(client.told().await, told("1", "result"));
    assert_eq!(client.text().await, None);
    client.ended().await.unwrap();
}

#[tokio::test]
async fn an_inner_server_that_answers_nothing_is_asked_no_more_than_so_often() {
    let limits = Limits::default().with_subscribe_timeout(std::time::Duration::from_millis(20));
    let subscriptions = Probe::serve(|builder| builder.limits(limits));
    let (mut client, mut inner) = over(&subscriptions);
    tokio::spawn(async move { while inner.0.read_u8().await.is_ok() {} });
    client.listen("1", TOOLS).await;
    assert_eq!(refused(&client.message().await).1, -32603, "it does not come");
    for id in 0..1023 {
        client.send(&[message(&id.to_string(), "server/discover", "")]).await;
    }
    client.send(&[message("\"more\"", "server/discover", "")]).await;
    let message = client.message().await;
    assert_eq!((&message["id"], &message["error"]["data"]["limit"]), (&json!("more"), &json!("inner")));
}

/// Long enough for a test to fail that waits for it.
fn patient() -> Limits {
    Limits::default().with_drain(std::time::Duration::from_secs(3600))
}

#[tokio::test]
async fn a_listen_that_waits_for_an_inner_server_that_dies_is_refused_at_once() {
    let subscriptions = Probe::serve(|builder| builder.limits(patient()));
    let (mut client, mut inner) = over(&subscriptions);
    client.listen("1", TOOLS).await;
    inner.request().await;
    // In the middle of its answer.
    inner.say("{\"jsonrpc\":").await;
    drop(inner);
    assert_eq!(client.text().await.as_deref(), Some("{\"jsonrpc\":"));
    assert_eq!(refused(&client.message().await), (Some(&json!(1)), -32603));
    assert_eq!(client.text().await, None);
    client.ended().await.unwrap();
}

#[tokio::test]
async fn an_inner_server_that_takes_no_more_ends_the_connection_though_it_could_say_something() {
    let limits = Limits::default().with_drain(std::time::Duration::from_millis(50));
    let subscriptions = Probe::serve(|builder| builder.limits(limits));
    let ((inner, output), (input, gone)) = (duplex(64), duplex(64));
    drop(gone);
    let ours = tokio::io::join(output, input);
    let mut client = Lines::to(|reader, writer| subscriptions.stdio(reader, writer).over(ours));
    client.send(&[message("1", "tools/call", "")]).await;
    client.ended().await.unwrap();
    drop(inner);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_input_is_noticed_though_the_inner_server_takes_nothing() {
    let limits = Limits::default().with_drain(std::time::Duration::from_secs(3));
    let subscriptions = Probe::serve(|builder| builder.limits(limits));
    let ((ours, _inners), (client, servers)) = (duplex(64), duplex(64));
    let (reader, writer) = tokio::io::split(servers);
    let serving = tokio::spawn(subscriptions.stdio(reader, writer).over(ours).serve());
    let (_reader, mut writer) = tokio::io::split(client);
    let calls = (message("1", "tools/call", "") + "\n").repeat(100);
    writer.write_all(calls.as_bytes()).await.unwrap();
    writer.shutdown().await.unwrap();
    let ended = tokio::time::timeout(std::time::Duration::from_secs(4), serving).await;
    ended.expect("it ends").unwrap().unwrap();
}

#[tokio::test]
async fn what_is_said_between_an_answer_and_another_is_passed_and_nobody_else_is_answered() {
    let subscriptions = Probe::serve(|builder| builder);
    let (mut client, mut inner) = over(&subscriptions);
    client.listen("1", TOOLS).await;
    let id = inner.request().await["id"].clone();
    // Another type, and another id; then a notification; then the answer, twice.
    for line in [
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "capabilities": { "tools": {} } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": {} }),
    ] {
        inner.say(&format!("{line}\n")).await;
        assert_eq!(client.message().await, line);
    }
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": { "capabilities": { "tools": {} } } });
    inner.say(&format!("{answer}\n")).await;
    assert_eq!(client.told().await, told_acknowledged());
    inner.say(&format!("{answer}\n")).await;
    assert_eq!(client.message().await, answer, "who answers twice is passed on, and opens nothing");
    assert_eq!(subscriptions.open_streams(), 1);
    // A discover with the id of the stream is refused here, and does not reach the inner server.
    client.send(&[message("1", "server/discover", ""), message("2", "tools/list", "")]).await;
    assert_eq!(refused(&client.message().await), (Some(&json!(1)), -32600));
    assert_eq!(inner.request().await["id"], 2);
}

#[tokio::test]
async fn a_discover_that_is_cancelled_is_waited_for_no_more() {
    let subscriptions = Probe::serve(|builder| builder);
    let (mut client, mut inner) = over(&subscriptions);
    for round in 0..1100 {
        let cancelled = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{round}}}}}"#
        );
        client.send(&[message(&round.to_string(), "server/discover", ""), cancelled.clone()]).await;
        assert_eq!(inner.request().await["id"], round);
        assert_eq!(inner.line().await, Some(cancelled + "\n"));
    }
}
