//! A state, and no channel.

use mcp_sub::{Filter, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, _: &mut ()) {}
}

fn main() {}
