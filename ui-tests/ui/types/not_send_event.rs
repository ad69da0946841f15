//! A future that is not `Send`.

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
        let shared = std::rc::Rc::new(0);
        std::future::ready(()).await;
        channel.resources_updated("file:///a");
        drop(shared);
    }
}

fn main() {}
