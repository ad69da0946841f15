//! `subscribe` that returns an `Option`, and other methods take the state.

use mcp_sub::{Channel, Filter, subscription_handler};

pub struct Files;
pub struct Saved;
pub struct Session;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Option<Session> {
        Some(Session)
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>, _: &mut Session) {
        channel.resources_updated("file:///a");
    }

    #[emits(resources_updated)]
    async fn told(&self, _: &u8, channel: &mut Channel<'_>, _: &mut Session) {
        channel.resources_updated("file:///a");
    }

    async fn handle_close(&self, _: Session) {}
}

fn main() {}
