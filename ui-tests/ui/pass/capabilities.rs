//! What each caller may be told of.
#![deny(warnings)]

use mcp_sub::{Caller, Channel, Kinds, Rejection, SubscriptionHandler, subscription_handler};

pub struct Saved;
pub struct Files(Kinds);

#[subscription_handler]
impl Files {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }

    fn subscription_capabilities(&self, caller: &Caller) -> Kinds {
        println!("{caller:?}");
        self.0
    }
}

/// The same for every caller, but known at run time only; one of two.
pub struct Configured(Kinds);
type Answer = Kinds;

#[subscription_handler]
impl Configured {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[cfg(all())]
    fn subscription_capabilities(&self) -> Answer {
        self.0
    }

    #[cfg(any())]
    fn subscription_capabilities(&self, _: &Caller) -> Missing {
        self.0
    }
}

fn asked<H: SubscriptionHandler>(handler: &H, caller: &Caller) -> Option<Kinds> {
    handler.subscription_capabilities(caller)
}

fn main() {
    let _ = (asked::<Files>, asked::<Configured>);
    let _ = (Files(Kinds::NONE), Configured(Kinds::NONE));
}
