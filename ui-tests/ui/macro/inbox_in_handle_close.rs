//! An inbox of what has ended.

use mcp_sub::{Channel, Filter, Inbox, Rejection, subscription_handler};

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

    fn handle_close(&self, inbox: &Inbox) {
        inbox.send(Saved);
    }
}

fn main() {}
