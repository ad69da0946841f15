//! Promise 6: no subscriber, call, panic or socket delays or harms another stream.

use std::time::Instant;

use mcp_sub_tests::{
    Act, Client, Item, Noise, Probe, PromptsChanged, Request, Server, Tell, ToolsChanged, Updated, within,
};

const LISTS: &str = r#"{"toolsListChanged":true,"promptsListChanged":true}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_6_a_stalled_reader_delays_neither_others_nor_the_publisher() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start_narrow(subscriptions.http());
    let uris: Vec<String> = (0..20).map(|i| format!("file:///{i}/{}", "x".repeat(1000))).collect();
    let filter = format!(
        r#"{{"promptsListChanged":true,"resourceSubscriptions":{}}}"#,
        serde_json::to_string(&uris).unwrap()
    );
    let client = Client::connect_narrow(server.address()).await;
    let stalled = client.send(&Request::listen("1", &filter)).await;
    let readers: Vec<_> = [server.listening("2", &filter).await, server.listening("3", &filter).await]
        .into_iter()
        .map(|mut stream| {
            tokio::spawn(async move {
                let mut seen = std::collections::HashSet::new();
                loop {
                    let told = stream.told().await;
                    if told == "prompts" {
                        return seen.len();
                    }
                    seen.insert(told);
                }
            })
        })
        .collect();
    let publisher = tokio::task::spawn_blocking({
        let subscriptions = subscriptions.clone();
        move || {
            let mut longest = std::time::Duration::ZERO;
            for i in 0..10_000 {
                let uri = &uris[i % uris.len()];
                let start = Instant::now();
                assert_eq!(subscriptions.publish_for(uri, Updated(uri.clone())), 3);
                longest = longest.max(start.elapsed());
            }
            subscriptions.publish(PromptsChanged);
            longest
        }
    });
    let longest = within("10,000 events are published", publisher).await.unwrap();
    assert!(longest < std::time::Duration::from_secs(1), "`publish` waited for {longest:?}");
    for reader in readers {
        assert_eq!(within("a reader gets all", reader).await.unwrap(), 20);
    }
    mcp_sub_tests::eventually("the readers are gone", || subscriptions.open_streams() == 1).await;
    drop(stalled);
}

/// The connection of one is full; the comments of the others come as ever, and so does what is published.
#[tokio::test]
async fn promise_6_while_one_reader_is_stalled_the_keep_alives_of_others_go_on() {
    let subscriptions = Probe::serve(|builder| builder.keep_alive(std::time::Duration::from_millis(5)));
    let server = Server::start_narrow(subscriptions.http());
    let uri = format!("a:{}", "x".repeat(50_000));
    let filter = format!(r#"{{"resourceSubscriptions":["{uri}"]}}"#);
    let stalled = Client::connect_narrow(server.address()).await.send(&Request::listen("1", &filter)).await;
    let mut others = [server.listening("2", LISTS).await, server.listening("3", LISTS).await];
    let mut published = 0;
    mcp_sub_tests::eventually("the slot of the stalled one is full", || {
        published += subscriptions.publish_for(&uri, Updated(uri.clone())) as u64;
        published > subscriptions.stats().events + 300
    })
    .await;
    for stream in &mut others {
        for _ in 0..3 {
            assert!(matches!(stream.item().await, Item::Comment(_)));
        }
    }
    subscriptions.publish(ToolsChanged);
    for stream in &mut others {
        assert_eq!(stream.told().await, "tools");
    }
    assert_eq!(subscriptions.open_streams(), 3);
    drop(stalled);
}

/// As many as one likes: they are no workers of a pool.
#[tokio::test]
async fn promise_6_open_streams_take_no_turn_of_other_requests() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut streams = Vec::new();
    for _ in 0..64 {
        streams.push(server.listening("1", LISTS).await);
    }
    assert_eq!(server.send(&Request::call("2", "tools/list", "")).await.status(), 200);
    assert_eq!(server.send(&Request::call("3", "server/discover", "")).await.status(), 200);
    assert_eq!(subscriptions.open_streams(), 64);
}

#[tokio::test]
async fn promise_6_a_panic_harms_no_other_stream() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut first = server.listening("1", LISTS).await;
    let mut second = server.listening("2", LISTS).await;
    let mut third = server.listening("3", LISTS).await;
    subscriptions.publish(Tell::new("2", Act::Panic));
    subscriptions.publish(ToolsChanged);
    assert_eq!(second.told().await, "error panicked");
    assert_eq!([first.told().await, third.told().await], ["tools", "tools"]);
    let response = server.send(&Request::listen("4", LISTS).header("x-subscribe", "panic")).await;
    assert_eq!(response.status(), 500);
    let mut fifth = server.listening("5", LISTS).await;
    subscriptions.publish(PromptsChanged);
    for stream in [&mut first, &mut third, &mut fifth] {
        assert_eq!(stream.told().await, "prompts");
    }
}

#[tokio::test]
async fn promise_6_a_method_that_waits_holds_up_its_own_stream_alone() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut waiting = server.listening("1", LISTS).await;
    let mut other = server.listening("2", LISTS).await;
    subscriptions.publish(Tell::new("1", Act::Wait));
    subscriptions.handler().waits().await;
    subscriptions.publish(PromptsChanged);
    assert_eq!(other.told().await, "prompts");
    server.listening("3", LISTS).await;
    subscriptions.handler().release.add_permits(1);
    assert_eq!([waiting.told().await, waiting.told().await], ["tools", "prompts"]);
}

#[tokio::test]
async fn promise_6_a_subscribe_that_waits_holds_up_nobody() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut client = server.connect().await;
    client.write(&Request::listen("1", LISTS).header("x-subscribe", "wait")).await;
    subscriptions.handler().waits().await;
    let mut other = server.listening("2", LISTS).await;
    subscriptions.publish(ToolsChanged);
    assert_eq!(other.told().await, "tools");
    assert_eq!(server.send(&Request::call("3", "server/discover", "")).await.status(), 200);
}

/// An event whose method publishes the next one, and tells nothing: the stream has always something to do, and nothing
/// to write. On one thread, everyone else lives only if it lets them.
#[tokio::test]
async fn promise_6_a_stream_that_is_always_busy_lets_others_run() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut busy = server.listening("1", r#"{"toolsListChanged":true}"#).await;
    let mut other = server.listening("2", r#"{"promptsListChanged":true}"#).await;
    // If it never returns, no timer of this thread fires either.
    let watchdog = std::thread::spawn({
        let subscriptions = subscriptions.clone();
        move || {
            let start = Instant::now();
            while subscriptions.handler().closes() == 0 && start.elapsed() < mcp_sub_tests::PATIENCE {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            let starved = subscriptions.handler().closes() == 0;
            subscriptions.handler().hush();
            starved
        }
    });
    subscriptions.publish(Noise);
    subscriptions.publish(PromptsChanged);
    assert_eq!(other.told().await, "prompts");
    other.leave();
    subscriptions.handler().closed(1).await;
    assert_eq!(busy.told().await, "tools");
    assert!(!watchdog.join().unwrap(), "the thread was held until the noise was hushed");
}
