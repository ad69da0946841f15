//! `#[emits(...)]` in a block without `#[subscription_handler]`.

pub struct Files;
use mcp_sub::emits;

impl Files {
    #[emits(tools_list_changed)]
    fn saved(&self) {}
}

fn main() {}
