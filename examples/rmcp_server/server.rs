//! The MCP server, on rmcp. What is about subscriptions is one line in each of six methods.

use std::sync::Arc;

use mcp_sub::Subscriptions;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject,
        ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
        ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ServerCapabilities,
        ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};

use crate::{
    changes::{Changes, NoteAdded, NoteWritten, ToolsChanged},
    store::{Store, is_note_name, note_name, note_uri},
};

/// Cheap to clone: rmcp makes one for each session, and for each request of this revision.
#[derive(Clone)]
pub(crate) struct Server {
    store: Arc<Store>,
    subscriptions: Subscriptions<Changes>,
}

impl Server {
    pub(crate) fn new(subscriptions: Subscriptions<Changes>) -> Self {
        Self { store: Arc::default(), subscriptions }
    }

    /// The tools that are always there.
    fn call(&self, name: &str, arguments: &JsonObject) -> Option<Result<String, String>> {
        Some(match name {
            "install_tool" => text(arguments, "name").and_then(|name| self.install(name)),
            "uninstall_tool" => text(arguments, "name").map(|name| self.uninstall(name)),
            "write_note" => text(arguments, "name")
                .and_then(|name| text(arguments, "text").map(|text| (name, text)))
                .and_then(|(name, text)| self.write_note(name, text)),
            _ => {
                let installed = self.store.installed();
                let tool = installed.into_iter().find(|tool| tool.name == name)?;
                text(arguments, "text").map(tool.run)
            }
        })
    }

    fn install(&self, name: &str) -> Result<String, String> {
        let changed =
            self.store.install(name).ok_or_else(|| format!("there is no tool {name:?} to install"))?;
        // After the new list can be read, and only where it is a new one.
        if changed {
            self.subscriptions.publish(ToolsChanged);
        }
        Ok(format!("{name} is installed"))
    }

    fn uninstall(&self, name: &str) -> String {
        if self.store.uninstall(name) {
            self.subscriptions.publish(ToolsChanged);
        }
        format!("{name} is not installed")
    }

    fn write_note(&self, name: &str, text: &str) -> Result<String, String> {
        if !is_note_name(name) {
            return Err(format!("{name:?} is no name: up to 64 letters, digits and `-`"));
        }
        let uri = note_uri(name);
        if self.store.write(name, text) {
            self.subscriptions.publish(NoteAdded);
        }
        self.subscriptions.publish_for(&uri, NoteWritten { uri: uri.clone() });
        Ok(uri)
    }
}

#[allow(deprecated, reason = "`subscribe` and `unsubscribe` are, and clients of 2025-11-25 call them")]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(self.subscriptions.advertise(capabilities))
            .with_server_info(Implementation::new("rmcp_server", env!("CARGO_PKG_VERSION")))
    }

    // Clients of 2026-07-28.

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.subscriptions.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.subscriptions.listen(context).await
    }

    // Clients of 2025-11-25.

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.subscriptions.legacy().on_initialized(context).await;
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.legacy().subscribe(request, context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.legacy().unsubscribe(&request, &context)
    }

    // What every server has.

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let always = [
            Tool::new("install_tool", "Installs a tool: count_words, reverse or shout", schema(&["name"])),
            Tool::new("uninstall_tool", "Uninstalls a tool", schema(&["name"])),
            Tool::new("write_note", "Writes a note, which is a resource", schema(&["name", "text"])),
        ];
        let installed = self.store.installed();
        let installed =
            installed.iter().map(|tool| Tool::new(tool.name, tool.description, schema(&["text"])));
        Ok(ListToolsResult::with_all_items(always.into_iter().chain(installed).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let called = self
            .call(&request.name, &arguments)
            .ok_or_else(|| ErrorData::invalid_params(format!("there is no tool {:?}", request.name), None))?;
        let result = match called {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(text) => CallToolResult::error(vec![ContentBlock::text(text)]),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let notes = self.store.notes();
        let resources =
            notes.iter().map(|name| Resource::new(note_uri(name), name).with_mime_type("text/plain"));
        Ok(ListResourcesResult::with_all_items(resources.collect()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let Some(text) = note_name(&uri).and_then(|name| self.store.read(name)) else {
            return Err(ErrorData::resource_not_found("there is no such note", Some(json!({ "uri": uri }))));
        };
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri)]).into())
    }
}

fn text<'a>(arguments: &'a JsonObject, name: &str) -> Result<&'a str, String> {
    arguments.get(name).and_then(Value::as_str).ok_or_else(|| format!("`{name}` is missing, or no text"))
}

/// An object of texts, all of which are needed.
fn schema(names: &[&str]) -> JsonObject {
    let properties = names.iter().map(|&name| (name.to_owned(), json!({ "type": "string" }))).collect();
    [
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), Value::Object(properties)),
        ("required".to_owned(), json!(names)),
    ]
    .into_iter()
    .collect()
}
