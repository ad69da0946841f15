//! A handler that borrows.

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

pub struct Saved;

pub struct Files<'a>(&'a str);

#[subscription_handler]
impl<'a> Files<'a> {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated(self.0);
    }
}

fn main() {}
