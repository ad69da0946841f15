//! A method sends what it does not declare.

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed, resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
        channel.prompts_list_changed();
        channel.resources_updated("file:///a");
    }
}

fn main() {}
