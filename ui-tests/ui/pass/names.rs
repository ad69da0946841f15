//! The author's items may have the names that the generated ones are about.
#![deny(warnings)]

use mcp_sub::{Channel, Rejection, Subscriptions, subscription_handler};

pub mod __private {}
pub mod markers {}
pub struct FilesHandler;
pub struct FilesEvent;

pub trait SubscriptionHandler {
    fn subscribe(&self) -> u8 {
        1
    }
    fn handle_event(&self) {}
    fn handle_close(&self) {}
}
impl SubscriptionHandler for Files {}

pub struct Files;

/// A second block is like any other, if it is not annotated.
impl Files {
    pub fn new() -> Self {
        Self
    }
    pub fn clone(&self) {}
    pub fn dispatch(&self) {}
    pub fn emitted() {}
    pub fn capabilities(&self) {}
    pub fn publish(&self) {}
    pub fn into(self) {}
}

#[subscription_handler]
impl Files {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed)]
    async fn narrowed(&self, _: &u8, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(tools_list_changed)]
    fn union(&self, _: &FilesEvent, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    /// With the name of a type, and of another event.
    #[emits(tools_list_changed)]
    async fn u8(&self, _: &u16, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    fn handle_close(&self) {}
}

/// Parameters with names of ours.
pub struct Pair<A, B>(pub A, pub B);

#[subscription_handler]
impl<Event: Send + Sync + 'static, State: Send + Sync + 'static> Pair<Event, State> {
    fn subscribe(&self) -> Result<Option<Event>, Rejection> {
        Ok(None)
    }

    #[emits(tools_list_changed)]
    async fn narrowed(&self, _: &State, channel: &mut Channel<'_>, _: &mut Option<Event>) {
        channel.tools_list_changed();
    }
}

fn main() {
    let subscriptions = Subscriptions::builder(Files::new()).build();
    subscriptions.publish(0_u8);
    subscriptions.publish(FilesEvent);
    let _ = (FilesHandler, Pair((), ()), SubscriptionHandler::subscribe(&Files));
}
