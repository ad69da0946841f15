//! Without a socket: a service that is called, and a body that is polled by hand.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use mcp_sub::{Subscriptions, http::Body};
use mcp_sub_tests::{META, Probe};
use tower_service::Service as _;

/// The response to a listen with the id 7.
pub(crate) async fn listen(subscriptions: &Subscriptions<Probe>, notifications: &str) -> Response<Body> {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{{{META},"notifications":{notifications}}}}}"#
    );
    let request = Request::post("/mcp")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "subscriptions/listen")
        .body(Full::new(Bytes::from(body)))
        .expect("it has all its parts");
    let response = subscriptions.http().call(request).await.expect("it never fails");
    assert_eq!(response.status(), 200);
    response
}
