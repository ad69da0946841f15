use mcp_sub::{Channel, Rejection, subscription_handler};

pub struct Saved;

pub struct Files;

#[subscription_handler]
impl Files {
    #[cfg(any())]
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///");
    }
}

fn main() {
    let _ = (mcp_sub::Subscriptions::builder(Files).build(), None::<Rejection>);
}
