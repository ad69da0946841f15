//! What an author of a server implements.

use std::future::Future;

use crate::{
    caller::Caller,
    channel::{AnyNotification, Channel},
    ending::{CloseReason, Flow},
    filter::Filter,
    inbox::Inbox,
    kind::Kinds,
    listen::ListenRequest,
    missed::Missed,
    rejection::Rejection,
};

/// A server side of `subscriptions/listen`.
///
/// [`#[subscription_handler]`](macro@crate::subscription_handler) implements it from one `impl` block, and is the way
/// to do it. By hand it looks like this:
///
/// ```
/// use mcp_sub::{
///     AnyNotification, Channel, Filter, Flow, Handles, Inbox, Kinds, ListenRequest, Rejection, SubscriptionHandler,
///     Subscriptions,
/// };
///
/// struct Tools;
/// struct Installed;
///
/// impl SubscriptionHandler for Tools {
///     type Event = Installed;
///     type State = ();
///     const DECLARED: Kinds = Kinds::TOOLS_LIST_CHANGED;
///
///     fn kinds(_: &Installed) -> Kinds {
///         Kinds::TOOLS_LIST_CHANGED
///     }
///
///     async fn subscribe(
///         &self,
///         _: &mut Filter<'_, Self>,
///         _: &ListenRequest,
///         _: &Inbox<Self>,
///     ) -> Result<(), Rejection> {
///         Ok(())
///     }
///
///     async fn handle_event(
///         &self,
///         _: &Installed,
///         channel: &mut Channel<'_, AnyNotification>,
///         (): &mut (),
///     ) -> Flow {
///         channel.tools_list_changed();
///         Flow::Continue
///     }
/// }
///
/// impl Handles<Installed> for Tools {
///     type Events = Installed;
///
///     fn into_event(event: Installed) -> Installed {
///         event
///     }
/// }
///
/// let subscriptions = Subscriptions::builder(Tools).build();
/// assert_eq!(subscriptions.publish(Installed), 0);
/// ```
///
/// Specification: [Subscriptions](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a subscription handler",
    note = "put `#[subscription_handler]` on an `impl` block of `{Self}` that has a method `subscribe`"
)]
pub trait SubscriptionHandler: Sized + Send + Sync + 'static {
    /// Something that happened. One value serves all subscriptions, by reference.
    type Event: Send + Sync + 'static;

    /// What belongs to one subscription: [`subscribe`](Self::subscribe) makes it, the other methods get it.
    type State: Send + 'static;

    /// The kinds that this handler ever sends: the capability map. It is what `server/discover` advertises.
    const DECLARED: Kinds;

    /// Whether [`subscribe`](Self::subscribe) looks at its request, or
    /// [`subscription_capabilities`](Self::subscription_capabilities) is written: whether who asks can make a difference.
    ///
    /// Inside an rmcp server (feature `rmcp`) a listen is acknowledged before it is known who asks. Where that makes no
    /// difference, `subscribe` runs before, with a request that says nothing.
    ///
    /// [`#[subscription_handler]`](macro@crate::subscription_handler) says `false` where `subscribe` takes no
    /// [`ListenRequest`] and there is no `subscription_capabilities`.
    const DEPENDS_ON_CALLER: bool = true;

    /// The kinds that `event` may lead to. Only subscriptions that honour one of them get to see it.
    fn kinds(event: &Self::Event) -> Kinds;

    /// Accepts, narrows or rejects a listen. Runs before the acknowledgement.
    ///
    /// What is given to the `inbox` is an event of this subscription alone, and is handled after the acknowledgement.
    ///
    /// # Errors
    ///
    /// With a [`Rejection`] no stream opens, and the client gets that error.
    ///
    /// # Cancel safety
    ///
    /// The future is dropped at an `.await` when the client goes away, or after
    /// [`Limits::subscribe_timeout`](crate::Limits::subscribe_timeout). Then [`handle_close`](Self::handle_close) does
    /// not run: undo by dropping.
    fn subscribe(
        &self,
        filter: &mut Filter<'_, Self>,
        request: &ListenRequest,
        inbox: &Inbox<Self>,
    ) -> impl Future<Output = Result<Self::State, Rejection>> + Send;

    /// The kinds that `caller` may be told of, where that depends on the caller: what `server/discover` advertises to it,
    /// and what a listen of it can be granted. `None`: all of [`DECLARED`](Self::DECLARED), to everyone. What is not
    /// declared makes no difference.
    ///
    /// Runs for each of these requests, on the thread that serves it: it has to be quick.
    ///
    /// Either for every caller or for none: answers that depend on the caller are marked as private, so that no cache
    /// gives one caller's to another.
    fn subscription_capabilities(&self, caller: &Caller) -> Option<Kinds> {
        let _ = caller;
        None
    }

    /// Turns an event into notifications of one subscription.
    ///
    /// One at a time for each subscription, in the order in which the events were published. Not called where the
    /// subscription honours none of the event's [`kinds`](Self::kinds).
    ///
    /// # Cancel safety
    ///
    /// The future is dropped at an `.await` when the subscription ends meanwhile.
    fn handle_event(
        &self,
        event: &Self::Event,
        channel: &mut Channel<'_, AnyNotification>,
        state: &mut Self::State,
    ) -> impl Future<Output = Flow> + Send;

    /// Tells the client of what it has missed. Runs instead of the methods of the events that did not fit into the
    /// stream's slot, once for all of them, when those before have been handled.
    ///
    /// Unless it is written, all that was missed is told: what is left in the filter may be. A handler that decides
    /// with each event who may hear of it decides here again:
    ///
    /// ```
    /// use mcp_sub::{AnyNotification, Channel, Flow, Missed, ToolsListChanged};
    /// # async fn may_read(uri: &str) -> bool { uri.is_empty() }
    /// async fn handle_lagged(missed: &Missed<'_>, channel: &mut Channel<'_, AnyNotification>) -> Flow {
    ///     if missed.contains::<ToolsListChanged>() {
    ///         channel.tools_list_changed();
    ///     }
    ///     for uri in missed.resources() {
    ///         if may_read(uri).await {
    ///             channel.resources_updated(uri);
    ///         }
    ///     }
    ///     Flow::Continue
    /// }
    /// ```
    ///
    /// What is not told here is not told later.
    ///
    /// # Cancel safety
    ///
    /// The future is dropped at an `.await` when the subscription ends meanwhile. While it waits, events are queued as
    /// at other times.
    fn handle_lagged(
        &self,
        missed: &Missed<'_>,
        channel: &mut Channel<'_, AnyNotification>,
        state: &mut Self::State,
    ) -> impl Future<Output = Flow> + Send {
        let _ = state;
        channel.catch_up(missed);
        async { Flow::Continue }
    }

    /// Runs exactly once for every subscription that [`subscribe`](Self::subscribe) accepted, however it ended, while
    /// the runtime lives. Nothing can be sent any more.
    fn handle_close(&self, reason: CloseReason, state: Self::State) -> impl Future<Output = ()> + Send {
        let _ = (reason, state);
        async {}
    }
}

