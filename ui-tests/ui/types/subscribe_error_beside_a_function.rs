use mcp_sub::{Channel, subscription_handler};

pub struct Saved;

pub struct Files;

#[subscription_handler]
impl Files {
    fn subscribe(&self) -> Result<Box<dyn Fn(&str) -> bool + Send>, std::num::ParseIntError> {
        Ok(Box::new(str::is_empty))
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///");
    }
}

fn main() {}
