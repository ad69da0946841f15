//! The embedded source of events: who hears of what.

mod index;
#[cfg(test)]
#[cfg(mcp_sub_loom)]
mod models;
#[cfg(feature = "relay")]
mod relayed;
mod slot;

use std::{fmt, sync::Arc};

use self::index::Index;
#[cfg(feature = "relay")]
pub(crate) use self::relayed::Outlet;
pub(crate) use self::slot::{Next, Published, Slot};
use crate::{
    caught::Held,
    filter::Honoured,
    handler::{HandledBy, SubscriptionHandler},
    kind::Kinds,
    sync::{RwLock, read, wake, write},
};

/// Brings events to the subscriptions that they concern.
///
/// Every [`Subscriptions`](crate::Subscriptions) has one, behind its `publish`; several may share one. A clone of it publishes as well, and keeps
/// neither the handler nor the server alive: it is what a handler holds that publishes itself. Once the server is gone, it
/// publishes to nobody.
pub struct Hub<H: SubscriptionHandler> {
    index: Arc<dyn HasIndex<H> + Send + Sync>,
}

type SharedIndex<E> = Arc<RwLock<Index<E>>>;

/// The index, behind a type that does not name the handler's events: a handler may hold its own hub, and whether that is
/// `Send` must not depend on what the handler is.
trait HasIndex<H: SubscriptionHandler> {
    fn index(&self) -> &SharedIndex<H::Event>;
}

impl<H: SubscriptionHandler> HasIndex<H> for SharedIndex<H::Event> {
    fn index(&self) -> &Self {
        self
    }
}

impl<H: SubscriptionHandler> Hub<H> {
    /// A hub of its own, to be shared by several servers: see [`Builder::with_hub`](crate::Builder::with_hub).
    #[must_use]
    pub fn new() -> Self {
        Self { index: Arc::new(SharedIndex::default()) }
    }

    /// As [`Subscriptions::publish`](crate::Subscriptions::publish).
    pub fn publish<Ev: HandledBy<H>>(&self, event: Ev) -> usize {
        self.offer(event.into_event(), None, Origin::Here)
    }

    /// As [`Subscriptions::publish_for`](crate::Subscriptions::publish_for).
    pub fn publish_for<Ev: HandledBy<H>>(&self, uri: impl AsRef<str>, event: Ev) -> usize {
        self.offer(event.into_event(), Some(uri.as_ref()), Origin::Here)
    }

    #[cfg_attr(
        not(feature = "relay"),
        expect(unused_variables, reason = "only a relay asks where an event is from")
    )]
    fn offer(&self, event: H::Event, uri: Option<&str>, origin: Origin) -> usize {
        let kinds = H::kinds(&event).intersection(H::DECLARED);
        let mut offer = Offer::Unshared(Held::new(event));
        let mut offered = 0;
        let mut wakers = Vec::new();
        let index = read(self.index.index());
        #[cfg(feature = "relay")]
        let outlet = index.outlet().filter(|_| origin == Origin::Here).cloned();
        index.for_each_concerned(kinds, uri, |slot| {
            offered += 1;
            wakers.extend(slot.offer(offer.shared(kinds, uri)));
        });
        drop(index);
        // After the lock is released: a waker may come back here.
        for waker in wakers {
            wake(waker);
        }
        // Nobody here waits for what goes elsewhere.
        #[cfg(feature = "relay")]
        if let Some(outlet) = outlet
            && let Some(event) = offer.event()
        {
            outlet.send(event, kinds, uri);
        }
        offered
    }

    /// Makes a slot that hears of what `honoured` allows, from now on.
    pub(crate) fn register(&self, honoured: Arc<Honoured>, capacity: usize) -> Registration<H::Event> {
        let slot = Arc::new(Slot::new(honoured.clone(), capacity));
        let index = self.index.index().clone();
        let key = write(&index).insert(&slot, honoured);
        Registration { index, key, slot }
    }
}

impl<H: SubscriptionHandler> Default for Hub<H> {
    fn default() -> Self {
        Self::new()
    }
}

impl<H: SubscriptionHandler> Clone for Hub<H> {
    fn clone(&self) -> Self {
        Self { index: self.index.clone() }
    }
}

impl<H: SubscriptionHandler> fmt::Debug for Hub<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub").field("subscribers", &read(self.index.index()).len()).finish()
    }
}

/// Where an event was published: what comes from elsewhere does not go there again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Here,
    #[cfg(feature = "relay")]
    Elsewhere,
}

/// An event, shared only once somebody is concerned: publishing to nobody allocates nothing.
enum Offer<E> {
    Unshared(Held<E>),
    Shared(Arc<Published<E>>),
    Moving,
}

impl<E> Offer<E> {
    #[cfg(feature = "relay")]
    fn event(&self) -> Option<&E> {
        match self {
            Self::Unshared(event) => Some(event),
            Self::Shared(published) => Some(&published.event),
            Self::Moving => None,
        }
    }

    fn shared(&mut self, kinds: Kinds, uri: Option<&str>) -> &Arc<Published<E>> {
        if let Self::Unshared(_) = self
            && let Self::Unshared(event) = std::mem::replace(self, Self::Moving)
        {
            *self = Self::Shared(Arc::new(Published { event, kinds, uri: uri.map(Into::into) }));
        }
        match self {
            Self::Shared(published) => published,
            Self::Unshared(_) | Self::Moving => unreachable!("it was shared above"),
        }
    }
}

/// A slot in the index. Dropping it takes the slot out.
pub(crate) struct Registration<E> {
    index: SharedIndex<E>,
    key: u64,
    slot: Arc<Slot<E>>,
}

impl<E> Registration<E> {
    pub(crate) fn slot(&self) -> &Arc<Slot<E>> {
        &self.slot
    }

    /// From now on the slot hears only of what `honoured` allows, which is within what it heard of before.
    ///
    /// What it holds already stays: the stream checks each event again when it takes it.
    pub(crate) fn narrow(&self, honoured: Arc<Honoured>) {
        write(&self.index).replace(self.key, &self.slot, honoured.clone());
        self.slot.narrow(honoured);
    }
}

impl<E> Drop for Registration<E> {
    fn drop(&mut self) {
        write(&self.index).remove(self.key);
        // Whoever else holds it, as an inbox may for a moment: it takes nothing in any more.
        self.slot.close();
    }
}
