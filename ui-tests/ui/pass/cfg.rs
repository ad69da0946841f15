//! What is generated for a method is compiled when the method is.
#![deny(warnings)]

use mcp_sub::{
    Channel, Declares, Filter, Kinds, PromptsListChanged, Rejection, SubscriptionHandler, ToolsListChanged,
    subscription_handler,
};

pub struct Event;
pub struct Other;

pub struct Pair;

#[subscription_handler]
impl Pair {
    #[cfg(any())]
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<Missing, Rejection> {
        Ok(Missing)
    }
    #[cfg(all())]
    async fn subscribe(&self, _: &mut Filter<'_>) -> Result<u8, Rejection> {
        Ok(0)
    }

    #[cfg(any())]
    #[emits(tools_list_changed)]
    async fn event(&self, _: &Event, channel: &mut Channel<'_>, _: &mut u8) {
        channel.tools_list_changed();
    }
    #[cfg(all())]
    #[cfg(not(any()))]
    #[emits(prompts_list_changed)]
    fn event(&self, _: &Event, channel: &mut Channel<'_>) {
        channel.prompts_list_changed();
    }

    #[emits(resources_updated)]
    #[cfg(any())]
    fn never(&self, _: &Missing, channel: &mut Channel<'_>) {
        channel.resources_updated();
    }

    #[cfg(any())]
    fn handle_close(&self, _: Missing) {}
}

/// Nothing is left.
pub struct Empty;

#[subscription_handler]
impl Empty {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[cfg(any())]
    #[emits(tools_list_changed)]
    fn event(&self, _: &Event, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }
}

/// The same, where the handler is generic.
pub struct Generic<T>(T);

#[subscription_handler(event = GenericEvent)]
impl<T: Send + Sync + 'static> Generic<T> {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[cfg(any())]
    #[emits(tools_list_changed)]
    fn event(&self, _: &Event, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }
}

/// The block itself, on either side of the attribute, and inside.
#[subscription_handler(event = MissingEvent)]
#[cfg(any())]
impl Missing {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn event(&self, _: &Event, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }
}

#[cfg(any())]
#[subscription_handler]
impl Missing {}

#[subscription_handler]
impl Missing {
    #![cfg(any())]
}

/// The attribute itself, and a parameter of what the runtime does not call.
pub struct Conditional;

#[cfg_attr(all(), subscription_handler)]
#[cfg_attr(any(), subscription_handler)]
#[cfg(all())]
impl Conditional {
    fn subscribe(&self, filter: &mut Filter<'_>) -> Result<(), Rejection> {
        self.helper(filter);
        Ok(())
    }

    fn helper(&self, #[cfg(all())] filter: &mut Filter<'_>, #[cfg(any())] missing: Missing) {
        filter.decline::<ToolsListChanged>();
    }

    #[cfg(true)]
    #[emits(tools_list_changed)]
    fn event(&self, _: &Event, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[cfg(false)]
    #[emits(prompts_list_changed)]
    fn never(&self, _: &Other, channel: &mut Channel<'_>) {
        channel.prompts_list_changed();
    }
}

/// Attributes stay on the method, in any order.
pub struct Attributes;

#[subscription_handler]
impl Attributes {
    #[inline]
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    /// Documented.
    #[allow(clippy::unused_async)]
    #[emits(tools_list_changed)]
    #[cfg_attr(all(), must_use)]
    fn event(&self, _: &Event, channel: &mut Channel<'_>) -> Result<(), String> {
        channel.tools_list_changed();
        Ok(())
    }

    #[cfg_attr(all(), allow(unused), cfg(any()))]
    #[emits(prompts_list_changed)]
    fn missing(&self, _: &Missing, channel: &mut Channel<'_>) {
        channel.prompts_list_changed();
    }

    #[cfg_attr(any(), cfg(any()))]
    #[emits(tools_list_changed)]
    fn other(&self, _: &Other, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }
}

fn declares<H: Declares<N>, N: mcp_sub::Notification>() {}

fn main() {
    declares::<Pair, PromptsListChanged>();
    declares::<Attributes, ToolsListChanged>();
    assert_eq!(Pair::DECLARED, Kinds::PROMPTS_LIST_CHANGED);
    assert_eq!(Empty::DECLARED, Kinds::NONE);
    assert_eq!(Generic::<u8>::DECLARED, Kinds::NONE);
    assert_eq!(Conditional::DECLARED, Kinds::TOOLS_LIST_CHANGED);
    assert_eq!(Attributes::DECLARED, Kinds::TOOLS_LIST_CHANGED);
    let _ = Generic(0);
}
