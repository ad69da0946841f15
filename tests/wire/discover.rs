//! Promise 3: what is advertised is what an acknowledgement can contain; and the rest that a server alone answers.

use mcp_sub::{
    AnyNotification, Caller, Channel, Filter, Flow, Handles, Inbox, Kinds, ListenRequest, Rejection,
    SubscriptionHandler, Subscriptions, subscription_handler,
};
use mcp_sub_tests::{Hostile, Probe, PromptsChanged, Request, Server, ToolsChanged};
use serde_json::{Value, json};

const ALL: &str = r#"{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a:1"]}"#;

struct Silent;

/// By hand: the attribute does not take a handler that never tells anything.
impl SubscriptionHandler for Silent {
    type Event = ();
    type State = ();
    const DECLARED: Kinds = Kinds::NONE;

    fn kinds((): &()) -> Kinds {
        Kinds::NONE
    }

    async fn subscribe(
        &self,
        _: &mut Filter<'_, Self>,
        _: &ListenRequest,
        _: &Inbox<Self>,
    ) -> Result<(), Rejection> {
        Ok(())
    }

    async fn handle_event(&self, (): &(), _: &mut Channel<'_, AnyNotification>, (): &mut ()) -> Flow {
        Flow::Continue
    }
}

struct PromptsOnly;

#[subscription_handler]
#[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the attribute asks for this shape")]
impl PromptsOnly {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(prompts_list_changed)]
    fn changed(&self, _: &PromptsChanged, channel: &mut Channel<'_>) {
        channel.prompts_list_changed();
    }
}

/// Serves those who say who they are, and its friends even more.
struct ByCaller;

#[subscription_handler]
#[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the attribute asks for this shape")]
impl ByCaller {
    fn subscription_capabilities(&self, caller: &Caller) -> Kinds {
        match caller.headers().get("x-name").and_then(|name| name.to_str().ok()) {
            None => Kinds::NONE,
            Some("friend") => Self::DECLARED.union(Kinds::RESOURCES_LIST_CHANGED),
            Some(_) => Kinds::TOOLS_LIST_CHANGED,
        }
    }

    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed, prompts_list_changed)]
    fn changed(&self, _: &ToolsChanged, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
        channel.prompts_list_changed();
    }
}

async fn capabilities(server: &Server) -> Value {
    let mut response = server.send(&Request::call("1", "server/discover", "")).await;
    assert_eq!(response.status(), 200);
    response.json().await["result"]["capabilities"].take()
}

async fn honoured_of_all(server: &Server) -> Value {
    server.listen("1", ALL).await.acknowledged().await
}

/// The filter that asks for all that the capabilities advertise.
fn filter_of(capabilities: &Value) -> Value {
    let mut filter = json!({});
    for (family, flag, field, value) in [
        ("tools", "listChanged", "toolsListChanged", json!(true)),
        ("prompts", "listChanged", "promptsListChanged", json!(true)),
        ("resources", "listChanged", "resourcesListChanged", json!(true)),
        ("resources", "subscribe", "resourceSubscriptions", json!(["a:1"])),
    ] {
        if capabilities[family][flag] == json!(true) {
            filter[field] = value;
        }
    }
    filter
}

#[tokio::test]
async fn promise_3_what_is_advertised_is_what_is_acknowledged() {
    let servers = [
        (Server::start(Probe::serve(|builder| builder).http()), 4),
        (Server::start(Subscriptions::builder(Hostile).build().http()), 2),
        (Server::start(Subscriptions::builder(PromptsOnly).build().http()), 1),
        (Server::start(Subscriptions::builder(Silent).build().http()), 0),
    ];
    for (server, count) in servers {
        let (advertised, honoured) = (capabilities(&server).await, honoured_of_all(&server).await);
        assert_eq!(filter_of(&advertised), honoured, "{advertised}");
        assert_eq!(honoured.as_object().unwrap().len(), count);
    }
}

/// Declares what its number says, and tries to tell everything.
struct Subset<const KINDS: u8>;

const fn kinds(number: u8) -> Kinds {
    const fn one(number: u8, bit: u8, kind: Kinds) -> Kinds {
        if number & bit == 0 { Kinds::NONE } else { kind }
    }
    one(number, 1, Kinds::TOOLS_LIST_CHANGED)
        .union(one(number, 2, Kinds::PROMPTS_LIST_CHANGED))
        .union(one(number, 4, Kinds::RESOURCES_LIST_CHANGED))
        .union(one(number, 8, Kinds::RESOURCES_UPDATED))
}

impl<const KINDS: u8> SubscriptionHandler for Subset<KINDS> {
    type Event = ();
    type State = ();
    const DECLARED: Kinds = kinds(KINDS);

    fn kinds((): &()) -> Kinds {
        Kinds::ALL
    }

    async fn subscribe(
        &self,
        _: &mut Filter<'_, Self>,
        _: &ListenRequest,
        _: &Inbox<Self>,
    ) -> Result<(), Rejection> {
        Ok(())
    }

    async fn handle_event(&self, (): &(), channel: &mut Channel<'_, AnyNotification>, (): &mut ()) -> Flow {
        channel.tools_list_changed();
        channel.prompts_list_changed();
        channel.resources_list_changed();
        channel.resources_updated("a:1");
        Flow::Continue
    }
}

