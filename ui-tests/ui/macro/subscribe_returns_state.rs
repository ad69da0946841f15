//! `subscribe` that returns the state alone. The second error is about the state, which is then unknown.

use mcp_sub::{Channel, Filter, subscription_handler};

pub struct Files;
pub struct Saved;
pub struct State;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> State {
        State
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>, _: &mut State) {
        channel.resources_updated("file:///a");
    }
}

fn main() {}
