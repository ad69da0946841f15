//! Who is told what.

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

/// What is under this is nobody's to watch.
pub(crate) const PRIVATE: &str = "test://private/";

/// Tools, prompts and resources that change when somebody calls a tool.
pub(crate) struct Watched;

pub(crate) struct ToolsChanged;
pub(crate) struct PromptsChanged;
pub(crate) struct ResourcesChanged;
pub(crate) struct ResourceUpdated {
    pub(crate) uri: String,
}

#[subscription_handler]
impl Watched {
    /// Anyone may listen, to whatever is not private.
    fn subscribe(&self, filter: &mut Filter<'_>) -> Result<(), Rejection> {
        filter.retain_resources(|uri| !uri.starts_with(PRIVATE));
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
    fn resource_updated(&self, event: &ResourceUpdated, channel: &mut Channel<'_>) {
        channel.resources_updated(&event.uri);
    }
}
