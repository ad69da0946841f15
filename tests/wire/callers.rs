//! What depends on who asks.

use std::{collections::HashSet, sync::Mutex};

use mcp_sub::{
    AnyNotification, Caller, Channel, Filter, Flow, Handles, Inbox, Kinds, Limits, ListChanges,
    ListenRequest, PromptsListChanged, Rejection, SubscriptionHandler, Subscriptions, ToolsListChanged,
    subscription_handler,
};
use mcp_sub_tests::{Request, Server};
use serde_json::{Value, json};

use crate::inner::{ALL, Inner};

/// Tells its staff of tools and prompts, its guests of tools only, and panics for a ghost.
struct House;

struct Changed;

impl SubscriptionHandler for House {
    type Event = Changed;
    type State = ();
    const DECLARED: Kinds = Kinds::TOOLS_LIST_CHANGED.union(Kinds::PROMPTS_LIST_CHANGED);

    fn kinds(_: &Changed) -> Kinds {
        Self::DECLARED
    }

    fn subscription_capabilities(&self, caller: &Caller) -> Option<Kinds> {
        let role = caller.headers().get("role").and_then(|role| role.to_str().ok());
        assert_ne!(role, Some("ghost"));
        // More than is declared makes no difference.
        Some(if role == Some("staff") { Kinds::ALL } else { Kinds::TOOLS_LIST_CHANGED })
    }

    async fn subscribe(
        &self,
        _: &mut Filter<'_, Self>,
        _: &ListenRequest,
        _: &Inbox<Self>,
    ) -> Result<(), Rejection> {
        Ok(())
    }

    async fn handle_event(
        &self,
        _: &Changed,
        channel: &mut Channel<'_, AnyNotification>,
        (): &mut (),
    ) -> Flow {
        channel.tools_list_changed();
        channel.prompts_list_changed();
        Flow::Continue
    }
}

impl Handles<Changed> for House {
    type Events = Changed;
    fn into_event(event: Changed) -> Changed {
        event
    }
}

fn servers() -> [(Subscriptions<House>, Server); 2] {
    let inner = Inner::advertising(&json!({"tools": {}, "prompts": {}, "resources": {}}));
    let (alone, over) = (Subscriptions::builder(House).build(), Subscriptions::builder(House).build());
    let servers = [Server::start(alone.http()), Server::start(over.layer(inner))];
    let [first, second] = servers;
    [(alone, first), (over, second)]
}

async fn discovered(server: &Server, role: &str) -> Value {
    let mut response = server.send(&Request::call("1", "server/discover", "").header("role", role)).await;
    assert_eq!(response.status(), 200);
    response.json().await["result"].take()
}

/// Promise 3, for each caller apart.
#[tokio::test]
async fn promise_3_a_caller_is_granted_what_it_was_told_that_there_is() {
    for (subscriptions, server) in servers() {
        for (role, prompts) in [("staff", true), ("guest", false)] {
            let result = discovered(&server, role).await;
            assert_eq!(result["capabilities"]["tools"]["listChanged"], true);
            assert_eq!(result["capabilities"]["prompts"]["listChanged"] == json!(true), prompts, "{result}");
            assert!(result["capabilities"]["resources"].get("listChanged").is_none_or(|flag| flag != true));
            assert_eq!(result["cacheScope"], "private");

            let mut stream = server.send(&Request::listen("1", ALL).header("role", role)).await;
            let honoured = stream.acknowledged().await;
            assert_eq!(honoured.get("promptsListChanged").is_some(), prompts, "{honoured}");
            assert_eq!(subscriptions.publish(Changed), 1);
            assert_eq!(stream.told().await, "tools");
            if prompts {
                assert_eq!(stream.told().await, "prompts");
            }
            drop(stream);
            mcp_sub_tests::eventually("the stream is gone", || subscriptions.open_streams() == 0).await;
        }
    }
}

#[tokio::test]
async fn a_panic_about_one_caller_is_an_error_for_that_caller() {
    for (_subscriptions, server) in servers() {
        for request in [Request::listen("1", ALL), Request::call("1", "server/discover", "")] {
            let mut response = server.send(&request.header("role", "ghost")).await;
            assert_eq!(response.status(), 500);
            let error = response.json().await;
            assert_eq!((&error["id"], &error["error"]["code"]), (&json!(1), &json!(-32603)));
        }
        let mut stream = server.send(&Request::listen("2", ALL).header("role", "guest")).await;
        assert_eq!(stream.acknowledged().await, json!({"toolsListChanged": true}));
    }
}

