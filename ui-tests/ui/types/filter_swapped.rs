//! The filter of another request in the place of this one.

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, filter: &mut Filter<'_>) -> Result<(), Rejection> {
        if let Some(other) = kept() {
            *filter = other;
        }
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }
}

fn kept() -> Option<Filter<'static, Files>> {
    None
}

fn main() {}
