//! Two handlers whose methods have one name, and one sends what it does not declare.

use mcp_sub::{Channel, Rejection, subscription_handler};

pub struct Files;
pub struct Tools;
pub struct Installed;

#[subscription_handler]
impl Files {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn installed(&self, _: &Installed, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
        channel.resources_list_changed();
    }
}

#[subscription_handler]
impl Tools {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn installed(&self, _: &Installed, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }
}

fn main() {}
