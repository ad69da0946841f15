//! Promise 2: what is honoured was requested, is declared, and was left by `subscribe`; nothing else is ever written.

use mcp_sub::{ListChanges, Subscriptions, ToolsListChanged};
use mcp_sub_tests::{
    Act, Hostile, Probe, PromptsChanged, Request, ResourcesChanged, Server, Tell, ToolsChanged, Updated,
    Whatever,
};
use serde_json::{Value, json};

#[tokio::test]
async fn promise_2_the_acknowledgement_holds_what_was_requested_and_nothing_else() {
    let subscriptions = Probe::serve(|builder| builder.hold_empty(true));
    let server = Server::start(subscriptions.http());
    for (requested, honoured) in [
        (r#"{"toolsListChanged":true}"#, json!({"toolsListChanged": true})),
        (
            r#"{"toolsListChanged":false,"promptsListChanged":true,"resourceSubscriptions":[]}"#,
            json!({"promptsListChanged": true}),
        ),
        (r#"{"toolsListChanged":null,"resourcesListChanged":true}"#, json!({"resourcesListChanged": true})),
        (
            r#"{"toolsListChanged":true,"taskIds":["t1"],"com.example/x":true,"toolslistchanged":true}"#,
            json!({"toolsListChanged": true}),
        ),
        (
            r#"{"resourceSubscriptions":["z:2","a:1","z:2","m:3","a:1"]}"#,
            json!({"resourceSubscriptions": ["z:2", "a:1", "m:3"]}),
        ),
        (
            r#"{"resourceSubscriptions":["file:///A","file:///a","file:///%61"]}"#,
            json!({"resourceSubscriptions": ["file:///A", "file:///a", "file:///%61"]}),
        ),
        ("{}", json!({})),
    ] {
        let mut stream = server.listen("1", requested).await;
        assert_eq!(stream.acknowledged().await, honoured, "{requested}");
    }
}

#[tokio::test]
async fn promise_2_nothing_honoured_is_acknowledged_and_completed_at_once() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    for requested in ["{}", r#"{"toolsListChanged":false,"resourceSubscriptions":[]}"#, r#"{"unknown":true}"#]
    {
        let mut stream = server.listen("1", requested).await;
        assert_eq!(stream.acknowledged().await, json!({}), "{requested}");
        assert_eq!(stream.told().await, "result");
        assert_eq!(stream.rest().await, [] as [Value; 0]);
    }
}

#[tokio::test]
async fn promise_2_nothing_is_told_of_what_was_not_requested() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let mut stream =
        server.listening("1", r#"{"promptsListChanged":true,"resourceSubscriptions":["a:1"]}"#).await;
    subscriptions.publish(ToolsChanged);
    subscriptions.publish(ResourcesChanged);
    for uri in ["a:2", "a:1/x", "A:1", "a:", ""] {
        subscriptions.publish_for(uri, Updated(uri.into()));
        // Published for the right one, and yet about another.
        subscriptions.publish_for("a:1", Updated(uri.into()));
        subscriptions.publish(Updated(uri.into()));
    }
    subscriptions.publish(PromptsChanged);
    subscriptions.publish_for("a:1", Updated("a:1".into()));
    assert_eq!([stream.told().await, stream.told().await], ["prompts", "a:1"]);
}

#[tokio::test]
async fn promise_2_what_was_requested_as_false_or_as_an_empty_list_is_never_told() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let filter = r#"{"toolsListChanged":false,"promptsListChanged":true,"resourceSubscriptions":[]}"#;
    let mut stream = server.listen("1", filter).await;
    assert_eq!(stream.acknowledged().await, json!({"promptsListChanged": true}));
    assert_eq!(subscriptions.publish(ToolsChanged), 0);
    assert_eq!(subscriptions.publish_for("a:1", Updated("a:1".into())), 0);
    assert_eq!(subscriptions.publish(Updated("a:1".into())), 0);
    subscriptions.publish(PromptsChanged);
    assert_eq!(stream.told().await, "prompts");
}

#[tokio::test]
async fn promise_2_a_server_acknowledges_what_it_declares_and_ends_who_is_left_with_nothing() {
    let subscriptions = Subscriptions::builder(ListChanges::new().tools()).build();
    let server = Server::start(subscriptions.http());
    let all = r#"{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["file:///a"]}"#;
    let mut stream = server.listen("1", all).await;
    assert_eq!(stream.acknowledged().await, json!({"toolsListChanged": true}));
    let mut nothing = server.listen("2", r#"{"promptsListChanged":true}"#).await;
    assert_eq!(nothing.acknowledged().await, json!({}));
    assert_eq!(nothing.told().await, "result");
    assert!(nothing.rest().await.is_empty());
    assert_eq!(subscriptions.open_streams(), 1);
    assert_eq!(subscriptions.publish(ToolsListChanged), 1, "nobody else is in the index");
    assert_eq!(stream.told().await, "tools");
}

/// To the byte, headers and all: neither tells a caller that there is something to see.
#[tokio::test]
async fn promise_2_a_uri_that_may_not_be_seen_looks_like_one_that_does_not_exist() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    for (beside, ends) in [(r#""note://mine/y","#, false), ("", true)] {
        let mut seen = Vec::new();
        // The handler knows why it leaves one out; the client does not.
        for (uri, deny) in [("note://alice/x", "alice"), ("note://none/xyz", "none")] {
            let filter = format!(r#"{{"resourceSubscriptions":[{beside}"{uri}"]}}"#);
            let mut stream = server.send(&Request::listen("1", &filter).header("x-deny", deny)).await;
            stream.acknowledged().await;
            if ends {
                assert_eq!(stream.told().await, "result");
                stream.bytes().await;
            }
            assert_eq!(subscriptions.publish_for(uri, Updated(uri.into())), 0);
            let headers = ["content-type", "cache-control", "content-length", "www-authenticate"];
            let headers = headers.map(|name| stream.header(name).map(str::to_owned));
            seen.push((stream.status(), headers, stream.received().to_vec()));
        }
        assert_eq!(seen[0], seen[1]);
    }
}

#[tokio::test]
async fn promise_2_what_subscribe_takes_away_is_neither_acknowledged_nor_told() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let request = Request::listen(
        "1",
        r#"{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a:secret","a:1","b:secret"]}"#,
    );
    let mut stream = server.send(&request.header("x-deny", "secret").header("x-decline", "tools")).await;
    assert_eq!(
        stream.acknowledged().await,
        json!({"promptsListChanged": true, "resourceSubscriptions": ["a:1"]})
    );
    assert_eq!(subscriptions.publish(ToolsChanged), 0);
    assert_eq!(subscriptions.publish_for("a:secret", Updated("a:secret".into())), 0);
    subscriptions.publish(Updated("b:secret".into()));
    subscriptions.publish(PromptsChanged);
    assert_eq!(stream.told().await, "prompts");
}

#[tokio::test]
async fn promise_2_what_is_queued_before_subscribe_takes_it_away_is_not_told() {
    // With room for all, and without: then it is the note of what was missed that has to be narrowed.
    for slot in [16, 1] {
        let subscriptions =
            Probe::serve(|builder| builder.limits(mcp_sub::Limits::default().with_slot(slot)));
        let server = Server::start(subscriptions.http());
        let request = r#"{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a:secret","a:1"]}"#;
        let request = Request::listen("1", request).header("x-subscribe", "wait");
        let mut client = server.connect().await;
        client.write(&request.header("x-deny", "secret").header("x-decline", "tools")).await;
        subscriptions.handler().waits().await;
        assert_eq!(subscriptions.publish(ToolsChanged), 1);
        assert_eq!(subscriptions.publish_for("a:secret", Updated("a:secret".into())), 1);
        assert_eq!(subscriptions.publish_for("a:1", Updated("a:1".into())), 1);
        assert_eq!(subscriptions.publish(ToolsChanged), 1);
        assert_eq!(subscriptions.publish(PromptsChanged), 1);
        subscriptions.handler().release.add_permits(1);
        let mut stream = client.response().await;
        let honoured = stream.acknowledged().await;
        assert_eq!(honoured, json!({"promptsListChanged": true, "resourceSubscriptions": ["a:1"]}));
        assert_eq!([stream.told().await, stream.told().await], ["a:1", "prompts"], "slot of {slot}");
        subscriptions.publish_for("a:1", Updated("a:1".into()));
        assert_eq!(stream.told().await, "a:1");
    }
}

/// It would panic.
#[tokio::test]
async fn promise_2_no_method_runs_for_what_subscribe_took_away() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let request = Request::listen("1", r#"{"toolsListChanged":true,"promptsListChanged":true}"#);
    let mut client = server.connect().await;
    client.write(&request.header("x-subscribe", "wait").header("x-decline", "tools")).await;
    subscriptions.handler().waits().await;
    assert_eq!(subscriptions.publish(Tell::new("1", Act::Panic)), 1);
    subscriptions.publish(PromptsChanged);
    subscriptions.handler().release.add_permits(1);
    let mut stream = client.response().await;
    stream.acknowledged().await;
    assert_eq!(stream.told().await, "prompts");
}

#[tokio::test]
async fn promise_2_all_taken_away_is_as_nothing_requested() {
    let subscriptions = Probe::serve(|builder| builder);
    let server = Server::start(subscriptions.http());
    let request =
        Request::listen("1", r#"{"resourceSubscriptions":["a:secret"]}"#).header("x-deny", "secret");
    let mut stream = server.send(&request).await;
    assert_eq!(stream.acknowledged().await, json!({}));
    assert_eq!(stream.told().await, "result");
}

#[tokio::test]
async fn promise_2_a_handler_that_sends_what_it_does_not_declare_sends_nothing_of_it() {
    // A slot without room takes the way of the catch-up, which does not pass by the handler's method.
    for slot in [16, 0] {
        let limits = mcp_sub::Limits::default().with_slot(slot);
        let subscriptions = Subscriptions::builder(Hostile).limits(limits).keep_alive(None).build();
        let server = Server::start(subscriptions.http());
        let all = r#"{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a:1","a:2"]}"#;
        let mut everything = server.listen("1", all).await;
        assert_eq!(
            everything.acknowledged().await,
            json!({"toolsListChanged": true, "resourceSubscriptions": ["a:1", "a:2"]})
        );
        let mut tools = server.listening("2", r#"{"toolsListChanged":true}"#).await;
        let mut undeclared =
            server.listen("3", r#"{"promptsListChanged":true,"resourcesListChanged":true}"#).await;
        assert_eq!(undeclared.acknowledged().await, json!({}));
        assert_eq!(undeclared.told().await, "result");
        for _ in 0..2 {
            assert_eq!(subscriptions.publish_for("a:2", Whatever(vec!["a:2", "a:3", ""])), 2);
            let mut told = [everything.told().await, everything.told().await];
            told.sort();
            assert_eq!(told, ["a:2", "tools"]);
            assert_eq!(tools.told().await, "tools");
        }
    }
}

#[tokio::test]
async fn promise_2_what_holds_nothing_is_told_nothing() {
    let subscriptions = Probe::serve(|builder| builder.hold_empty(true));
    let server = Server::start(subscriptions.http());
    let mut stream = server.listen("1", "{}").await;
    assert_eq!(stream.acknowledged().await, json!({}));
    let published = [
        subscriptions.publish(ToolsChanged),
        subscriptions.publish(PromptsChanged),
        subscriptions.publish(ResourcesChanged),
        subscriptions.publish(Updated("a:1".into())),
        subscriptions.publish_for("a:1", Updated("a:1".into())),
        subscriptions.publish(Tell::new("1", Act::Panic)),
    ];
    assert_eq!(published, [0; 6]);
    assert_eq!(subscriptions.shutdown(mcp_sub_tests::PATIENCE).await.completed, 1);
    assert_eq!(stream.told().await, "result");
    assert_eq!(stream.rest().await, [] as [Value; 0]);
}
