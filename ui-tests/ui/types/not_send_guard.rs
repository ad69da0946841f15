//! A lock that is held while waiting.

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    async fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        let lock = std::sync::Mutex::new(());
        let guard = lock.lock();
        std::future::ready(()).await;
        channel.resources_updated("file:///a");
        drop(guard);
    }
}

fn main() {}
