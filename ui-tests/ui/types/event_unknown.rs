//! An event of a type that does not exist. rustc looks for it in the signature and again in the impl for it, and has
//! other advice there, so it says it twice.

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

pub struct Files;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Missing, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }
}

fn main() {}
