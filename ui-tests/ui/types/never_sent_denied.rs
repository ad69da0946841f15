//! The level that the method sets is that of the warning, too.

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    #[deny(dead_code)]
    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, _: &mut Channel<'_>) {}
}

fn main() {}
