//! Clients that leave, stall or vanish, on sockets that `mcp_sub::serve` has set.

use std::time::{Duration, Instant};

use axum::Router;
use mcp_sub::{CloseReason, Limits, SocketOptions};
use mcp_sub_tests::{Client, Probe, Request, Server, Updated, alone, eventually};
use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};

const TOOLS: &str = r#"{"toolsListChanged":true}"#;

#[tokio::test]
async fn a_socket_is_set_to_what_the_options_say() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (socket, _) = listener.accept().await.unwrap();
    let seconds = Duration::from_secs;
    SocketOptions::default().apply(&socket).unwrap();
    let set = SockRef::from(&socket);
    assert!(set.tcp_nodelay().unwrap() && set.keepalive().unwrap());
    #[cfg(target_os = "linux")]
    {
        assert_eq!(set.tcp_user_timeout().unwrap(), Some(seconds(60)));
        assert_eq!(set.tcp_notsent_lowat().unwrap(), 16 * 1024);
        assert_eq!(set.tcp_keepalive_time().unwrap(), seconds(30));
        assert_eq!(set.tcp_keepalive_interval().unwrap(), seconds(10));
        assert_eq!(set.tcp_keepalive_retries().unwrap(), 3);
    }
    let before = set.send_buffer_size().unwrap();
    let options = SocketOptions::default()
        .with_no_delay(false)
        .with_send_buffer(before * 2)
        .with_unsent(4096)
        .with_user_timeout(seconds(7))
        .with_keep_alive(seconds(8))
        .with_keep_alive_interval(seconds(9))
        .with_keep_alive_retries(5);
    options.apply(&socket).unwrap();
    assert!(!set.tcp_nodelay().unwrap());
    assert!(set.send_buffer_size().unwrap() > before);
    // What is left to the system stays as it is.
    let nothing = options.with_unsent(None).with_user_timeout(None).with_keep_alive(None);
    nothing.with_send_buffer(None).apply(&socket).unwrap();
    #[cfg(target_os = "linux")]
    {
        assert_eq!(set.tcp_user_timeout().unwrap(), Some(seconds(7)));
        assert_eq!(set.tcp_notsent_lowat().unwrap(), 4096);
        assert_eq!(set.tcp_keepalive_time().unwrap(), seconds(8));
        assert_eq!(set.tcp_keepalive_interval().unwrap(), seconds(9));
        assert_eq!(set.tcp_keepalive_retries().unwrap(), 5);
    }
}

#[tokio::test]
async fn a_client_that_leaves_a_quiet_stream_is_noticed_at_once() {
    let subscriptions = Probe::serve(|builder| builder);
    let (server, _stop) = Server::serving(Router::new(), &subscriptions, SocketOptions::default()).await;
    let first = server.listening("1", TOOLS).await;
    let second = server.listening("2", TOOLS).await;
    let start = Instant::now();
    first.leave();
    assert_eq!(subscriptions.handler().closed(1).await[0], ("1".into(), CloseReason::Disconnected));
    second.reset();
    assert_eq!(subscriptions.handler().closed(2).await[1], ("2".into(), CloseReason::Disconnected));
    assert!(start.elapsed() < Duration::from_secs(10), "by its packets, and by no timeout");
}

#[tokio::test]
async fn a_client_that_leaves_while_subscribe_waits_is_noticed_at_once() {
    let subscriptions = Probe::serve(|builder| builder);
    let (server, _stop) = Server::serving(Router::new(), &subscriptions, SocketOptions::default()).await;
    let start = Instant::now();
    for (round, reset) in [(1, false), (2, true)] {
        let mut client = server.connect().await;
        client.write(&Request::listen("1", TOOLS).header("x-subscribe", "wait")).await;
        subscriptions.handler().waits().await;
        if reset {
            client.reset();
        } else {
            client.leave();
        }
        eventually("`subscribe` is dropped", || subscriptions.handler().dropped() == round).await;
        eventually("its place is free", || subscriptions.open_streams() == 0).await;
    }
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!((subscriptions.handler().accepted(), subscriptions.handler().closes()), (0, 0));
}

/// It answers for its machine, and never opens its window: the stream is not enough to end, its connection has to.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_connection_of_a_client_that_does_not_read_ends() {
    let limits = Limits::default().with_write_timeout(Duration::from_secs(600));
    let subscriptions = Probe::serve(|builder| builder.limits(limits));
    let options = SocketOptions::default().with_user_timeout(Duration::from_secs(1));
    let (server, _stop) = Server::serving(Router::new(), &subscriptions, options).await;
    let uri = format!("a:{}", "x".repeat(10_000));
    let filter = format!(r#"{{"resourceSubscriptions":["{uri}"]}}"#);
    let stalled = Client::connect_narrow(server.address()).await.send(&Request::listen("1", &filter)).await;
    eventually("it is given up", || {
        subscriptions.publish_for(&uri, Updated(uri.clone()));
        subscriptions.handler().closes() == 1
    })
    .await;
    assert_eq!(subscriptions.handler().closed(1).await[0].1, CloseReason::Disconnected);
    stalled.closed().await;
}

/// Its address goes away, and all its packets with it. In a network of the test's own, where packets to that address
/// go out of one end of a cable and nobody takes them at the other.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_client_that_vanishes_without_a_packet_is_given_up() {
    let own_network = r#"
        own() { unshare --user --map-root-user --net "$@"; }
        own ip link add near type veth peer name far || exit 77
        own sh -c '
            set -e
            ip link set lo up
            ip address add 192.0.2.2/32 dev lo
            ip link add near type veth peer name far
            ip address add 192.0.2.1/24 dev near
            ip link set near up
            ip link set far up
            ip neighbour add 192.0.2.2 lladdr 02:00:00:00:00:02 dev near
            exec "$@"
        ' sh "$@"
    "#;
    if !alone("sockets::a_client_that_vanishes_without_a_packet_is_given_up", own_network) {
        return;
    }
    let subscriptions = Probe::serve(|builder| builder);
    let options = SocketOptions::default()
        .with_user_timeout(Duration::from_secs(2))
        .with_keep_alive(Duration::from_secs(1))
        .with_keep_alive_interval(Duration::from_secs(1));
    let address = ([192, 0, 2, 1], 0).into();
    let (server, _stop) = Server::serving_on(address, Router::new(), &subscriptions, options).await;
    let mut streams = Vec::new();
    for (id, filter) in [("1", TOOLS), ("2", r#"{"resourceSubscriptions":["a:b"]}"#)] {
        let client = Client::connect_from(([192, 0, 2, 2], 0).into(), server.address()).await;
        let mut stream = client.send(&Request::listen(id, filter).set("Host", "127.0.0.1")).await;
        stream.acknowledged().await;
        streams.push(stream);
    }
    // It is there, and stays there as long as it answers: longer than all of these times.
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(subscriptions.handler().closes(), 0);

    let gone =
        std::process::Command::new("ip").args(["address", "del", "192.0.2.2/32", "dev", "lo"]).status();
    assert!(gone.unwrap().success());
    // Something is on its way to one of them, and nothing to the other.
    subscriptions.publish_for("a:b", Updated("a:b".into()));
    let start = Instant::now();
    let closed = subscriptions.handler().closed(2).await;
    println!("given up after {:?}", start.elapsed());
    assert!(closed.iter().all(|(_, reason)| *reason == CloseReason::Disconnected), "{closed:?}");
    assert!(start.elapsed() > Duration::from_secs(1), "no packet says so, only time does");
}
