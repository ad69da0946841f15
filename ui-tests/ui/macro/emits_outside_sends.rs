//! `#[emits(...)]` in a block without `#[subscription_handler]`, on a method that sends.

use mcp_sub::Channel;

pub struct Files;
pub struct Saved;

impl Files {
    #[mcp_sub::emits(tools_list_changed)]
    pub async fn saved(&self, _: &Saved, channel: &mut Channel<'_>) -> Result<(), String> {
        channel.tools_list_changed();
        Ok(())
    }
}

fn main() {}
