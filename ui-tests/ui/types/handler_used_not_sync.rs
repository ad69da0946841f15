//! A generic handler of something that cannot be shared, where it is used.

use mcp_sub::{Channel, Filter, Rejection, SubscriptionHandler, subscription_handler};

pub struct Saved;

pub struct Files<T>(T);

#[subscription_handler]
impl<T> Files<T> {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }
}

fn is_handler<H: SubscriptionHandler>(_: H) {}

fn main() {
    is_handler(Files(0));
    is_handler(Files(std::cell::Cell::new(0)));
}
