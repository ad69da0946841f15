//! The mailbox of one subscription.

use std::{
    fmt,
    marker::PhantomData,
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use pin_project_lite::pin_project;

use crate::{
    caught::Held,
    handler::{HandledBy, SubscriptionHandler},
    hub::{Published, Slot},
    source::Source,
};

/// The mailbox of one subscription, lent to [`subscribe`](SubscriptionHandler::subscribe): what comes in here is an event
/// of this subscription alone.
///
/// Clone it to keep it, in the subscription's state, as `Inbox<Tools>`, or in a task of your own. It keeps alive neither the handler nor
/// the stream, and once the subscription has ended, every call does nothing and returns `false`. From any thread; no
/// call waits.
///
/// Inside a block with [`#[subscription_handler]`](macro@crate::subscription_handler) write `&Inbox`:
///
/// ```
/// use mcp_sub::{Channel, Inbox, ListenRequest, Rejection, subscription_handler};
/// # use std::{pin::Pin, task::{Context, Poll}};
/// # pub struct Watch;
/// # impl Watch { fn of(_: &str) -> Self { Self } }
/// # impl futures_core::Stream for Watch {
/// #     type Item = ListChanged;
/// #     fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<ListChanged>> { Poll::Pending }
/// # }
///
/// pub struct Tools;
/// pub struct ListChanged;
///
/// #[subscription_handler]
/// impl Tools {
///     fn subscribe(&self, request: &ListenRequest, inbox: &Inbox) -> Result<(), Rejection> {
///         let user = request.extension::<String>().ok_or_else(Rejection::unauthorized)?;
///         // Told right after the acknowledgement.
///         inbox.send(ListChanged);
///         // Some `futures::Stream` of events: here, of those of one user.
///         inbox.attach(Watch::of(user));
///         Ok(())
///     }
///
///     #[emits(tools_list_changed)]
///     fn list_changed(&self, _: &ListChanged, channel: &mut Channel<'_>) {
///         channel.tools_list_changed();
///     }
/// }
/// ```
pub struct Inbox<H: SubscriptionHandler> {
    slot: Weak<dyn HasSlot<H> + Send + Sync>,
}

/// The slot, behind a type that does not name the handler's events: a state may hold its own inbox, and whether that is
/// `Send` must not depend on what the handler is.
trait HasSlot<H: SubscriptionHandler> {
    fn slot(&self) -> &Slot<H::Event>;
}

impl<H: SubscriptionHandler> HasSlot<H> for Slot<H::Event> {
    fn slot(&self) -> &Self {
        self
    }
}

impl<H: SubscriptionHandler> Inbox<H> {
    pub(crate) fn new(slot: &Arc<Slot<H::Event>>) -> Self {
        let slot: Weak<Slot<H::Event>> = Arc::downgrade(slot);
        Self { slot }
    }

    /// Gives the subscription an event, as if it had been [published](crate::Subscriptions::publish) and nobody else had
    /// subscribed. Returns whether it was taken in: not where the subscription has ended, or honours no kind which the
    /// event's method declares. While `subscribe` runs, what it takes away makes no difference yet.
    ///
    /// In [`subscribe`](SubscriptionHandler::subscribe) this makes an initial notification: the event is handled after the
    /// acknowledgement, if what it is about is left in the filter then.
    ///
    /// Where the stream's slot is full, because its client is slow, the event's method is not called. What the event can
    /// have changed is told afterwards, with all else that did not fit: see
    /// [`handle_lagged`](SubscriptionHandler::handle_lagged).
    pub fn send<Ev: HandledBy<H>>(&self, event: Ev) -> bool {
        self.offer(event.into_event(), None)
    }

    /// Gives the subscription an event about one resource. Otherwise as [`send`](Self::send): it is not taken in where
    /// `uri` is not honoured, unless another kind is that the event's method declares; and where the slot is full, `uri`
    /// is the only one that is told of.
    pub fn send_for<Ev: HandledBy<H>>(&self, uri: impl AsRef<str>, event: Ev) -> bool {
        self.offer(event.into_event(), Some(uri.as_ref()))
    }

    /// Says that events of this subscription were lost before they came here, as those of a `tokio` broadcast channel whose
    /// receiver lags. Returns whether it was taken in: not where the subscription has ended.
    ///
    /// Then all that the subscription honours can have changed: the client is told so, once, after what waits already, or
    /// [`handle_lagged`](SubscriptionHandler::handle_lagged) decides.
    ///
    /// ```
    /// use mcp_sub::{HandledBy, Inbox, SubscriptionHandler};
    /// use tokio::sync::broadcast::{Receiver, error::RecvError};
    ///
    /// /// A task of your own: end it in `handle_close`.
    /// async fn forward<H: SubscriptionHandler, Ev: HandledBy<H> + Clone>(mut from: Receiver<Ev>, inbox: Inbox<H>) {
    ///     loop {
    ///         match from.recv().await {
    ///             Ok(event) => inbox.send(event),
    ///             Err(RecvError::Lagged(_)) => inbox.lagged(),
    ///             Err(RecvError::Closed) => return,
    ///         };
    ///     }
    /// }
    /// ```
    #[expect(clippy::must_use_candidate, reason = "as with `send`, the answer is not what it is for")]
    pub fn lagged(&self) -> bool {
        self.slot.upgrade().is_some_and(|slot| slot.slot().lag())
    }

    /// Lets `stream` feed the subscription with events. Returns whether it was taken in: not where the subscription has
    /// ended.
    ///
    /// The subscription's own task polls it, and only when nothing else is to be done: when no event waits in the slot,
    /// and the client has taken all frames. So a slow client slows the stream down, and nothing piles up here: what the
    /// stream would have to say meanwhile is for the stream to keep, to merge or to drop. An event from it is handled as
    /// one that was [sent](Self::send), one at a time. Several streams take turns.
    ///
    /// When the stream ends, the subscription goes on. See [`attach_or_end`](Self::attach_or_end) for the other way.
    ///
    /// The subscription owns it until then, so attach few that end and none for each event. All of them are polled when
    /// one wakes the subscription.
    ///
    /// # Cancel safety
    ///
    /// The stream is dropped when the subscription ends, whatever the reason, and also where `subscribe` rejects. An item
    /// that it gave may then not have been handled.
    ///
    /// # Panics
    ///
    /// Here, never. A panic in the stream ends this subscription, as [`Panicked`](crate::CloseReason::Panicked), and no
    /// other; one in its destructor is logged.
    pub fn attach<S>(&self, stream: S) -> bool
    where
        S: Stream<Item: HandledBy<H>> + Send + 'static,
    {
        self.add(stream, false)
    }

    /// As [`attach`](Self::attach), but when `stream` ends, so does the subscription: gracefully, as
    /// [`SourceEnded`](crate::CloseReason::SourceEnded). What waits in the slot at that time is handled before.
    ///
    /// # Cancel safety
    ///
    /// As that of `attach`.
    pub fn attach_or_end<S>(&self, stream: S) -> bool
    where
        S: Stream<Item: HandledBy<H>> + Send + 'static,
    {
        self.add(stream, true)
    }

    fn offer(&self, event: H::Event, uri: Option<&str>) -> bool {
        self.slot.upgrade().is_some_and(|slot| slot.slot().send(&published::<H>(event, uri)))
    }

    fn add<S>(&self, stream: S, ends: bool) -> bool
    where
        S: Stream<Item: HandledBy<H>> + Send + 'static,
    {
        let source = Source::new(Events { stream, _handler: PhantomData::<fn() -> H> }, ends);
        self.slot.upgrade().is_some_and(|slot| slot.slot().attach(source))
    }
}

impl<H: SubscriptionHandler> Clone for Inbox<H> {
    fn clone(&self) -> Self {
        Self { slot: self.slot.clone() }
    }
}

impl<H: SubscriptionHandler> fmt::Debug for Inbox<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").finish_non_exhaustive()
    }
}

fn published<H: SubscriptionHandler>(event: H::Event, uri: Option<&str>) -> Arc<Published<H::Event>> {
    let kinds = H::kinds(&event).intersection(H::DECLARED);
    Arc::new(Published { event: Held::new(event), kinds, uri: uri.map(Into::into) })
}

pin_project! {
    /// A user's stream, as one of what a slot holds.
    struct Events<H, S> {
        #[pin]
        stream: S,
        _handler: PhantomData<fn() -> H>,
    }
}

impl<H: SubscriptionHandler, S: Stream<Item: HandledBy<H>>> Stream for Events<H, S> {
    type Item = Arc<Published<H::Event>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = ready!(self.project().stream.poll_next(cx));
        Poll::Ready(event.map(|event| published::<H>(event.into_event(), None)))
    }
}
