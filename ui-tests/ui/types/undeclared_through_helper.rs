//! The same, through a helper that says what it sends.

use mcp_sub::{Channel, Emits, Filter, Rejection, ToolsListChanged, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
        tell(channel);
    }
}

fn tell<E: Emits<ToolsListChanged>>(channel: &mut Channel<'_, E>) {
    channel.tools_list_changed();
}

fn main() {}
