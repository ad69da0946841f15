//! Who is told what.

use mcp_sub::{Channel, Rejection, subscription_handler};

/// Tools and resources of which it is only known that they change.
pub(crate) struct Things;

pub(crate) struct ToolsChanged;
pub(crate) struct ResourceChanged(pub(crate) String);

#[subscription_handler]
impl Things {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn tools_changed(&self, _: &ToolsChanged, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(resources_updated)]
    fn resource_changed(&self, event: &ResourceChanged, channel: &mut Channel<'_>) {
        channel.resources_updated(&event.0);
    }
}
