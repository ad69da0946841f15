//! Generated code may use what is deprecated; what the author writes is still reported.
#![deny(warnings)]

use mcp_sub::{Channel, CloseReason, Filter, Rejection, subscription_handler};

#[deprecated]
pub struct Event;
#[deprecated = "say more"]
pub struct Other;
#[deprecated(since = "1.0.0", note = "say more")]
pub struct State;
#[deprecated(note = "serve something else")]
pub struct Files;

#[allow(deprecated)]
#[subscription_handler(event = FilesEvent)]
impl Files {
    #[deprecated]
    pub async fn subscribe(&self, _: &mut Filter<'_>) -> Result<State, Rejection> {
        Ok(State)
    }

    #[deprecated = "say more"]
    #[emits(tools_list_changed)]
    pub fn event(&self, _: &Event, channel: &mut Channel<'_>, _: &mut State) {
        channel.tools_list_changed();
    }

    #[deprecated(since = "1.0.0", note = "say more")]
    #[emits(tools_list_changed)]
    pub async fn other(&self, _: &Other, channel: &mut Channel<'_>, _: &mut State) {
        channel.tools_list_changed();
    }

    #[deprecated(note = "say more")]
    pub async fn handle_close(&self, _: CloseReason, _: State) {}
}

/// Nothing but the methods is deprecated.
pub struct Methods;

#[subscription_handler]
impl Methods {
    #[deprecated]
    fn subscribe(&self) -> Result<(), Rejection> {
        #[expect(deprecated)]
        self.helper();
        Ok(())
    }

    #[emits(tools_list_changed)]
    #[deprecated]
    async fn event(&self, _: &u8, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[deprecated]
    fn helper(&self) {}

    #[deprecated]
    fn handle_close(&self) {}
}

fn main() {}
