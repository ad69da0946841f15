//! An event that can neither be shared nor sent: two errors, which are rustc's, one for each.

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

pub struct Files;
pub struct Saved(std::rc::Rc<u8>);

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }
}

fn main() {}
