//! A channel that lives as long as the event, in an `async fn`.

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    async fn saved<'a>(&self, a: &'a Saved, channel: &mut Channel<'a>) {
        let _ = a;
        channel.resources_updated("file:///a");
    }
}

fn main() {}
