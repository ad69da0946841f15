//! A parameter that nobody could pass to `subscription_capabilities`.

use mcp_sub::{Channel, Filter, Kinds, ListenRequest, Rejection, subscription_handler};

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

    fn subscription_capabilities(&self, _: &ListenRequest) -> Kinds {
        Kinds::RESOURCES_UPDATED
    }
}

fn main() {}
