//! A handler for servers that have nothing to decide.

use crate::{
    channel::{AnyNotification, Channel},
    ending::Flow,
    filter::{Declares, Filter},
    handler::{Handles, SubscriptionHandler},
    inbox::Inbox,
    kind::{Kinds, Notification, PromptsListChanged, ResourcesListChanged, ToolsListChanged},
    listen::ListenRequest,
    rejection::Rejection,
};

/// A ready-made handler: it tells everyone that lists changed.
///
/// Name the lists that change; the notifications are the events. One that was not named cannot be published, and is not
/// advertised.
///
/// ```
/// use mcp_sub::{ListChanges, PromptsListChanged, Subscriptions, ToolsListChanged};
///
/// let subscriptions = Subscriptions::builder(ListChanges::new().tools().prompts()).build();
/// subscriptions.publish(ToolsListChanged);
/// subscriptions.publish(PromptsListChanged);
/// ```
///
/// ```compile_fail,E0277
/// # use mcp_sub::{ListChanges, Subscriptions, ToolsListChanged};
/// Subscriptions::builder(ListChanges::new().prompts()).build().publish(ToolsListChanged);
/// ```
///
/// Over a server that exists, that one has to advertise the families: a list that the client cannot ask for does not change.
/// With `rmcp` that is `enable_tools()` and so on in its capabilities.
///
/// Who may not listen is for authentication in front of the server to say. Where more is to be decided, write a handler
/// with [`#[subscription_handler]`](macro@crate::subscription_handler).
#[derive(Clone, Copy, Debug, Default)]
pub struct ListChanges<const TOOLS: bool = false, const PROMPTS: bool = false, const RESOURCES: bool = false>(
    (),
);

/// The event of [`ListChanges`].
#[derive(Clone, Copy, Debug)]
pub struct ListChanged(Kinds);

impl ListChanges {
    /// No list yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

impl<const P: bool, const R: bool> ListChanges<false, P, R> {
    /// The list of tools changes.
    #[must_use]
    pub const fn tools(self) -> ListChanges<true, P, R> {
        ListChanges(())
    }
}

impl<const T: bool, const R: bool> ListChanges<T, false, R> {
    /// The list of prompts changes.
    #[must_use]
    pub const fn prompts(self) -> ListChanges<T, true, R> {
        ListChanges(())
    }
}

impl<const T: bool, const P: bool> ListChanges<T, P, false> {
    /// The list of resources, or of resource templates, changes.
    #[must_use]
    pub const fn resources(self) -> ListChanges<T, P, true> {
        ListChanges(())
    }
}

impl<const T: bool, const P: bool, const R: bool> SubscriptionHandler for ListChanges<T, P, R> {
    type Event = ListChanged;
    type State = ();
    const DECLARED: Kinds = {
        let tools = if T { Kinds::TOOLS_LIST_CHANGED } else { Kinds::NONE };
        let prompts = if P { Kinds::PROMPTS_LIST_CHANGED } else { Kinds::NONE };
        let resources = if R { Kinds::RESOURCES_LIST_CHANGED } else { Kinds::NONE };
        tools.union(prompts).union(resources)
    };
    const DEPENDS_ON_CALLER: bool = false;

    fn kinds(event: &ListChanged) -> Kinds {
        event.0
    }

    async fn subscribe(
        &self,
        _: &mut Filter<'_, Self>,
        _: &ListenRequest,
        _: &Inbox<Self>,
    ) -> Result<(), Rejection> {
        Ok(())
    }

    async fn handle_event(
        &self,
        event: &ListChanged,
        channel: &mut Channel<'_, AnyNotification>,
        (): &mut (),
    ) -> Flow {
        channel.lists_changed(event.0);
        Flow::Continue
    }
}

macro_rules! lists {
    ($([$($parameter:ident),*] $notification:ident for $handler:ty;)*) => {$(
        impl<$(const $parameter: bool),*> Declares<$notification> for $handler {}
        impl<$(const $parameter: bool),*> Handles<$notification> for $handler {
            type Events = ListChanged;
            fn into_event(_: $notification) -> ListChanged {
                ListChanged($notification::KIND)
            }
        }
    )*};
}

lists! {
    [P, R] ToolsListChanged for ListChanges<true, P, R>;
    [T, R] PromptsListChanged for ListChanges<T, true, R>;
    [T, P] ResourcesListChanged for ListChanges<T, P, true>;
}

/// By the names of the kinds, as in `#[emits(...)]`.
#[cfg(feature = "relay")]
impl<const T: bool, const P: bool, const R: bool> crate::relay::RelayedHandler for ListChanges<T, P, R> {
    fn encode(event: &ListChanged) -> Result<crate::relay::EncodedEvent<'static>, crate::relay::EventError> {
        let name = event.0.indices().next().map_or("", |index| crate::kind::KINDS[index].name);
        crate::relay::EncodedEvent::of(name, &())
    }

    fn decode(
        encoded: &crate::relay::EncodedEvent<'_>,
    ) -> Option<Result<ListChanged, crate::relay::EventError>> {
        let index = crate::kind::KINDS.iter().position(|kind| kind.name == encoded.name())?;
        let kind = Some(Kinds::at(index)).filter(|kind| Self::DECLARED.contains(*kind))?;
        Some(Ok(ListChanged(kind)))
    }
}
