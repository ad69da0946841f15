//! A call that is nearly right.

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.tool_list_changed();
    }
}

fn main() {}
