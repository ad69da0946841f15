//! A handler that publishes itself.
#![deny(warnings)]

use std::sync::OnceLock;

use mcp_sub::{Channel, Hub, Rejection, Subscriptions, subscription_handler};

struct Told;
pub struct Heard<T>(T);

#[derive(Default)]
struct Files {
    hub: OnceLock<Hub<Self>>,
}

#[subscription_handler]
impl Files {
    async fn subscribe(&self) -> Result<(), Rejection> {
        self.hub.get().map(|hub| hub.publish(Told));
        Ok(())
    }

    #[emits(tools_list_changed)]
    async fn told(&self, _: &Told, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }
}

#[derive(Default)]
pub struct Whole<T: Send + Sync + 'static> {
    subscriptions: OnceLock<Subscriptions<Self>>,
}

#[subscription_handler]
impl<T: Send + Sync + 'static> Whole<T> {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed)]
    async fn heard(&self, _: &Heard<T>, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }
}

fn is_shared<T: Send + Sync + 'static>(_: &T) {}

fn main() {
    let files = Files::default();
    is_shared(&files);
    let whole = Whole::default();
    is_shared(&whole);
    let _ = || whole.subscriptions.get().map(|subscriptions| subscriptions.publish(Heard(0)));
}
