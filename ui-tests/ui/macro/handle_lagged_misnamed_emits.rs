//! `handle_lagged` as if it took an event.

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

    #[emits(resources_updated)]
    fn on_lagged(&self, missed: &Missed<'_>, channel: &mut Channel<'_>) {
        channel.catch_up(missed);
    }
}

fn main() {}