#[tokio::test]
async fn the_streams_of_one_principal_are_counted_and_ended() {
    let subscriptions = Subscriptions::builder(ListChanges::new().tools().prompts())
        .principal(|caller| Some(caller.headers().get("user")?.to_str().ok()?.to_owned()))
        .limits(Limits::default().with_streams_per_principal(1))
        .build();
    let server = Server::start(subscriptions.http());
    let listen = |user: &str| Request::listen("1", ALL).header("user", user);
    let mut alice = server.send(&listen("alice")).await;
    assert_eq!(alice.acknowledged().await, json!({"toolsListChanged": true, "promptsListChanged": true}));
    let mut refused = server.send(&listen("alice")).await;
    assert_eq!((refused.status(), refused.header("retry-after")), (429, Some("5")));
    assert_eq!(refused.json().await["error"]["data"], json!({"limit": "streams_per_principal"}));

    let mut bob = server.send(&listen("bob")).await;
    bob.acknowledged().await;
    subscriptions.publish(PromptsListChanged);
    assert_eq!(subscriptions.end_all("alice", "signed out"), 1);
    subscriptions.publish(ToolsListChanged);
    assert_eq!([alice.told().await, alice.told().await], ["prompts", "result"]);
    assert_eq!([bob.told().await, bob.told().await], ["prompts", "tools"]);
    let mut again = server.send(&listen("alice")).await;
    again.acknowledged().await;
}

struct Saved(String);

/// Notes, each its owner's own. Rights are looked up when a subscription begins, and again for each event.
#[derive(Default)]
struct Notes {
    revoked: Mutex<HashSet<String>>,
}

#[subscription_handler]
impl Notes {
    #[expect(clippy::unused_self, reason = "the attribute asks for this shape")]
    fn subscribe(&self, filter: &mut Filter<'_>, request: &ListenRequest) -> Result<String, Rejection> {
        let user = request.headers().get("user").and_then(|user| user.to_str().ok());
        let user = user.ok_or_else(Rejection::unauthorized)?.to_owned();
        filter.retain_resources(|uri| uri.starts_with(&format!("note://{user}/")));
        Ok(user)
    }

    #[emits(resources_updated)]
    fn saved(&self, Saved(uri): &Saved, channel: &mut Channel<'_>, user: &mut String) {
        if !self.revoked.lock().unwrap().contains(user) {
            channel.resources_updated(uri);
        }
    }
}

#[tokio::test]
async fn nobody_is_told_of_what_is_anothers_or_what_it_may_not_see_any_more() {
    let subscriptions = Subscriptions::builder(Notes::default()).keep_alive(None).build();
    let server = Server::start(subscriptions.http());
    let filter = r#"{"resourceSubscriptions":["note://alice/x","note://bob/y"]}"#;
    let listen = |user| Request::listen("1", filter).header("user", user);
    let mut alice = server.send(&listen("alice")).await;
    assert_eq!(alice.acknowledged().await, json!({"resourceSubscriptions": ["note://alice/x"]}));
    let mut bob = server.send(&listen("bob")).await;
    assert_eq!(bob.acknowledged().await, json!({"resourceSubscriptions": ["note://bob/y"]}));
    let save = |uri: &str| subscriptions.publish_for(uri, Saved(uri.into()));
    assert_eq!([save("note://alice/x"), save("note://bob/y")], [1, 1]);
    assert_eq!([alice.told().await, bob.told().await], ["note://alice/x", "note://bob/y"]);

    subscriptions.handler().revoked.lock().unwrap().insert("alice".into());
    assert_eq!([save("note://alice/x"), save("note://bob/y")], [1, 1]);
    assert_eq!(bob.told().await, "note://bob/y");
    // Silence is all that she gets, until the result.
    subscriptions.shutdown(mcp_sub_tests::PATIENCE).await;
    assert_eq!([alice.told().await, bob.told().await], ["result", "result"]);
}
