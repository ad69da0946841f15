//! Clients of revision 2025-11-25, and the published Rust SDK's server with its sessions: through the layer as without it.

#![expect(deprecated, reason = "`resources/subscribe` is of the older revision")]

use std::{
    fmt::Write as _,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::{extract::Request as AxumRequest, middleware, response::Response as AxumResponse};
use mcp_sub_tests::{Probe, Request, Response, Server, ToolsChanged, eventually, within};
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, Peer, RoleClient, RoleServer,
    ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        PaginatedRequestParams, ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig,
        SubscribeRequestParams, Tool, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext},
    transport::{
        StreamableHttpClientTransport,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tower_layer::Layer as _;

/// A server with a tool that installs another one, and with resources.
#[derive(Clone, Default)]
struct Tools {
    installed: Arc<AtomicBool>,
    sessions: Arc<Mutex<Vec<Peer<RoleServer>>>>,
}

impl Tools {
    /// Tells every session, by itself and in answer to no request.
    async fn notify(&self) {
        let sessions = self.sessions.lock().unwrap().clone();
        for session in sessions {
            session.notify_tool_list_changed().await.unwrap();
            let updated = ResourceUpdatedNotificationParam::new("a:1");
            session.notify_resource_updated(updated).await.unwrap();
        }
    }

    fn service(&self) -> StreamableHttpService<Self, LocalSessionManager> {
        let tools = self.clone();
        let config = StreamableHttpServerConfig::default().with_legacy_session_mode(true);
        StreamableHttpService::new(move || Ok(tools.clone()), LocalSessionManager::default().into(), config)
    }
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed();
        ServerConfig::new(capabilities.enable_resources().enable_resources_subscribe().build())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.sessions.lock().unwrap().push(context.peer);
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let names =
            if self.installed.load(Ordering::SeqCst) { &["install", "new"][..] } else { &["install"] };
        let tool = |name: &&'static str| Tool::new(*name, "A tool", rmcp::model::JsonObject::new());
        Ok(ListToolsResult { tools: names.iter().map(tool).collect(), ..ListToolsResult::default() })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != "install" {
            return Err(ErrorData::invalid_params("no such tool", Some(json!({"name": request.name}))));
        }
        let was_installed = self.installed.swap(true, Ordering::SeqCst);
        Ok(CallToolResult::success(vec![ContentBlock::text(was_installed.to_string())]).into())
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }
}

/// A client that writes down what it is told.
struct Ears(mpsc::UnboundedSender<String>);

impl ClientHandler for Ears {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.send("tools".into()).unwrap();
    }

    async fn on_resource_updated(
        &self,
        updated: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0.send(updated.uri).unwrap();
    }
}

/// The server, with our layer over it or without.
fn start(tools: &Tools, layered: bool, wire: &Wire) -> Server {
    let wire = wire.clone();
    let tap = middleware::from_fn(move |request, next: middleware::Next| {
        let wire = wire.clone();
        async move {
            let at = wire.requested(&request);
            let response = next.run(request).await;
            wire.answered(at, &response);
            response
        }
    });
    if layered {
        Server::start(tap.layer(Probe::serve(|builder| builder).layer(tools.service())))
    } else {
        Server::start(tap.layer(tools.service()))
    }
}

/// Requests and their responses, as they are outside of everything.
#[derive(Clone, Default)]
struct Wire(Arc<Mutex<Vec<String>>>);

impl Wire {
    fn requested(&self, request: &AxumRequest) -> usize {
        let mut wire = self.0.lock().unwrap();
        let headers = request.headers();
        let body = headers.get("content-length").map_or("no", |length| length.to_str().unwrap());
        let session = headers.contains_key("mcp-session-id");
        let version = headers.get("mcp-protocol-version");
        wire.push(format!("{} {body} bytes, session: {session}, version: {version:?}", request.method()));
        wire.len() - 1
    }

