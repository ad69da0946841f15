//! What the server behind says has changed, and what clients are told then.

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
    routing::post,
};
use mcp_sub::{Channel, Rejection, Subscriptions, subscription_handler};
use serde_json::Value;

/// The server behind. It is asked for its capabilities: of what it does not have, nothing is told.
pub(crate) struct Upstream;

pub(crate) struct ToolsChanged;
pub(crate) struct PromptsChanged;
pub(crate) struct ResourcesChanged;
pub(crate) struct Updated(String);

#[subscription_handler]
impl Upstream {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn tools_changed(&self, _: &ToolsChanged, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(prompts_list_changed)]
    fn prompts_changed(&self, _: &PromptsChanged, channel: &mut Channel<'_>) {
        channel.prompts_list_changed();
    }

    #[emits(resources_list_changed)]
    fn resources_changed(&self, _: &ResourcesChanged, channel: &mut Channel<'_>) {
        channel.resources_list_changed();
    }

    #[emits(resources_updated)]
    fn updated(&self, event: &Updated, channel: &mut Channel<'_>) {
        channel.resources_updated(&event.0);
    }
}

/// `POST /changed`, with `{"list":"tools"}`, `"prompts"` or `"resources"`, or `{"resource":"URI"}`.
pub(crate) fn router(subscriptions: Subscriptions<Upstream>) -> Router {
    Router::new().route("/changed", post(changed)).with_state(subscriptions)
}

async fn changed(
    State(subscriptions): State<Subscriptions<Upstream>>,
    headers: HeaderMap,
    body: String,
) -> StatusCode {
    // A page of any site can post to this port, but not with this type.
    if headers.get(CONTENT_TYPE).is_none_or(|media| media != "application/json") {
        return StatusCode::UNSUPPORTED_MEDIA_TYPE;
    }
    let change: Value = serde_json::from_str(&body).unwrap_or_default();
    match (change["list"].as_str(), change["resource"].as_str()) {
        (Some("tools"), None) => subscriptions.publish(ToolsChanged),
        (Some("prompts"), None) => subscriptions.publish(PromptsChanged),
        (Some("resources"), None) => subscriptions.publish(ResourcesChanged),
        (None, Some(uri)) => subscriptions.publish_for(uri, Updated(uri.to_owned())),
        _ => return StatusCode::BAD_REQUEST,
    };
    StatusCode::NO_CONTENT
}
