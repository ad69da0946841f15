//! Not an impl block.

use mcp_sub::subscription_handler;

pub struct Files;

#[subscription_handler]
async fn subscribe() {}

fn main() {}
