//! Not on a block.

use mcp_sub::subscription_handler;

#[subscription_handler]
pub trait Files {}

fn main() {}