/// `H: Handles<Ev>`: the handler `H` takes events of the type `Ev`.
///
/// [`#[subscription_handler]`](macro@crate::subscription_handler) implements it, once for each method with
/// `#[emits(...)]`.
pub trait Handles<Ev> {
    /// [`SubscriptionHandler::Event`] of the handler, or [`publish`](crate::Subscriptions::publish) will not take `Ev`.
    ///
    /// Named again, so that what an event is does not hang on all else that a handler has to be: rustc would check that
    /// once for each type of event.
    type Events;

    /// Makes it one of the handler's events.
    fn into_event(event: Ev) -> Self::Events;
}

/// `Ev: HandledBy<H>` says that `H` is a handler and `H: Handles<Ev>`, with the event in front.
///
/// [`publish`](crate::Subscriptions::publish) is bounded by it, so that rustc takes the type of the event from the
/// argument, and says what is wrong with it there.
#[diagnostic::on_unimplemented(
    message = "`{H}` has no method for the event `{Self}`",
    label = "no method with `#[emits(...)]` of `{H}` takes this"
)]
pub trait HandledBy<H: SubscriptionHandler> {
    #[doc(hidden)]
    fn into_event(self) -> H::Event;
}

#[diagnostic::do_not_recommend]
impl<H: SubscriptionHandler + Handles<Ev, Events = <H as SubscriptionHandler>::Event>, Ev> HandledBy<H>
    for Ev
{
    fn into_event(self) -> H::Event {
        H::into_event(self)
    }
}