    fn answered(&self, at: usize, response: &AxumResponse) {
        let mut headers = response.headers().clone();
        // What differs from run to run.
        if let Some(session) = headers.get_mut("mcp-session-id") {
            *session = "a session".parse().unwrap();
        }
        let line = &mut self.0.lock().unwrap()[at];
        write!(line, ": {} {headers:?}", response.status()).unwrap();
    }

    /// In an order of their own: a client has several requests under way.
    fn sorted(&self) -> Vec<String> {
        let mut wire = self.0.lock().unwrap().clone();
        wire.sort();
        wire
    }
}

/// All that a client of the older revision does, and what it sees.
async fn scenario(layered: bool) -> (Vec<Value>, Vec<String>) {
    let (tools, wire) = (Tools::default(), Wire::default());
    let server = start(&tools, layered, &wire);
    let (heard, mut hear) = mpsc::unbounded_channel();
    let transport = StreamableHttpClientTransport::from_uri(format!("http://{}/mcp", server.address()));
    let initialize = ClientLifecycleMode::Initialize;
    let client = within("a session", Ears(heard).serve_with_lifecycle(transport, initialize)).await.unwrap();
    let list =
        async || serde_json::to_value(within("a list", client.list_all_tools()).await.unwrap()).unwrap();
    let mut seen = vec![serde_json::to_value(client.peer_info().unwrap()).unwrap(), list().await];
    let call = |name: &'static str| client.call_tool(CallToolRequestParams::new(name));
    seen.push(serde_json::to_value(within("a call", call("install")).await.unwrap()).unwrap());
    seen.push(Value::from(within("a call", call("no-such")).await.unwrap_err().to_string()));
    within("it subscribes", client.subscribe(SubscribeRequestParams::new("a:1"))).await.unwrap();

    // Its GET stream is open, and what the server says by itself comes on it.
    let is_open = || wire.sorted().iter().any(|line| line.starts_with("GET ") && line.contains("200 OK"));
    eventually("its stream is open", is_open).await;
    tools.notify().await;
    let mut told = vec![within("it is told", hear.recv()).await, within("it is told", hear.recv()).await];
    told.sort();
    seen.push(json!(told));
    seen.push(list().await);
    within("it unsubscribes", client.unsubscribe(UnsubscribeRequestParams::new("a:1"))).await.unwrap();

    let is_deleted = || wire.sorted().iter().any(|line| line.starts_with("DELETE ") && line.contains(": 20"));
    within("it ends", client.cancel()).await.unwrap();
    eventually("its session is deleted", is_deleted).await;
    assert!(hear.recv().await.is_none(), "and nothing else was told");
    (seen, wire.sorted())
}

#[tokio::test]
async fn an_older_client_sees_through_the_layer_what_it_sees_without() {
    let (with, without) = (scenario(true).await, scenario(false).await);
    assert_eq!(with.0, without.0);
    assert_eq!(with.1, without.1);
    assert_eq!(with.0[0]["protocolVersion"], "2025-11-25");
    assert_eq!(with.0[1].as_array().unwrap().len(), 1);
    assert_eq!(with.0[4], json!(["a:1", "tools"]));
    assert_eq!(with.0[5].as_array().unwrap().len(), 2, "the new tool is there");
}

fn older(body: &str) -> Request {
    Request::post(body).without("Mcp-Method").set("MCP-Protocol-Version", "2025-11-25")
}

