use mcp_sub::{Channel, Rejection, Subscriptions, subscription_handler};

pub struct Saved;

pub struct Files;

#[subscription_handler]
impl Files {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    async fn saved(&self, _: &Saved, channel: &mut Channel<'_>) -> Option<()> {
        channel.resources_updated("file:///");
        None
    }
}

fn main() {
    Subscriptions::builder(Files).build().publish(Saved);
}
