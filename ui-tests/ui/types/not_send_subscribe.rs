//! A future of `subscribe` that is not `Send`.

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, filter: &mut Filter<'_>) -> Result<(), Rejection> {
        let shared = std::rc::Rc::new(filter.is_empty());
        std::future::ready(()).await;
        drop(shared);
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }
}

fn main() {}
