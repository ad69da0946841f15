//! An inbox by value.

use mcp_sub::{Channel, Inbox, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, inbox: Inbox) -> Result<(), Rejection> {
        inbox.send(Saved);
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }
}

fn main() {}
