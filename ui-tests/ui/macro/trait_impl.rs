//! The impl of a trait.

use mcp_sub::subscription_handler;

pub struct Files;

#[subscription_handler]
impl Clone for Files {
    fn clone(&self) -> Self {
        Files
    }
}

fn main() {}
