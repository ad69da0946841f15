//! Methods of the block that the runtime does not call.
#![deny(warnings)]

use mcp_sub::{
    Channel, CloseReason, Emits, Filter, Rejection, ResourcesUpdated, ToolsListChanged, subscription_handler,
};

struct Files {
    closed: std::sync::Mutex<Vec<CloseReason>>,
}

struct Saved {
    uri: String,
}

#[subscription_handler]
impl Files {
    async fn subscribe(&self, filter: &mut Filter<'_>) -> Result<(), Rejection> {
        Self::only_files(filter);
        self.no_tools(filter);
        Ok(())
    }

    /// A filter here is one of this handler.
    fn only_files(filter: &mut Filter<'_>) {
        filter.retain_resources(|uri| uri.starts_with("file:"));
    }

    fn no_tools(&self, filter: &mut Filter<'_>) {
        if self.asks(filter) {
            filter.decline::<ToolsListChanged>();
        }
    }

    fn asks(&self, filter: &Filter<'_>) -> bool {
        filter.wants::<ToolsListChanged>()
    }

    #[emits(tools_list_changed, resources_updated)]
    fn saved<'a>(&self, event: &'a Saved, channel: &'a mut Channel<'_>) {
        self.tell(event, channel);
    }

    #[emits(tools_list_changed)]
    async fn named<'c>(&self, _: &u8, channel: &mut Channel<'c>) {
        channel.tools_list_changed();
    }

    fn tell<E: Emits<ToolsListChanged> + Emits<ResourcesUpdated>>(
        &self,
        event: &Saved,
        channel: &mut Channel<'_, E>,
    ) {
        channel.tools_list_changed();
        channel.resources_updated(&event.uri);
    }

    fn handle_close(&self, reason: CloseReason) {
        self.remember(reason);
    }

    fn remember(&self, reason: CloseReason) {
        self.closed.lock().unwrap().push(reason);
    }
}

fn main() {
    let _ = (Files { closed: Vec::new().into() }, Saved { uri: String::new() });
}
