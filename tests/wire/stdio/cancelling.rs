//! `notifications/cancelled`.

use mcp_sub::CloseReason;
use mcp_sub_tests::{Act, Lines, Probe, Tell, ToolsChanged, eventually, message};

use super::{TOOLS, told};

/// `id` is JSON.
fn cancel(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"x"}}}}"#
    )
}

/// That all before it was taken.
async fn taken(client: &mut Lines) {
    client.send(&[message("\"taken\"", "server/discover", "")]).await;
    assert_eq!(client.message().await["id"], "taken", "nothing else comes");
}

#[tokio::test]
async fn nothing_more_is_told_and_its_handler_knows_why() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut client = Lines::connect(&subscriptions);
    for id in ["\"s1\"", "2"] {
        client.listening(id, TOOLS).await;
    }
    client.send(&[cancel(r#""\u00731""#)]).await;
    let closed = subscriptions.handler().closed(1).await;
    assert_eq!(closed[0], ("\"s1\"".into(), CloseReason::Cancelled));
    assert_eq!(subscriptions.publish(ToolsChanged), 1);
    assert_eq!(client.told().await, told("2", "tools"), "no result of the other, no notification");
    taken(&mut client).await;
    assert_eq!(subscriptions.handler().closes(), 1);
}

#[tokio::test]
async fn before_the_acknowledgement_there_is_none_and_no_answer() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut client = Lines::connect(&subscriptions);
    let waits = message("1", "subscriptions/listen", &format!(r#""notifications":{TOOLS}"#))
        .replace(r#""_meta":{"#, r#""_meta":{"x-subscribe":"wait","#);
    client.send(&[waits]).await;
    subscriptions.handler().waits().await;
    client.send(&[cancel("1")]).await;
    taken(&mut client).await;
    eventually("`subscribe` is dropped", || subscriptions.handler().dropped() == 1).await;
    eventually("its room is free", || subscriptions.open_streams() == 0).await;
    assert_eq!((subscriptions.handler().accepted(), subscriptions.handler().closes()), (0, 0));
}

#[tokio::test]
async fn a_method_that_waits_is_dropped() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut client = Lines::connect(&subscriptions);
    client.listening("1", TOOLS).await;
    subscriptions.publish(Tell::new("1", Act::Wait));
    subscriptions.handler().waits().await;
    client.send(&[cancel("1")]).await;
    assert_eq!(subscriptions.handler().closed(1).await[0].1, CloseReason::Cancelled);
    assert_eq!(subscriptions.handler().dropped(), 1);
    taken(&mut client).await;
}

#[tokio::test]
async fn the_id_is_free_at_once_and_no_late_frame_has_it() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut client = Lines::connect(&subscriptions);
    client.listening("7", TOOLS).await;
    for _ in 0..50 {
        // What was published may be on its way: it must not come between the two.
        subscriptions.publish(ToolsChanged);
        let again = message("7", "subscriptions/listen", &format!(r#""notifications":{TOOLS}"#));
        client.send(&[cancel("7"), again]).await;
        let mut first = client.told().await;
        while first.1 == "tools" {
            first = client.told().await;
        }
        assert_eq!(first, told("7", "acknowledged"));
        assert_eq!(subscriptions.publish(ToolsChanged), 1);
        assert_eq!(client.told().await, told("7", "tools"));
        taken(&mut client).await;
    }
    assert_eq!(subscriptions.open_streams(), 1);
}

#[tokio::test]
async fn what_cancels_nothing_is_ignored() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut client = Lines::connect(&subscriptions);
    client.listening("1", TOOLS).await;
    let odd = [
        cancel("\"1\""),
        cancel("2"),
        cancel("null"),
        cancel("1.0"),
        cancel("[1]"),
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#.into(),
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}"#.into(),
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#.into(),
        r#"{"jsonrpc":"2.0","method":"notifications/unheard_of","params":{"requestId":1}}"#.into(),
    ];
    client.send(&odd).await;
    taken(&mut client).await;
    assert_eq!(subscriptions.publish(ToolsChanged), 1);
    assert_eq!(client.told().await, told("1", "tools"));
}

#[tokio::test(start_paused = true)]
async fn it_takes_back_an_ending_or_a_refusal_that_nobody_has_read() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listen = |id: &str, filter: &str| {
        message(id, "subscriptions/listen", &format!(r#""notifications":{filter}"#)) + "\n"
    };
    let rejected =
        |id: &str| listen(id, TOOLS).replace(r#""_meta":{"#, r#""_meta":{"x-subscribe":"invalid","#);
    let subscriptions = Probe::serve(|builder| builder);
    let (ours, servers) = tokio::io::duplex(64);
    let (reader, writer) = tokio::io::split(servers);
    let serving = tokio::spawn(subscriptions.stdio(reader, writer).serve());
    let (mut reader, mut writer) = tokio::io::split(ours);
    let mut say = async |text: String| {
        writer.write_all(text.as_bytes()).await.unwrap();
        // Until nobody has anything to do.
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    };
    // Its answer does not fit, so that all else waits behind it.
    say(message("0", "server/discover", "") + "\n").await;
    // One has its ending right after its acknowledgement, one is refused.
    say(listen("7", "{}")).await;
    say(rejected(r#""\u0041""#)).await;
    say(cancel("7") + "\n" + &cancel(r#""A""#) + "\n").await;
    say(listen("7", TOOLS) + &listen(r#""A""#, TOOLS)).await;
    assert_eq!(subscriptions.open_streams(), 2);
    let mut text = vec![0; 4096];
    let mut read = 0;
    while let Ok(more) =
        tokio::time::timeout(std::time::Duration::from_secs(1), reader.read(&mut text[read..])).await
    {
        read += more.unwrap();
    }
    let lines: Vec<&str> = std::str::from_utf8(&text[..read]).unwrap().lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[1..].iter().all(|line| line.contains(r#""notifications":{"toolsListChanged":true}"#)));
    serving.abort();
}
