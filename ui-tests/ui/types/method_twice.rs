//! Two methods of one name.

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

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
    }

    #[emits(tools_list_changed)]
    fn saved(&self, _: &u8, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }
}

fn main() {}
