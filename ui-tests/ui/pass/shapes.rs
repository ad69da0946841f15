//! The forms that a signature and a block can take.
#![deny(warnings)]

use std::{future::Future, marker::PhantomData, sync::Arc};

use mcp_sub::{
    Channel, CloseReason, Emits, Filter, Flow, Handles, Kinds, ListenRequest, Rejection, ResourcesUpdated,
    SubscriptionHandler, ToolsListChanged, subscription_handler,
};

pub struct ToolInstalled;
pub struct Saved<T>(pub T);
pub struct State {
    seen: u32,
}
type Answer<S> = Result<S, Rejection>;

/// All is in a module but the block.
mod inner {
    pub struct Deep {
        pub(crate) limit: u32,
    }
    pub struct Event;
}

#[subscription_handler]
impl inner::Deep {
    const LIMIT: u32 = 3;

    fn within_limit(&self, state: &State) -> bool {
        state.seen < Self::LIMIT.min(self.limit)
    }

    fn subscribe(self: &Self) -> Answer<State> {
        Ok(State { seen: 0 })
    }

    /// An event may be borrowed by a pattern, the state may be left out, and a method's lifetime named.
    #[emits(resources_updated)]
    fn saved<'s>(&'s self, Saved(uri): &Saved<String>, channel: &mut mcp_sub::Channel<'_>) {
        channel.resources_updated(uri);
    }

    #[mcp_sub::emits(tools_list_changed, resources_updated)]
    async fn event(&self, _: &inner::Event, state: &mut State, channel: &mut Channel<'_>) -> Flow {
        state.seen += 1;
        if self.within_limit(state) {
            both(channel, "file:///");
        }
        Flow::Continue
    }

    #[emits(tools_list_changed)]
    fn opaque(
        &self,
        _: &ToolInstalled,
        channel: &mut Channel<'_>,
        _: &mut State,
    ) -> impl Future<Output = Result<Flow, String>> + Send {
        channel.tools_list_changed();
        std::future::ready(Err(String::new()))
    }

    fn handle_close(&self, state: State) {
        drop(state);
    }
}

/// A helper says what it sends.
fn both<E: Emits<ToolsListChanged> + Emits<ResourcesUpdated>>(channel: &mut Channel<'_, E>, uri: &str) {
    channel.tools_list_changed();
    channel.resources_updated(uri);
}

/// Generic, also in an event.
pub struct Echo<T, const N: usize = 4>(PhantomData<fn() -> T>);

pub trait Text: AsRef<str> + Send + Sync + 'static {}
impl Text for String {}

#[subscription_handler(event = EchoEvent)]
impl<T, const N: usize> Echo<T, N>
where
    T: Text,
    Self: Sized,
{
    async fn subscribe(&self, filter: &mut Filter<'_>, _: &ListenRequest) -> Result<[u8; N], Rejection> {
        narrow(filter);
        Ok([0; N])
    }

    #[emits(resources_updated)]
    async fn saved(&self, event: &Saved<T>, channel: &mut Channel<'_>, _: &mut [u8; N]) {
        channel.resources_updated(event.0.as_ref());
    }

    #[emits(tools_list_changed)]
    async fn itself(&self, _: &Saved<Arc<Self>>, channel: &mut Channel<'_>) -> Result<(), Rejection> {
        channel.tools_list_changed();
        Ok(())
    }

    async fn handle_close(&self, _: [u8; N], _: CloseReason) {}
}

/// So is a helper that narrows.
fn narrow<H: mcp_sub::Declares<ResourcesUpdated>>(filter: &mut Filter<'_, H>) {
    filter.retain_resources(|uri| uri.starts_with("file:"));
}

/// The second argument may be written out.
pub struct Explicit;

#[subscription_handler]
impl Explicit {
    async fn subscribe(&self, filter: &mut Filter<'_, Self>) -> Result<(), Rejection> {
        filter.decline::<ToolsListChanged>();
        Ok(())
    }

    #[emits(tools_list_changed)]
    async fn on(&self, _: &u8, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }
}

/// A macro may make the whole block.
macro_rules! make {
    ($name:ident, $method:ident, $event:ty, $kind:ident, $state:ty) => {
        pub struct $name;

        #[subscription_handler]
        impl $name {
            async fn subscribe(&self, _: &mut Filter<'_>) -> Result<$state, Rejection> {
                Ok(<$state>::default())
            }

            #[emits($kind)]
            async fn $method(&self, _: &$event, channel: &mut Channel<'_>, _: &mut $state) {
                channel.$kind();
            }
        }
    };
}
make!(Made, made, ToolInstalled, tools_list_changed, u8);

fn is_handler<H: SubscriptionHandler>(declared: Kinds) {
    assert_eq!(H::DECLARED, declared);
}

fn main() {
    /// Nothing but the function sees it.
    struct Local;
    struct Here;

    #[subscription_handler]
    impl Local {
        async fn subscribe(&self) -> Result<(), Rejection> {
            Ok(())
        }

        #[emits(tools_list_changed)]
        fn here(&self, _: &Here, channel: &mut Channel<'_>) {
            channel.tools_list_changed();
        }
    }

    let both = Kinds::TOOLS_LIST_CHANGED.union(Kinds::RESOURCES_UPDATED);
    is_handler::<inner::Deep>(both);
    is_handler::<Echo<String>>(both);
    is_handler::<Explicit>(Kinds::TOOLS_LIST_CHANGED);
    is_handler::<Made>(Kinds::TOOLS_LIST_CHANGED);
    is_handler::<Local>(Kinds::TOOLS_LIST_CHANGED);
    let _ = (inner::Deep { limit: 1 }, Made, Explicit, Local, Here);
    match <Echo<String> as Handles<_>>::into_event(Saved(String::new())) {
        EchoEvent::saved(_) => {}
        _ => unreachable!(),
    }
}
