//! Not an impl block.

use mcp_sub::subscription_handler;

#[subscription_handler]
#[derive(Debug)]
pub struct Files;

fn main() {}
