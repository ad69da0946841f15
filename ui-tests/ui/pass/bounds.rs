//! What the runtime needs of a generic handler need not be written: it is checked where the handler is used.
#![deny(warnings)]

use std::{borrow::Cow, fmt::Display};

use mcp_sub::{Channel, CloseReason, Flow, HandledBy, Rejection, SubscriptionHandler, subscription_handler};

pub struct Saved<T>(pub T);
struct Private;

pub struct Files<T, E>(pub T, pub E);

#[subscription_handler]
impl<T: AsRef<str> + Clone, E: Clone + Display> Files<T, E> {
    fn subscribe(&self) -> Result<T, Rejection> {
        Ok(self.0.clone())
    }

    #[emits(resources_updated)]
    fn saved(&self, Saved(uri): &Saved<T>, channel: &mut Channel<'_>, state: &mut T) -> Result<Flow, E> {
        channel.resources_updated(uri);
        *state = uri.clone();
        Err(self.1.clone())
    }

    #[emits(resources_updated)]
    async fn private(&self, _: &Private, channel: &mut Channel<'_>) -> Result<(), Cow<'static, str>> {
        channel.resources_updated(&self.0);
        Ok(())
    }

    async fn handle_close(&self, state: T, reason: CloseReason) {
        drop((state, reason));
    }
}

fn is_handler<H: SubscriptionHandler<State = String>>(_: H) {}
fn is_event<H: SubscriptionHandler, Ev: HandledBy<H>>(_: Ev) {}

fn main() {
    is_handler(Files(String::new(), 0));
    is_event::<Files<String, u8>, _>(Saved(String::new()));
    is_event::<Files<String, u8>, _>(Private);
}
