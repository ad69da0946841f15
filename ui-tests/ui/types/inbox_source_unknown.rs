//! A source of what no method takes.

use mcp_sub::{Channel, Inbox, Rejection, subscription_handler};

pub struct Files;
pub struct Saved;
pub struct Renamed;
pub struct Source;

impl futures_core::Stream for Source {
    type Item = Renamed;
    fn poll_next(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Renamed>> {
        std::task::Poll::Pending
    }
}

#[subscription_handler]
impl Files {
    async fn subscribe(&self, inbox: &Inbox) -> Result<(), Rejection> {
        inbox.attach(Source);
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }
}

fn main() {}
