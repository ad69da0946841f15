//! `#[emits(...)]` under another name, which the block does not know.

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;
use mcp_sub::emits as sends;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn kept(&self, _: &u8, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }

    #[sends(resources_updated)]
    fn saved(&self, _: &Saved, _: &mut Channel<'_>) {}
}

fn main() {}
