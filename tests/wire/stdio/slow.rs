//! A client that does not read.

use std::time::Duration;

use mcp_sub::{CloseReason, Limits, Subscriptions};
use mcp_sub_tests::{Lines, PATIENCE, Probe, Updated, message};
use tokio::{
    io::{DuplexStream, ReadHalf, WriteHalf, duplex},
    task::JoinHandle,
};

use super::TOOLS;

const URIS: usize = 200;

fn uris() -> Vec<String> {
    (0..URIS).map(|number| format!("x:{number}-{}", "y".repeat(100))).collect()
}

type Narrow = (ReadHalf<DuplexStream>, WriteHalf<DuplexStream>, JoinHandle<std::io::Result<()>>);

/// A channel that holds next to nothing, and the server at its other end.
fn narrow(subscriptions: &Subscriptions<Probe>) -> Narrow {
    let (ours, servers) = duplex(64);
    let (reader, writer) = tokio::io::split(servers);
    let serving = tokio::spawn(subscriptions.stdio(reader, writer).serve());
    let (reader, writer) = tokio::io::split(ours);
    (reader, writer, serving)
}

#[tokio::test]
async fn promise_4_it_is_told_of_everything_once_when_it_reads_again() {
    let subscriptions = Probe::serve(|builder| builder);
    let mut client = Lines::connect(&subscriptions);
    let filter = serde_json::json!({ "resourceSubscriptions": uris() }).to_string();
    client.listening("1", &filter).await;
    // Far more than the socket and the queue take.
    for _ in 0..50 {
        for uri in uris() {
            subscriptions.publish_for(&uri, Updated(uri.clone()));
        }
        tokio::task::yield_now().await;
    }
    subscriptions.publish_for(&uris()[0], Updated(uris()[0].clone()));
    client.end_input();
    let rest = client.rest().await;
    assert!(rest.len() < 20 * URIS, "what waits merges: {}", rest.len());
    for uri in uris() {
        assert!(rest.iter().any(|message| message["params"]["uri"] == *uri), "{uri}");
    }
    assert_eq!(rest.last().unwrap()["result"]["resultType"], "complete");
}

#[tokio::test(start_paused = true)]
async fn its_streams_end_as_stalled_and_it_finds_their_endings() {
    let subscriptions = Probe::serve(|builder| builder.limits(Limits::default().with_streams(2)));
    let (mut reader, mut writer, serving) = narrow(&subscriptions);
    let listen =
        |id: &str| message(id, "subscriptions/listen", &format!(r#""notifications":{TOOLS}"#)) + "\n";
    let write = async |writer: &mut tokio::io::WriteHalf<_>, text: String| {
        tokio::io::AsyncWriteExt::write_all(writer, text.as_bytes()).await.unwrap();
    };
    write(&mut writer, listen("1")).await;
    tokio::time::timeout(PATIENCE, async {
        while subscriptions.open_streams() == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    subscriptions.publish(mcp_sub_tests::ToolsChanged);
    tokio::time::sleep(Duration::from_secs(200)).await;
    assert_eq!(subscriptions.handler().closed(1).await[0].1, CloseReason::Stalled);
    // There is room again, though nothing was read.
    write(&mut writer, listen("2")).await;
    tokio::io::AsyncWriteExt::shutdown(&mut writer).await.unwrap();
    let mut text = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut reader, &mut text).await.unwrap();
    assert!(text.contains(r#""id":1,"error""#) && text.contains(r#""reason":"stalled""#), "{text}");
    assert!(text.contains(r#""id":2,"result""#), "{text}");
    serving.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn promise_9_it_opens_no_more_than_it_takes_the_answers_of() {
    let subscriptions = Probe::serve(|builder| builder);
    let (_unread, mut writer, serving) = narrow(&subscriptions);
    let writing = tokio::spawn(async move {
        for id in 0..10_000 {
            let listen =
                message(&id.to_string(), "subscriptions/listen", &format!(r#""notifications":{TOOLS}"#));
            tokio::io::AsyncWriteExt::write_all(&mut writer, (listen + "\n").as_bytes()).await.unwrap();
        }
    });
    // Long enough for what is stalled to make room.
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_secs(100)).await;
        assert!(subscriptions.stats().opened < 40, "{:?}", subscriptions.stats());
    }
    writing.abort();
    serving.abort();
}

#[tokio::test(start_paused = true)]
async fn at_the_end_it_is_waited_for_and_not_for_ever() {
    let subscriptions =
        Probe::serve(|builder| builder.limits(Limits::default().with_drain(Duration::from_secs(3))));
    let (_unread, mut writer, serving) = narrow(&subscriptions);
    let listen = message("1", "subscriptions/listen", &format!(r#""notifications":{TOOLS}"#)) + "\n";
    tokio::io::AsyncWriteExt::write_all(&mut writer, listen.as_bytes()).await.unwrap();
    tokio::io::AsyncWriteExt::shutdown(&mut writer).await.unwrap();
    let start = tokio::time::Instant::now();
    serving.await.unwrap().unwrap();
    assert_eq!(start.elapsed().as_millis(), 2700, "and the rest is for `handle_close`");
    assert_eq!(subscriptions.handler().closes(), 1, "which was waited for");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_its_input_is_noticed_though_it_takes_no_answer() {
    let subscriptions =
        Probe::serve(|builder| builder.limits(Limits::default().with_drain(Duration::from_secs(3))));
    let (_unread, mut writer, serving) = narrow(&subscriptions);
    let listen = message("1", "subscriptions/listen", &format!(r#""notifications":{TOOLS}"#)) + "\n";
    let ask = message("2", "server/discover", "") + "\n";
    // More than there is room for.
    let lines = listen + &ask.repeat(100);
    tokio::io::AsyncWriteExt::write_all(&mut writer, lines.as_bytes()).await.unwrap();
    tokio::io::AsyncWriteExt::shutdown(&mut writer).await.unwrap();
    tokio::time::timeout(Duration::from_secs(3), serving).await.expect("it ends").unwrap().unwrap();
    assert_eq!(subscriptions.handler().closes(), 1);
}

#[tokio::test(start_paused = true)]
async fn one_that_reads_slowly_gets_all_its_answers_after_the_end_of_its_input() {
    let subscriptions =
        Probe::serve(|builder| builder.limits(Limits::default().with_drain(Duration::from_secs(100))));
    let (mut reader, mut writer, serving) = narrow(&subscriptions);
    let ask = message("2", "server/discover", "") + "\n";
    tokio::io::AsyncWriteExt::write_all(&mut writer, ask.repeat(100).as_bytes()).await.unwrap();
    tokio::io::AsyncWriteExt::shutdown(&mut writer).await.unwrap();
    let (mut text, mut piece) = (String::new(), [0; 64]);
    let start = tokio::time::Instant::now();
    loop {
        let read = tokio::io::AsyncReadExt::read(&mut reader, &mut piece).await.unwrap();
        if read == 0 {
            break;
        }
        text += std::str::from_utf8(&piece[..read]).unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(text.lines().count(), 100);
    assert!(start.elapsed() > Duration::from_secs(300), "{:?}", start.elapsed());
    serving.await.unwrap().unwrap();
}
