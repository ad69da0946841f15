//! A notification by the name of its type.

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(ToolsListChanged)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }
}

fn main() {}
