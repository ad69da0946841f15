//! Two blocks for one handler. The second error is rustc's, about the two impls of the trait.

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;
pub struct Installed;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }
}

#[subscription_handler]
impl Files {
    #[emits(tools_list_changed)]
    fn installed(&self, _: &Installed, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }
}

fn main() {}
