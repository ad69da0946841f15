//! A server on a socket of this machine.

use std::{convert::Infallible, net::SocketAddr};

use axum::{Router, response::IntoResponse};
use mcp_sub::{Shutdown, SocketOptions, SubscriptionHandler, Subscriptions};
use tokio::{
    net::{TcpListener, TcpSocket},
    sync::oneshot,
    task::{AbortHandle, JoinHandle},
};
use tower_service::Service;

use crate::{
    client::{Client, Response},
    request::Request,
    within,
};

/// A server with one MCP endpoint, for as long as it is held.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    task: AbortHandle,
}

/// What stops a server that runs on `mcp_sub::serve`.
#[derive(Debug)]
pub struct Stop {
    signal: Option<oneshot::Sender<()>>,
    ended: JoinHandle<Shutdown>,
}

impl Stop {
    /// Gives the signal, if it was not given yet.
    pub fn signal(&mut self) {
        self.signal = None;
    }

    /// Gives the signal, and waits for the end.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub async fn ended(mut self) -> Shutdown {
        self.signal();
        within("the server ends", self.ended).await.expect("it does not panic")
    }
}

impl Server {
    /// # Panics
    ///
    /// If the machine has no port left.
    pub fn start<S>(service: S) -> Self
    where
        S: Service<axum::extract::Request, Error = Infallible, Response: IntoResponse, Future: Send>
            + Clone
            + Send
            + Sync
            + 'static,
    {
        Self::on(TcpSocket::new_v4().expect("a socket"), service)
    }

    /// A server whose send buffers are small.
    ///
    /// # Panics
    ///
    /// If the machine has no port left.
    pub fn start_narrow<S>(service: S) -> Self
    where
        S: Service<axum::extract::Request, Error = Infallible, Response: IntoResponse, Future: Send>
            + Clone
            + Send
            + Sync
            + 'static,
    {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_send_buffer_size(32 * 1024).expect("a size of any kind");
        Self::on(socket, service)
    }

    fn on<S>(socket: TcpSocket, service: S) -> Self
    where
        S: Service<axum::extract::Request, Error = Infallible, Response: IntoResponse, Future: Send>
            + Clone
            + Send
            + Sync
            + 'static,
    {
        socket.bind(([127, 0, 0, 1], 0).into()).expect("a free port");
        let listener: TcpListener = socket.listen(1024).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let app = Router::new().route_service("/mcp", service);
        let task = tokio::spawn(async move { axum::serve(listener, app).await.expect("it serves on") });
        Self { address, task: task.abort_handle() }
    }

    /// A server on `mcp_sub::serve`.
    ///
    /// # Panics
    ///
    /// If the machine has no port left.
    pub async fn serving<H: SubscriptionHandler>(
        app: Router,
        subscriptions: &Subscriptions<H>,
        options: SocketOptions,
    ) -> (Self, Stop) {
        Self::serving_on(([127, 0, 0, 1], 0).into(), app, subscriptions, options).await
    }

    /// The same at an address.
    ///
    /// # Panics
    ///
    /// If it is not free.
    pub async fn serving_on<H: SubscriptionHandler>(
        address: SocketAddr,
        app: Router,
        subscriptions: &Subscriptions<H>,
        options: SocketOptions,
    ) -> (Self, Stop) {
        let listener = TcpListener::bind(address).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (signal, signalled) = oneshot::channel::<()>();
        let app = app.route_service("/mcp", subscriptions.http());
        let serving = mcp_sub::serve(listener, app, subscriptions).socket_options(options).until(signalled);
        let ended = tokio::spawn(serving);
        (Self { address, task: ended.abort_handle() }, Stop { signal: Some(signal), ended })
    }

    /// Where it is.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A new connection.
    pub async fn connect(&self) -> Client {
        Client::connect(self.address).await
    }

    /// Sends a request on a new connection.
    pub async fn send(&self, request: &Request) -> Response {
        self.connect().await.send(request).await
    }

    /// Opens a stream on a new connection.
    ///
    /// # Panics
    ///
    /// If none opens.
    pub async fn listen(&self, id: &str, notifications: &str) -> Response {
        let mut response = self.send(&Request::listen(id, notifications)).await;
        let media = response.header("content-type").map(str::to_owned);
        if media.as_deref() != Some("text/event-stream") {
            let body = String::from_utf8_lossy(response.bytes().await).into_owned();
            assert_eq!(body, "", "no stream: {}", response.status());
        }
        assert_eq!((response.status(), media.as_deref()), (200, Some("text/event-stream")));
        response
    }

    /// Opens a stream on a new connection, and reads its acknowledgement.
    pub async fn listening(&self, id: &str, notifications: &str) -> Response {
        let mut response = self.listen(id, notifications).await;
        response.acknowledged().await;
        response
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}