impl<const KINDS: u8> Handles<()> for Subset<KINDS> {
    type Events = ();
    fn into_event((): ()) {}
}

/// Advertised, acknowledged and told is the same.
async fn agrees<const KINDS: u8>() {
    let subscriptions = Subscriptions::builder(Subset::<KINDS>).build();
    let server = Server::start(subscriptions.http());
    let advertised = filter_of(&capabilities(&server).await);
    let mut expected = json!({});
    let mut told = Vec::new();
    for (bit, field, value, name) in [
        (1, "toolsListChanged", json!(true), "tools"),
        (2, "promptsListChanged", json!(true), "prompts"),
        (4, "resourcesListChanged", json!(true), "resources"),
        (8, "resourceSubscriptions", json!(["a:1"]), "a:1"),
    ] {
        if KINDS & bit != 0 {
            expected[field] = value;
            told.push(name);
        }
    }
    assert_eq!(advertised, expected);
    let mut stream = server.listen("1", ALL).await;
    assert_eq!(stream.acknowledged().await, expected);
    subscriptions.publish(());
    subscriptions.shutdown(mcp_sub_tests::PATIENCE).await;
    for name in told {
        assert_eq!(stream.told().await, name);
    }
    assert_eq!(stream.told().await, "result");
}

#[tokio::test]
async fn promise_3_each_of_the_sixteen_sets_of_kinds_is_advertised_acknowledged_and_told_alike() {
    macro_rules! all {
        ($($kinds:literal)*) => { $(agrees::<$kinds>().await;)* };
    }
    all!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
}

#[tokio::test]
async fn promise_3_what_is_advertised_to_a_caller_is_what_is_acknowledged_to_it() {
    let subscriptions = Subscriptions::builder(ByCaller).build();
    let server = Server::start(subscriptions.http());
    for (name, kinds) in [(None, 0), (Some("somebody"), 1), (Some("friend"), 2)] {
        let named = |request: Request| match name {
            Some(name) => request.header("x-name", name),
            None => request,
        };
        let mut response = server.send(&named(Request::call("1", "server/discover", ""))).await;
        let result = response.json().await["result"].take();
        assert_eq!(result["cacheScope"], "private");
        let mut stream = server.send(&named(Request::listen("1", ALL))).await;
        let honoured = stream.acknowledged().await;
        assert_eq!(filter_of(&result["capabilities"]), honoured, "{result}");
        assert_eq!(honoured.as_object().unwrap().len(), kinds);
    }
}

#[tokio::test]
async fn discover_tells_all_that_the_specification_asks_for() {
    let subscriptions = Probe::serve(|builder| builder.instructions("Listen."));
    let server = Server::start(subscriptions.http());
    let mut response = server.send(&Request::call("\"d\"", "server/discover", "")).await;
    assert_eq!(response.header("mcp-session-id"), None);
    assert_eq!(
        response.json().await,
        json!({"jsonrpc": "2.0", "id": "d", "result": {
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {"listChanged": true}, "prompts": {"listChanged": true},
                "resources": {"listChanged": true, "subscribe": true}},
            "instructions": "Listen.",
            "ttlMs": 300_000,
            "cacheScope": "public",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "probe", "version": "0.1"}}}})
    );
}

#[tokio::test]
async fn what_was_not_set_is_not_told() {
    let server = Server::start(Subscriptions::builder(Silent).build().http());
    let result = server.send(&Request::call("1", "server/discover", "")).await.json().await["result"].take();
    assert_eq!(result.get("instructions").or(result.get("_meta")), None);
    assert_eq!(result["capabilities"], json!({}));
}

#[tokio::test]
async fn a_family_that_is_advertised_has_an_empty_list_and_no_other_has_one() {
    let lists = [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ];
    let probe = Server::start(Probe::serve(|builder| builder).http());
    let prompts = Server::start(Subscriptions::builder(PromptsOnly).build().http());
    for (method, member) in lists {
        let mut response = probe.send(&Request::call("1", method, "")).await;
        let answer = response.json().await;
        assert_eq!(response.status(), 200);
        assert_eq!(answer["result"][member], json!([]), "{answer}");
        assert_eq!(answer["result"]["resultType"], "complete");
        assert!(answer["result"]["ttlMs"].is_u64() && answer["result"]["cacheScope"].is_string());

        let mut response = prompts.send(&Request::call("1", method, "")).await;
        let answer = response.json().await;
        let expected = if member == "prompts" { (200, Value::Null) } else { (404, json!(-32601)) };
        assert_eq!((response.status(), answer["error"]["code"].clone()), expected, "{method}");
    }
    for method in
        ["tools/call", "prompts/get", "resources/read", "resources/subscribe", "ping", "logging/setLevel"]
    {
        let mut response = probe.send(&Request::call("1", method, "")).await;
        assert_eq!(response.json().await["error"]["code"], -32601, "{method}");
        assert_eq!(response.status(), 404, "{method}");
    }
}

#[tokio::test]
async fn discover_answers_while_streams_are_open_and_after_a_shutdown() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut stream = server.listening("1", ALL).await;
    let before = capabilities(&server).await;
    subscriptions.publish(ToolsChanged);
    assert_eq!(stream.told().await, "tools");
    subscriptions.shutdown(mcp_sub_tests::PATIENCE).await;
    assert_eq!(capabilities(&server).await, before);
}
