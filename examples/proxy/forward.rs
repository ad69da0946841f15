//! A reverse proxy: requests go on and responses come back as they are, streaming.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::Body;
use http::{
    HeaderMap, HeaderName, Request, Response, StatusCode, Uri, Version,
    header::{
        CONNECTION, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
    },
};
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use mcp_sub::http::Body as LayerBody;
use tower_service::Service;

/// What concerns one connection, and not the message (RFC 9110, section 7.6.1).
const OF_THE_CONNECTION: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// The server behind, as a `tower` service.
#[derive(Clone)]
pub(crate) struct Forward {
    upstream: Uri,
    client: Client<HttpConnector, LayerBody<Body>>,
}

impl Forward {
    pub(crate) fn to(upstream: Uri) -> Self {
        Self { upstream, client: Client::builder(TokioExecutor::new()).build_http() }
    }

    /// The same path and query, at the server behind.
    fn uri(&self, asked: &Uri) -> Result<Uri, http::Error> {
        let mut parts = self.upstream.clone().into_parts();
        parts.path_and_query = asked.path_and_query().cloned();
        Ok(Uri::from_parts(parts)?)
    }
}

impl Service<Request<LayerBody<Body>>> for Forward {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<LayerBody<Body>>) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            let forwarded = async {
                *request.uri_mut() = this.uri(request.uri())?;
                *request.version_mut() = Version::HTTP_11;
                clear(request.headers_mut());
                // The layer has judged it. The server behind is told its own.
                request.headers_mut().remove(HOST);
                let response: Response<Incoming> = this.client.request(request).await?;
                let mut response = response.map(Body::new);
                clear(response.headers_mut());
                Ok::<_, Box<dyn std::error::Error + Send + Sync>>(response)
            };
            Ok(forwarded.await.unwrap_or_else(|error| {
                eprintln!("proxy: the server behind does not answer: {error}");
                let mut response = Response::new("the server behind does not answer\n".into());
                *response.status_mut() = StatusCode::BAD_GATEWAY;
                response
            }))
        })
    }
}

fn clear(headers: &mut HeaderMap) {
    let listed: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in listed.into_iter().chain(OF_THE_CONNECTION) {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::poll_fn,
        sync::{Arc, Mutex},
    };

    use axum::{
        Router,
        body::{Bytes, HttpBody},
        routing::get,
    };
    use http_body::Frame;
    use mcp_sub::Subscriptions;
    use tokio::{
        net::TcpListener,
        sync::mpsc::{UnboundedReceiver, unbounded_channel},
    };

    use super::*;
    use crate::changes::Upstream;

    #[test]
    fn what_concerns_one_connection_stays_there() {
        let mut headers: HeaderMap = [
            ("connection", "close, X-Hop"),
            ("x-hop", "1"),
            ("transfer-encoding", "chunked"),
            ("mcp-method", "tools/list"),
        ]
        .into_iter()
        .map(|(name, value)| (HeaderName::from_static(name), value.parse().expect("a value")))
        .collect();
        clear(&mut headers);
        assert_eq!(headers.keys().collect::<Vec<_>>(), ["mcp-method"]);
    }

    /// A body whose pieces the test sends.
    struct Pieces(UnboundedReceiver<&'static str>);

    impl HttpBody for Pieces {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            self.0.poll_recv(cx).map(|piece| piece.map(|piece| Ok(Frame::data(Bytes::from(piece)))))
        }
    }

    /// Piece by piece, with what the server behind says beside it; and it learns that nobody reads any more.
    #[tokio::test]
    async fn a_response_comes_as_it_is_written() {
        let (sender, receiver) = unbounded_channel();
        let pieces = Arc::new(Mutex::new(Some(Pieces(receiver))));
        let behind = get(async move |request: Request<Body>| {
            let pieces = pieces.lock().expect("no panic in there").take().expect("one request");
            (StatusCode::IM_A_TEAPOT, [("x-asked", request.uri().to_string())], Body::new(pieces))
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let upstream = format!("http://{}", listener.local_addr().expect("an address"));
        let app = Router::new().route("/mcp", behind);
        let serving = tokio::spawn(async move { axum::serve(listener, app).await });

        let subscriptions = Subscriptions::builder(Upstream).build();
        let mut layered = subscriptions.layer(Forward::to(upstream.parse().expect("a URI")));
        let request = Request::get("http://127.0.0.1/mcp?a=b").body(Body::empty()).expect("a request");
        let response = layered.call(request).await.unwrap_or_else(|never| match never {});
        assert_eq!(
            (response.status(), &response.headers()["x-asked"]),
            (StatusCode::IM_A_TEAPOT, &"/mcp?a=b".parse().expect("a value"))
        );
        let mut body = Box::pin(response.into_body());
        for piece in ["first", "second"] {
            sender.send(piece).expect("it is read");
            let frame = poll_fn(|cx| body.as_mut().poll_frame(cx)).await.expect("a piece").expect("no error");
            assert_eq!(frame.into_data().expect("data"), piece);
        }
        drop(body);
        sender.closed().await;
        serving.abort();
    }

    #[test]
    fn the_path_stays_and_the_place_is_another() {
        let forward = Forward::to(Uri::from_static("http://127.0.0.1:8001"));
        let uri = forward.uri(&Uri::from_static("/mcp?a=%2F")).expect("a URI");
        assert_eq!(uri, "http://127.0.0.1:8001/mcp?a=%2F");
    }
}
