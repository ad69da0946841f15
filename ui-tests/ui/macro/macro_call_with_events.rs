//! Methods for events that a macro makes cannot be seen, and are not reported for what they send.
#![allow(unused)]

macro_rules! on_saved {
    ($notification:ident, $name:ident) => {
        #[emits($notification)]
        async fn $name(&self, _: &Saved, channel: &mut Channel<'_>) {
            channel.$notification();
        }
    };
}

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    on_saved!(resources_list_changed, saved);
}

fn main() {}
