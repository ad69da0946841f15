//! An event that borrows from what it is read from: it would not outlive the message.

use mcp_sub::{Channel, Rejection, subscription_handler};

use serde::{Deserialize, Serialize};

pub struct Files;

#[derive(Serialize, Deserialize)]
pub struct Saved {
    uri: &'static str,
}

#[subscription_handler(relay)]
impl Files {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }
}

fn main() {}
