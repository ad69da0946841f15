//! What a server answers that serves subscriptions alone.

use mcp_sub_tests::{Lines, Probe, Server, message};

#[tokio::test]
async fn the_answers_are_those_of_http() {
    let subscriptions = Probe::serve(|builder| builder.instructions("read"));
    let server = Server::start(subscriptions.http());
    let mut client = Lines::connect(&subscriptions);
    for method in [
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "ping",
    ] {
        client.send(&[message("\"a\"", method, "")]).await;
        let over_http = server
            .connect()
            .await
            .send(&mcp_sub_tests::Request::call("\"a\"", method, ""))
            .await
            .json()
            .await;
        assert_eq!(client.message().await, over_http);
    }
}

#[tokio::test]
async fn what_is_known_of_a_client_reaches_subscribe() {
    use mcp_sub::{Channel, Filter, ListenRequest, Rejection, Subscriptions, subscription_handler};

    #[derive(Clone)]
    struct User(&'static str);
    struct Changed;
    struct Private;

    #[subscription_handler]
    #[expect(clippy::unused_self, reason = "the attribute asks for this shape")]
    impl Private {
        fn subscribe(&self, filter: &mut Filter<'_>, request: &ListenRequest) -> Result<(), Rejection> {
            assert!(request.headers().is_empty());
            let user = request.extension::<User>().ok_or_else(Rejection::unauthorized)?;
            filter.retain_resources(|uri| uri == user.0);
            Ok(())
        }
        #[emits(resources_updated)]
        fn changed(&self, _: &Changed, channel: &mut Channel<'_>) {
            channel.resources_updated("x:b");
        }
    }

    let subscriptions = Subscriptions::builder(Private).build();
    let mut client = Lines::to(|reader, writer| subscriptions.stdio(reader, writer).extension(User("x:b")));
    let honoured = client.listening("1", r#"{"resourceSubscriptions":["x:a","x:b"]}"#).await;
    assert_eq!(honoured["resourceSubscriptions"], serde_json::json!(["x:b"]));
    subscriptions.publish(Changed);
    assert_eq!(client.told().await.1, "x:b");
    let mut nobody = Lines::connect(&subscriptions);
    nobody.listen("1", r#"{"resourceSubscriptions":["x:a"]}"#).await;
    assert_eq!(nobody.message().await["error"]["code"], -32603);
}
