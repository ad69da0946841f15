//! Six mistakes in one block: six errors.

use mcp_sub::{Channel, subscription_handler};

pub struct Files;

#[subscription_handler]
impl Files {
    #[emits(tool_list_changed)]
    fn one(&self, _: &u8, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(tools_list_changed)]
    fn two(&mut self, _: u16, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(tools_list_changed)]
    fn three(&self, _: &u32) {}

    #[emits(prompts_list_changed)]
    fn four(&self, _: &u64, channel: &mut Channel<'_>) {
        channel.prompts_list_changed();
    }

    #[emits(prompts_list_changed)]
    fn five(&self, _: &u64, channel: &mut Channel<'_>) {
        channel.prompts_list_changed();
    }

    fn helper(&self) -> u8 {
        0
    }
}

fn main() {
    assert_eq!(Files.helper(), 0);
}
