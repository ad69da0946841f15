//! The first error is about the option, the second about the channel, which the block itself names.

use mcp_sub::{Channel, Rejection, subscription_handler};

pub struct Saved;

pub struct Files;

#[subscription_handler(crate = nowhere::sub)]
impl Files {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///");
    }
}

fn main() {}
