//! A function beside the block that does not say what it sends.

use mcp_sub::Channel;

pub fn tell(channel: &mut Channel<'_>) {
    channel.tools_list_changed();
}

fn main() {}
