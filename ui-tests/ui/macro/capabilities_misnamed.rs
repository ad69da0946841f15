use mcp_sub::{Caller, Channel, Kinds, Rejection, subscription_handler};

pub struct Saved;

pub struct Files;

#[subscription_handler]
impl Files {
    pub fn subscriptions_capabilities(&self, _: &Caller) -> Kinds {
        Kinds::NONE
    }

    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///");
    }
}

fn main() {}
