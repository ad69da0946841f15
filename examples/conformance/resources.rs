//! The resources.

use rmcp::{
    ErrorData,
    model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};
use serde_json::json;

use crate::{contents::PNG, watched::PRIVATE};

pub(crate) fn all() -> Vec<Resource> {
    let resource = |uri: &str, mime_type: &str, description: &str| {
        Resource::new(uri, uri).with_mime_type(mime_type).with_description(description)
    };
    vec![
        resource("test://static-text", "text/plain", "A text"),
        resource("test://static-binary", "image/png", "A picture"),
        resource("test://watched-resource", "text/plain", "Updated by `test_update_resource`"),
        resource(&format!("{PRIVATE}notes"), "text/plain", "Can be read, and not be subscribed to"),
    ]
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = ResourceTemplate::new("test://template/{id}/data", "template");
    vec![template.with_mime_type("application/json").with_description("The data of an id")]
}

/// # Errors
/// There is no such resource.
pub(crate) fn read(uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let contents = if let Some(id) = of_template(uri) {
        let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
        ResourceContents::text(data.to_string(), uri).with_mime_type("application/json")
    } else if uri == "test://static-binary" {
        ResourceContents::blob(PNG, uri).with_mime_type("image/png")
    } else if all().iter().any(|resource| resource.uri == uri) {
        ResourceContents::text("This is the content of the static text resource.", uri)
    } else {
        let unknown = format!("there is no resource {uri:?}");
        return Err(ErrorData::invalid_params(unknown, Some(json!({ "uri": uri }))));
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

fn of_template(uri: &str) -> Option<&str> {
    let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
    (!id.is_empty() && !id.contains('/')).then_some(id)
}
