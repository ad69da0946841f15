//! The filter in the place of another.

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, filter: &mut Filter<'_>) -> Result<(), Rejection> {
        std::mem::swap(filter, kept());
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }
}

fn kept<'a>() -> &'a mut Filter<'static, Files> {
    unreachable!()
}

fn main() {}
