//! Not on a block.

use mcp_sub::subscription_handler;

#[subscription_handler]
mod files {}

fn main() {}
