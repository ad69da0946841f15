//! An event that no method takes.

use mcp_sub::{Channel, Filter, Rejection, Subscriptions, subscription_handler};

pub struct Files;
pub struct Saved;
pub struct Renamed;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }
}

fn main() {
    let subscriptions = Subscriptions::builder(Files).build();
    subscriptions.publish_for("file:///a", Saved);
    subscriptions.publish_for("file:///a", Renamed);
}
