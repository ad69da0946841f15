//! `subscribe` that returns a future.

use mcp_sub::{Channel, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler]
impl Files {
    fn subscribe(&self) -> impl Future<Output = Result<(), Rejection>> + Send {
        std::future::ready(Ok(()))
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }
}

fn main() {}
