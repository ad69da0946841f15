//! What a method may send, and the way it goes out.

use std::{fmt, marker::PhantomData};

use crate::{
    kind::{
        Kinds, Notification, PromptsListChanged, ResourcesListChanged, ResourcesUpdated, ToolsListChanged,
    },
    missed::Missed,
    outbox::Outbox,
};

/// `E: Emits<N>`: a [`Channel`] of `E` may carry `N`.
///
/// [`#[subscription_handler]`](macro@crate::subscription_handler) implements it, once for each name in `#[emits(...)]`.
/// A helper of your own says what it sends as a bound:
///
/// ```
/// use mcp_sub::{Channel, Emits, ToolsListChanged};
///
/// fn tell<E: Emits<ToolsListChanged>>(channel: &mut Channel<'_, E>) {
///     channel.tools_list_changed();
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{N}` is not declared by `{Self}`",
    label = "`{Self}` may not send this",
    note = "a handler's method sends only what its `#[emits(...)]` lists, and `handle_lagged` what all of them list: add it there",
    note = "a helper says what it sends as a bound: `fn tell<E: Emits<{N}>>(channel: &mut Channel<'_, E>)`"
)]
pub trait Emits<N: Notification> {}

/// What a channel is of where a handler was written by hand: it carries every kind.
///
/// What is not declared, or not honoured, is still never sent.
#[derive(Debug)]
pub enum AnyNotification {}
impl<N: Notification> Emits<N> for AnyNotification {}

/// What `Channel<'_>` is of where no attribute sets it: it carries nothing.
#[derive(Debug)]
pub enum MethodWithoutEmits {}

/// The way from a handler's method to one client.
///
/// Each method sends a notification, if the client's subscription honours it; else it does nothing. Nothing here waits
/// and nothing fails: what is sent twice before the client has taken it is sent once, so a client that reads slowly
/// holds up nobody.
///
/// `E` says which kinds it can carry. Inside a block with
/// [`#[subscription_handler]`](macro@crate::subscription_handler) write `&mut Channel<'_>`, and the attribute sets it.
///
/// Specification: [Subscriptions, Receiving Notifications][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#receiving-notifications
pub struct Channel<'a, E = MethodWithoutEmits> {
    outbox: &'a Outbox,
    _emits: PhantomData<fn() -> E>,
}

impl<'a> Channel<'a, AnyNotification> {
    pub(crate) fn new(outbox: &'a Outbox) -> Self {
        Self { outbox, _emits: PhantomData }
    }

    /// The same channel for a method that may send less.
    #[doc(hidden)]
    #[must_use]
    pub fn narrowed<E>(&mut self) -> Channel<'_, E> {
        Channel { outbox: self.outbox, _emits: PhantomData }
    }
}

// The bounds are on the methods: rustc then reports one error, with the text of `Emits`, on the name of the method.
// On the `impl` block they would make it say that the method does not exist.
impl<E> Channel<'_, E> {
    /// Tells the client that the list of tools changed.
    pub fn tools_list_changed(&mut self)
    where
        E: Emits<ToolsListChanged>,
    {
        self.list_changed::<ToolsListChanged>();
    }

    /// Tells the client that the list of prompts changed.
    pub fn prompts_list_changed(&mut self)
    where
        E: Emits<PromptsListChanged>,
    {
        self.list_changed::<PromptsListChanged>();
    }

    /// Tells the client that the list of resources, or of resource templates, changed.
    pub fn resources_list_changed(&mut self)
    where
        E: Emits<ResourcesListChanged>,
    {
        self.list_changed::<ResourcesListChanged>();
    }

    /// Tells the client that the resource at `uri` changed. Nothing happens unless the client's request named this very
    /// URI, byte for byte.
    pub fn resources_updated(&mut self, uri: impl AsRef<str>)
    where
        E: Emits<ResourcesUpdated>,
    {
        self.outbox.add_uri(uri.as_ref());
    }

    /// Tells the client all that it has missed. See [`handle_lagged`](crate::SubscriptionHandler::handle_lagged).
    pub fn catch_up(&mut self, missed: &Missed<'_>) {
        // No bound: what was missed is honoured, and so declared, and it is lent to `handle_lagged` alone.
        self.outbox.add_all(missed.pending());
    }

    fn list_changed<N: Notification>(&mut self) {
        self.lists_changed(N::KIND);
    }

    pub(crate) fn lists_changed(&mut self, kinds: Kinds) {
        kinds.indices().for_each(|index| self.outbox.add_list(index));
    }
}

impl<E> fmt::Debug for Channel<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").field("honoured", self.outbox.honoured()).finish()
    }
}
