//! `subscribe` that returns something else, which no other method takes.

use mcp_sub::{Channel, Filter, subscription_handler};

pub struct Files;
pub struct Saved;
pub struct Answer;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Answer {
        Answer
    }

    #[emits(resources_updated)]
    async fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }
}

fn main() {}
