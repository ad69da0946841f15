//! Without a socket: a service that is called, and a body that is polled by hand.

use std::sync::Arc;

use bytes::Bytes;
use http::{Extensions, Request, Response};
use http_body_util::Full;
use mcp_sub::{Subscriptions, http::Body};
use mcp_sub_tests::{META, Probe};
use tower_service::Service as _;

/// The response to a listen with the id 7.
pub(crate) async fn listen(subscriptions: &Subscriptions<Probe>, notifications: &str) -> Response<Body> {
    listen_with(subscriptions, notifications, Extensions::new()).await
}

async fn listen_with(
    subscriptions: &Subscriptions<Probe>,
    notifications: &str,
    extensions: Extensions,
) -> Response<Body> {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{{{META},"notifications":{notifications}}}}}"#
    );
    let mut request = Request::post("/mcp")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "subscriptions/listen")
        .body(Full::new(Bytes::from(body)))
        .expect("it has all its parts");
    *request.extensions_mut() = extensions;
    let response = subscriptions.http().call(request).await.expect("it never fails");
    assert_eq!(response.status(), 200);
    response
}

/// Headers, identity and all: a stream that is open for days keeps none of it.
#[tokio::test]
async fn the_request_is_dropped_when_subscribe_has_returned() {
    let subscriptions = Probe::serve(|builder| builder);
    let held = Arc::new(());
    let mut extensions = Extensions::new();
    extensions.insert(held.clone());
    let response = listen_with(&subscriptions, r#"{"toolsListChanged":true}"#, extensions).await;
    assert_eq!((subscriptions.open_streams(), Arc::strong_count(&held)), (1, 1));
    drop(response);
}
