//! Capabilities that may be none.

use mcp_sub::{Caller, Channel, Filter, Kinds, Rejection, subscription_handler};

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

    fn subscription_capabilities(&self, _: &Caller) -> Option<Kinds> {
        None
    }
}

fn main() {}
