//! A channel that may not be there.

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: Option<&mut Channel<'_>>) {
        if let Some(channel) = channel {
            channel.resources_updated("file:///a");
        }
    }
}

fn main() {}
