//! A block without `subscribe`. Nothing else is reported where the handler is used.

use mcp_sub::{Channel, Handles, SubscriptionHandler, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler]
impl Files {
    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }
}

fn is_handler<H: SubscriptionHandler + Handles<Saved>>() {}

fn main() {
    is_handler::<Files>();
}
