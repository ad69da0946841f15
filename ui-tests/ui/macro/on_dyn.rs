//! The impl block of something that has no name.

use mcp_sub::{Channel, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;

trait Trait {}

#[subscription_handler]
impl dyn Trait {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }
}

fn main() {}
