//! A handler whose events were not made for it is attached to a relay.

use mcp_sub::{
    Channel, Rejection, Subscriptions,
    relay::{Bus, Relay},
    subscription_handler,
};

pub struct Files;
pub struct Saved;

#[subscription_handler]
impl Files {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }
}

fn attach(bus: impl Bus) {
    let subscriptions = Subscriptions::builder(Files).build();
    let _relay = Relay::over(bus).attach(subscriptions.hub());
}

fn main() {}
