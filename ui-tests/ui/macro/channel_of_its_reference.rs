//! A channel that lives as long as the reference to it.

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved<'a>(&self, _: &Saved, channel: &'a mut Channel<'a>) {
        channel.resources_updated("file:///a");
    }
}

fn main() {}
