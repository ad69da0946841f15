//! A server whose streams are polled by hand, in process.

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use mcp_sub::{
    Channel, Rejection, Subscriptions,
    http::Body,
    relay::{Attached, Bus, Relay},
    subscription_handler,
};
use serde::{Deserialize, Serialize};
use tower_service::Service as _;

#[derive(Serialize, Deserialize)]
pub struct ToolsChanged;

#[derive(Serialize, Deserialize)]
pub struct Saved {
    uri: String,
}

pub struct Files;

#[subscription_handler(relay)]
impl Files {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn tools_changed(&self, _: &ToolsChanged, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(resources_updated)]
    fn saved(&self, event: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated(&event.uri);
    }
}

pub struct Replica {
    pub server: Subscriptions<Files>,
    pub relay: Attached,
}

impl Replica {
    pub fn new(bus: impl Bus) -> Self {
        let server = Subscriptions::builder(Files).build();
        let relay = Relay::over(bus).attach(server.hub());
        Self { server, relay }
    }

    pub fn save(&self, uri: &str) {
        self.server.publish_for(uri, Saved { uri: uri.into() });
    }

    /// A stream that has been acknowledged.
    pub async fn listen(&self, notifications: &str) -> Stream {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{{{meta},"notifications":{notifications}}}}}"#
        );
        let request = Request::post("/mcp")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "subscriptions/listen")
            .body(Full::new(Bytes::from(body)))
            .expect("it is a request");
        let response = self.server.http().call(request).await.expect("it never fails");
        assert_eq!(response.status(), 200);
        let mut stream = Stream(response.into_body());
        stream.frame().await;
        stream
    }
}

pub struct Stream(Body);

impl Stream {
    pub async fn frame(&mut self) -> Bytes {
        let frame = self.0.frame().await.expect("it goes on").expect("it never fails");
        frame.into_data().unwrap_or_default()
    }
}
