//! A layer that compresses holds nothing back (what proxies do is asked for in the headers: see `keep_alive`).

use std::{convert::Infallible, io::Read as _, time::Duration};

use axum::response::IntoResponse;
use mcp_sub_tests::{Item, Probe, Request, Response, Server, ToolsChanged};
use tower_http::compression::{
    CompressionLayer,
    predicate::{DefaultPredicate, SizeAbove},
};
use tower_layer::Layer;
use tower_service::Service;

fn listen() -> Request {
    Request::listen("7", r#"{"toolsListChanged":true}"#).header("Accept-Encoding", "gzip")
}

fn start<S>(service: S) -> Server
where
    S: Service<axum::extract::Request, Error = Infallible, Response: IntoResponse, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
{
    Server::start(service)
}

/// As users have it: it leaves event streams alone.
#[tokio::test]
async fn behind_a_compression_layer_the_acknowledgement_can_be_read_at_once() {
    let subscriptions = Probe::serve(|builder| builder.keep_alive(Duration::from_millis(10)));
    let layer = CompressionLayer::new().compress_when(DefaultPredicate::new());
    let server = start(layer.layer(subscriptions.http()));
    let mut stream = server.send(&listen()).await;
    assert_eq!((stream.status(), stream.header("content-encoding")), (200, None));
    stream.acknowledged().await;
    while !matches!(stream.item().await, Item::Comment(_)) {}
    subscriptions.publish(ToolsChanged);
    assert_eq!(stream.told().await, "tools");
    stream.leave();
    subscriptions.handler().closed(1).await;
}

/// One that compresses everything has to flush what it has while nothing more comes.
#[tokio::test]
async fn even_compressed_each_message_can_be_read_at_once() {
    let subscriptions = Probe::serve(|builder| builder);
    let layer = CompressionLayer::new().compress_when(SizeAbove::new(0));
    let server = start(layer.layer(subscriptions.http()));
    let mut stream = server.send(&listen()).await;
    assert_eq!((stream.status(), stream.header("content-encoding")), (200, Some("gzip")));
    inflated_until(&mut stream, "subscriptions/acknowledged").await;
    for _ in 0..3 {
        subscriptions.publish(ToolsChanged);
        inflated_until(&mut stream, "tools/list_changed").await;
    }
}

/// Reads until the text is there, as far as the body can be inflated now.
async fn inflated_until(stream: &mut Response, text: &str) {
    let found = async {
        loop {
            let mut inflated = Vec::new();
            // It ends in the middle.
            flate2::read::GzDecoder::new(stream.received()).read_to_end(&mut inflated).ok();
            if String::from_utf8_lossy(&inflated).contains(text) {
                return;
            }
            assert!(stream.more().await, "the stream goes on");
        }
    };
    mcp_sub_tests::within(text, found).await;
}
