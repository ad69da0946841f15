//! One error for `Send`, and one for `Sync`: the method's future holds a reference to the event.

use mcp_sub::{Channel, Rejection, subscription_handler};

pub struct Saved(std::rc::Rc<u8>);

pub struct Files;

#[subscription_handler]
impl Files {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    async fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///");
    }
}

fn main() {}