/// Opens a session by hand.
async fn session(server: &Server) -> String {
    let initialize = older(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    );
    let mut response = server.send(&initialize.without("MCP-Protocol-Version")).await;
    let session = response.header("mcp-session-id").expect("a session").to_owned();
    response.bytes().await;
    let initialized = older(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(server.send(&initialized.header("Mcp-Session-Id", &session)).await.status(), 202);
    session
}

/// Case P21, and what else an endpoint with both revisions is asked.
#[tokio::test]
async fn what_is_odd_in_an_older_session_gets_what_it_gets_without_the_layer() {
    let mut seen = Vec::new();
    for layered in [true, false] {
        let server = start(&Tools::default(), layered, &Wire::default());
        let session = session(&server).await;
        let older_version = |request: Request| {
            let request =
                request.replace("2026-07-28", "2025-11-25").set("MCP-Protocol-Version", "2025-11-25");
            request.header("Mcp-Session-Id", &session)
        };
        let with_session = |request: Request| request.header("Mcp-Session-Id", &session);
        for request in [
            older_version(Request::listen("7", r#"{"toolsListChanged":true}"#)),
            with_session(older(r#"{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen"}"#)),
            with_session(older(r#"{"jsonrpc":"2.0","id":7,"method":"server/discover"}"#)),
            with_session(older(r#"{"jsonrpc":"2.0","id":7,"method":"no/such"}"#)),
            with_session(older(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#)),
            with_session(older("[]")),
            with_session(older(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#))
                .header("Mcp-Method", "x"),
            older(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#),
            older(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#).header("Mcp-Session-Id", "none"),
            Request::call("7", "initialize", r#""protocolVersion":"2026-07-28""#),
            with_session(Request::call("7", "tools/list", "")),
            older("").method("GET").header("Mcp-Session-Id", "none"),
            older("").method("GET"),
            older("").method("DELETE"),
            older("").method("OPTIONS"),
            older("").method("PUT"),
        ] {
            let mut response = server.send(&request).await;
            let media = response.header("content-type").map(str::to_owned);
            let allow = response.header("allow").map(str::to_owned);
            let body = String::from_utf8(response.bytes().await.to_vec()).unwrap();
            seen.push((layered, response.status(), media, allow, body.replace(&session, "a session")));
        }
    }
    let (with, without) = seen.split_at(seen.len() / 2);
    for (with, without) in with.iter().zip(without) {
        assert_eq!((with.1, &with.2, &with.3, &with.4), (without.1, &without.2, &without.3, &without.4));
    }
}

/// Cases P24 and P36.
#[tokio::test]
async fn each_client_is_told_once_and_in_the_way_of_its_revision() {
    let tools = Tools::default();
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.layer(tools.service()));
    let session = session(&server).await;
    let get = older("").method("GET").set("Accept", "text/event-stream").header("Mcp-Session-Id", &session);
    let mut older_stream = server.send(&get).await;
    assert_eq!(older_stream.status(), 200);
    // What is left of an older session in its request is nothing to a listen.
    let listen = Request::listen("7", r#"{"toolsListChanged":true,"resourceSubscriptions":["a:1"]}"#);
    let mut listening =
        server.send(&listen.header("Mcp-Session-Id", &session).header("Last-Event-ID", "5")).await;
    assert_eq!((listening.status(), listening.header("mcp-session-id")), (200, None));
    listening.acknowledged().await;

    eventually("the session is there", || !tools.sessions.lock().unwrap().is_empty()).await;
    tools.notify().await;
    subscriptions.publish(ToolsChanged);
    // The first frame of ours after the acknowledgement: nothing of the older session came before it.
    let frame = listening.frame().await;
    assert_eq!(frame["method"], "notifications/tools/list_changed");
    assert_eq!(frame["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 7);
    subscriptions.shutdown(mcp_sub_tests::PATIENCE).await;
    assert_eq!([listening.told().await, end(&mut listening).await], ["result", ""]);

    let delete = older("").method("DELETE").header("Mcp-Session-Id", &session);
    assert!(server.send(&delete).await.status() < 300);
    let text = end(&mut older_stream).await;
    let messages: Vec<Value> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data:").map(str::trim).filter(|data| !data.is_empty()))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let methods: Vec<_> = messages.iter().map(|message| message["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["notifications/tools/list_changed", "notifications/resources/updated"], "each once");
    assert!(!text.contains("subscriptionId"), "{text}");
}

/// What is left to come, to the end.
async fn end(response: &mut Response) -> String {
    let before = response.received().len();
    String::from_utf8(response.bytes().await[before..].to_vec()).unwrap()
}
