use mcp_sub::{Channel, Rejection, subscription_handler};

pub struct Saved;
pub struct Moved;

pub struct Files;

#[subscription_handler]
impl Fils {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///");
    }

    #[emits(resources_list_changed)]
    async fn moved(&self, _: &Moved, channel: &mut Channel<'_>) {
        channel.resources_list_changed();
    }
}

fn main() {}
