//! An event that no method takes, in the inbox.

use mcp_sub::{Channel, Inbox, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;
pub struct Renamed;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, inbox: &Inbox) -> Result<(), Rejection> {
        inbox.send(Renamed);
        inbox.send_for("file:///a", Renamed);
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }
}

fn main() {}
