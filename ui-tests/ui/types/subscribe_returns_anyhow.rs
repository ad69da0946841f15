//! An alias of `Result` whose error is no rejection, and another method takes the state.

use mcp_sub::{Channel, Filter, subscription_handler};

pub struct Files;
pub struct Saved;
pub struct Session;

pub struct AnyError;
pub type Fallible<T, E = AnyError> = Result<T, E>;

#[subscription_handler]
impl Files {
    async fn subscribe(&self, _: &mut Filter<'_>) -> Fallible<Session> {
        Ok(Session)
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>, _: &mut Session) {
        channel.resources_updated("file:///a");
    }

    fn handle_close(&self, _: Session) {}
}

fn main() {}
