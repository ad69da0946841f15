//! An option is given once.

use mcp_sub::{Channel, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler(relay, relay)]
impl Files {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }
}

fn main() {}
