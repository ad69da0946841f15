//! What the tests of the features `rmcp` and `legacy` share: an rmcp server with a handler inside, and its raw lines.

use mcp_sub::{
    Channel, CloseReason, Filter, Inbox, Rejection, SubscriptionHandler, Subscriptions, subscription_handler,
};
use mcp_sub_tests::{META, Server, ToolsChanged, Updated, within};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter,
        UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf},
    sync::mpsc,
};

/// An rmcp server of all families, that has our lines and nothing else.
pub(crate) struct Inside<H: SubscriptionHandler>(pub(crate) Subscriptions<H>);

impl<H: SubscriptionHandler> Clone for Inside<H> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

#[allow(deprecated, reason = "the methods of sessions of older revisions are")]
impl<H: SubscriptionHandler> ServerHandler for Inside<H> {
    fn get_info(&self) -> ServerConfig {
        let families =
            ServerCapabilities::builder().enable_tools().enable_prompts().enable_resources().build();
        ServerConfig::new(self.0.advertise(families))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.0.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.0.listen(context).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.0.legacy().on_initialized(context).await;
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.legacy().subscribe(request, context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.legacy().unsubscribe(&request, &context)
    }
}

/// Over rmcp's HTTP, sessions included.
pub(crate) fn over_http<H: SubscriptionHandler>(subscriptions: &Subscriptions<H>) -> Server {
    Server::start(service(subscriptions))
}

/// The same, with the layer over it.
pub(crate) fn under_the_layer<H: SubscriptionHandler>(subscriptions: &Subscriptions<H>) -> Server {
    Server::start(subscriptions.layer(service(subscriptions)))
}

fn service<H: SubscriptionHandler>(
    subscriptions: &Subscriptions<H>,
) -> StreamableHttpService<Inside<H>, LocalSessionManager> {
    let server = Inside(subscriptions.clone());
    let config =
        StreamableHttpServerConfig::default().with_legacy_session_mode(true).with_sse_keep_alive(None);
    StreamableHttpService::new(move || Ok(server.clone()), LocalSessionManager::default().into(), config)
}

/// Leaves resources that begin with `a:`, whoever asks.
pub(crate) struct Public(mpsc::UnboundedSender<CloseReason>);

#[subscription_handler]
#[expect(clippy::unused_self, reason = "the attribute asks for this shape")]
impl Public {
    fn subscribe(&self, filter: &mut Filter<'_>, inbox: &Inbox) -> Result<(), Rejection> {
        filter.retain_resources(|uri| uri.starts_with("a:"));
        if filter.resources().any(|uri| uri == "a:told-at-once") {
            inbox.send(Updated("a:told-at-once".into()));
        }
        if filter.resources().any(|uri| uri == "a:rejected") {
            return Err(Rejection::application::<4001>("not today"));
        }
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn tools_changed(&self, _: &ToolsChanged, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(resources_updated)]
    fn updated(&self, event: &Updated, channel: &mut Channel<'_>) {
        channel.resources_updated(&event.0);
    }

    fn handle_close(&self, reason: CloseReason, (): ()) {
        self.0.send(reason).ok();
    }
}

impl Public {
    /// A server of it, and what `handle_close` is told.
    pub(crate) fn serve(
        build: impl FnOnce(mcp_sub::Builder<Self>) -> mcp_sub::Builder<Self>,
    ) -> (Subscriptions<Self>, mpsc::UnboundedReceiver<CloseReason>) {
        let (closed, told) = mpsc::unbounded_channel();
        (build(Subscriptions::builder(Self(closed))).build(), told)
    }
}

/// One connection to an rmcp server, line by line.
pub(crate) struct Lines {
    read: BufReader<ReadHalf<DuplexStream>>,
    write: WriteHalf<DuplexStream>,
}

impl Lines {
    /// `room`: how many bytes the connection takes that nobody has read.
    pub(crate) fn connect<H: SubscriptionHandler>(subscriptions: &Subscriptions<H>, room: usize) -> Self {
        let (ours, theirs) = tokio::io::duplex(room);
        let server = Inside(subscriptions.clone());
        tokio::spawn(async move {
            if let Ok(running) = server.serve(theirs).await {
                running.waiting().await.ok();
            }
        });
        let (read, write) = tokio::io::split(ours);
        Self { read: BufReader::new(read), write }
    }

    pub(crate) async fn send(&mut self, line: &str) {
        self.write.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    pub(crate) async fn listen(&mut self, id: &str, notifications: &str) {
        self.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{{{META},"notifications":{notifications}}}}}"#
        ))
        .await;
    }

    /// Begins a session of an older revision.
    pub(crate) async fn initialize(&mut self) {
        self.send(r#"{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#).await;
        assert_eq!(self.next().await["id"], "init");
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    }

    pub(crate) async fn next(&mut self) -> Value {
        let mut line = String::new();
        within("a line", self.read.read_line(&mut line)).await.unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"))
    }
}
