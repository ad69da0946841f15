//! Methods that a macro makes cannot be seen.

macro_rules! on_saved {
    ($name:ident) => {
        fn $name(&self) {}
    };
}

use mcp_sub::{Filter, Rejection, subscription_handler};

pub struct Files;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    on_saved!(saved);
}

fn main() {}
