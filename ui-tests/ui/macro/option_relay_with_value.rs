//! The option `relay` says all that there is to say.

use mcp_sub::{Channel, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler(relay = true, event = FilesEvent)]
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
