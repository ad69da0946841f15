//! Comments while a stream is quiet, and what the stream looks like to those on the way.

use std::time::Duration;

use mcp_sub_tests::{Act, Item, Probe, Request, Server, Tell, ToolsChanged};

const TOOLS: &str = r#"{"toolsListChanged":true}"#;

#[tokio::test]
async fn a_quiet_stream_gets_comments_and_nothing_else() {
    let subscriptions = Probe::serve(|builder| builder.keep_alive(Duration::from_millis(10)));
    let server = Server::start(subscriptions.http());
    let mut stream = server.listening("1", TOOLS).await;
    let start = stream.received().len();
    for _ in 0..3 {
        assert!(matches!(stream.item().await, Item::Comment(_)));
    }
    let text = std::str::from_utf8(&stream.received()[start..]).unwrap();
    assert!(text.starts_with(": ") && text.ends_with("\n\n"), "{text:?}");
    assert!(text.lines().all(|line| line.is_empty() || line.starts_with(':')), "{text:?}");
    subscriptions.publish(ToolsChanged);
    assert_eq!(stream.told().await, "tools");
}

/// Time stands still until all wait, so it is the server's interval that passes.
#[tokio::test(start_paused = true)]
async fn each_frame_begins_the_interval_anew() {
    use std::{future::poll_fn, pin::Pin};

    use http_body::Body as _;
    let subscriptions = Probe::serve(|builder| builder.keep_alive(Duration::from_secs(10)));
    let mut body = crate::in_process::listen(&subscriptions, TOOLS).await.into_body();
    let mut next = async || {
        let frame = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await;
        String::from_utf8(frame.unwrap().unwrap().into_data().unwrap().to_vec()).unwrap()
    };
    let start = tokio::time::Instant::now();
    assert!(next().await.contains("acknowledged"));
    let publisher = tokio::spawn({
        let subscriptions = subscriptions.clone();
        async move {
            for _ in 0..5 {
                tokio::time::sleep(Duration::from_secs(9)).await;
                subscriptions.publish(ToolsChanged);
            }
        }
    });
    for _ in 0..5 {
        assert!(next().await.contains("tools/list_changed"), "a busy stream needs no comment");
    }
    publisher.await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 45);
    for passed in [55, 65, 75] {
        assert!(next().await.starts_with(':'));
        assert_eq!(start.elapsed().as_secs(), passed);
    }
}

/// Where a task has done a lot, tokio's timers put it off, and are not told of it.
#[tokio::test(start_paused = true)]
async fn a_task_that_has_done_a_lot_gets_its_comment_as_well() {
    use std::{
        future::{Future as _, poll_fn},
        pin::{Pin, pin},
        task::Poll,
    };

    use http_body::Body as _;
    use tokio::task::coop::{consume_budget, has_budget_remaining};
    let subscriptions = Probe::serve(|builder| builder.keep_alive(Duration::from_secs(10)));
    let mut body = crate::in_process::listen(&subscriptions, TOOLS).await.into_body();
    poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await.unwrap().unwrap();
    poll_fn(|cx| {
        while has_budget_remaining() {
            assert!(pin!(consume_budget()).poll(cx).is_ready());
        }
        assert!(Pin::new(&mut body).poll_frame(cx).is_pending());
        Poll::Ready(())
    })
    .await;
    let comment = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx));
    let comment = tokio::time::timeout(Duration::from_secs(11), comment).await.expect("it is time");
    assert!(comment.unwrap().unwrap().into_data().unwrap().starts_with(b":"));
}

/// Who polls last is woken: by the timer too.
#[tokio::test(start_paused = true)]
async fn a_body_that_goes_from_task_to_task_gets_each_comment_where_it_is() {
    use std::{future::poll_fn, pin::Pin};

    use http_body::Body as _;
    let subscriptions = Probe::serve(|builder| builder.keep_alive(Duration::from_secs(10)));
    let mut body = crate::in_process::listen(&subscriptions, TOOLS).await.into_body();
    poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await.unwrap().unwrap();
    let start = tokio::time::Instant::now();
    let mut comments = Vec::new();
    while comments.len() < 3 {
        let held = tokio::spawn(async move {
            let next = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx));
            let next = tokio::time::timeout(Duration::from_secs(4), next).await;
            (body, next.ok())
        });
        let (back, next) = held.await.unwrap();
        body = back;
        if let Some(comment) = next {
            assert!(comment.unwrap().unwrap().into_data().unwrap().starts_with(b":"));
            comments.push(start.elapsed().as_secs());
        }
    }
    assert_eq!(comments, [10, 20, 30]);
}

#[tokio::test]
async fn without_an_interval_there_are_no_comments() {
    for off in [None, Some(Duration::ZERO)] {
        let subscriptions = Probe::serve(|builder| builder.keep_alive(off));
        let server = Server::start(subscriptions.http());
        let mut stream = server.listening("1", TOOLS).await;
        tokio::time::sleep(Duration::from_millis(30)).await;
        subscriptions.publish(ToolsChanged);
        assert!(matches!(stream.item().await, Item::Message(_)));
    }
}

#[tokio::test]
async fn there_is_no_comment_before_the_acknowledgement_and_none_after_the_end() {
    let subscriptions = Probe::serve(|builder| builder.keep_alive(Duration::from_millis(1)));
    let server = Server::start(subscriptions.http());
    let mut client = server.connect().await;
    client.write(&Request::listen("1", TOOLS).header("x-subscribe", "wait")).await;
    subscriptions.handler().waits().await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    subscriptions.handler().release.add_permits(1);
    let mut stream = client.response().await;
    assert!(matches!(stream.item().await, Item::Message(text) if text.contains("acknowledged")));
    subscriptions.publish(Tell::new("1", Act::Stop("seen")));
    stream.rest().await;
    let text = String::from_utf8(stream.received().to_vec()).unwrap();
    let end = text.find(r#""result""#).unwrap();
    assert!(!text[end..].contains("\n:"), "{text}");
}

#[tokio::test]
async fn a_stream_says_that_it_is_one() {
    let subscriptions = Probe::serve(|builder| builder.keep_alive(Duration::from_millis(5)));
    let server = Server::start(subscriptions.http());
    let resumed = Request::listen("1", TOOLS).header("Last-Event-ID", "5").header("Mcp-Session-Id", "x");
    for request in [Request::listen("1", TOOLS), resumed] {
        let mut stream = server.send(&request).await;
        assert_eq!(stream.header("content-type"), Some("text/event-stream"));
        assert_eq!(stream.header("cache-control"), Some("no-cache, no-transform"));
        assert_eq!(stream.header("x-accel-buffering"), Some("no"));
        assert_eq!(stream.header("content-length"), None);
        assert_eq!(stream.header("mcp-session-id"), None);
        stream.acknowledged().await;
        while !matches!(stream.item().await, Item::Comment(_)) {}
        subscriptions.publish(ToolsChanged);
        stream.frame().await;
        let text = String::from_utf8(stream.received().to_vec()).unwrap();
        for line in text.lines().filter(|line| !line.is_empty()) {
            assert!(line.starts_with("data: {") || line.starts_with(':'), "{line:?}");
        }
        assert!(!text.contains('\r'));
    }
}
