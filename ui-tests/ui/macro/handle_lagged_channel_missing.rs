//! Nothing to tell it on.

use mcp_sub::{Channel, Filter, Missed, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }

    fn handle_lagged(&self, missed: &Missed<'_>) {
        missed.resources().for_each(|uri| println!("{uri}"));
    }
}

fn main() {}
