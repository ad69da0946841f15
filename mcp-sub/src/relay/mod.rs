//! Hubs of several processes, joined by a broker (feature `relay`; NATS with the feature `nats`).
//!
//! A server behind a load balancer has its streams on one replica and its changes on another. With a relay on each,
//! [`publish`](crate::Subscriptions::publish) reaches the streams of all. What goes between them is events, so the handler
//! of each replica decides for its own streams, and nothing of a stream leaves its process.
//!
//! ```
//! use mcp_sub::{Channel, Rejection, Subscriptions, relay::{Bus, Relay}, subscription_handler};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! pub struct ToolInstalled;
//!
//! pub struct Workspace;
//!
//! #[subscription_handler(relay)]
//! impl Workspace {
//!     fn subscribe(&self) -> Result<(), Rejection> {
//!         Ok(())
//!     }
//!
//!     #[emits(tools_list_changed)]
//!     fn tool_installed(&self, _: &ToolInstalled, channel: &mut Channel<'_>) {
//!         channel.tools_list_changed();
//!     }
//! }
//!
//! async fn serve(bus: impl Bus) {
//!     let subscriptions = Subscriptions::builder(Workspace).build();
//!     let relay = Relay::over(bus).attach(subscriptions.hub());
//!     subscriptions.publish(ToolInstalled);
//!     // … and at the end:
//!     relay.shutdown(std::time::Duration::from_secs(5)).await;
//! }
//! ```
//!
//! # What holds
//!
//! **Local first.** Streams of the publishing process hear of an event before the broker does, and without it.
//!
//! **Once.** An event that comes back, or comes twice, is dropped.
//!
//! **In order.** Events of one process are offered in the order in which they were published there, as far as one thread
//! published them.
//!
//! **Nothing is lost silently.** Each process counts what it sends, and says so once a second while it sends something, and
//! every ten seconds anyway. So the others notice what did not come, be it for a lost connection, a restart of the broker or a
//! slow consumer. Their streams then get one catch-up for each honoured kind and URI that can be concerned, by
//! [`handle_lagged`](crate::SubscriptionHandler::handle_lagged) as after any overflow. What is lost last of all is noticed
//! at the next beacon, so within some ten seconds after the network is whole. A process that falls silent for 30 seconds
//! without having been [shut down](Attached::shutdown) may have taken with it what it had published: that is a loss as well.
//!
//! **Bounded.** 1024 events, or 16 MiB of them, wait for the broker. What is published beyond that goes to the streams here
//! alone, and when there is room again, the others get a catch-up for what it concerned. What comes is handed to the
//! streams' slots at once; what the bus had no room for is a loss like any other. Of more than 1024 other processes, the one
//! that was silent for longest is forgotten, which is a loss as well.
//!
//! **Versions.** An event is known by the name of its method. One that a replica does not know, or cannot read, is counted
//! ([`Attached::stats`]) and skipped, and the streams that it concerns get a catch-up for it: so no change is lost while two
//! versions run. Let fields that are new have a default.
//!
//! Whoever can write to the broker can make streams hear of changes, or keep them from it: see to its permissions.

mod bus;
mod envelope;
mod event;
mod interest;
#[cfg(feature = "nats")]
mod nats;
mod outgoing;
mod peers;
mod stats;
mod task;
#[cfg(any(test, feature = "relay-testing"))]
pub mod testing;

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    marker::PhantomData,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use tokio::task::JoinHandle;

#[cfg(feature = "nats")]
pub use self::nats::{Nats, NatsReceiver, NatsSender};
pub use self::{
    bus::{Bus, BusError, BusReceiver, BusSender, Received, Topic},
    event::{EncodedEvent, EventError, RelayedHandler},
    stats::RelayStats,
};
use self::{outgoing::Waiting, stats::count, task::Shared};
use crate::{
    hub::{Hub, Outlet},
    kind::Kinds,
    sync::catch_unwind,
};

/// A relay that is not attached yet.
#[derive(Debug)]
#[must_use = "a relay does nothing until it is attached"]
pub struct Relay<B> {
    bus: B,
}

impl<B: Bus> Relay<B> {
    /// Over any bus.
    pub fn over(bus: B) -> Self {
        Self { bus }
    }

    /// Joins `hub` with those that are attached to the same bus in other processes, for as long as what is returned is
    /// kept. A hub has one relay at most: attaching another one takes the place of the first, which still sends what waits
    /// and brings nothing more.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, or in one without a timer.
    pub fn attach<H: RelayedHandler>(self, hub: &Hub<H>) -> Attached {
        // First of all, since it panics where there is no timer.
        let ticks = task::ticks();
        let shared = Arc::new(Shared::new(origin()));
        let outlet: Arc<dyn Outlet<H::Event>> =
            Arc::new(Out::<H> { shared: shared.clone(), handler: PhantomData });
        let before = hub.join(outlet.clone());
        let task = tokio::spawn(task::run(self.bus, hub.clone(), shared.clone(), ticks, before));
        let hub = hub.clone();
        let part = Box::new(move || hub.part(&outlet));
        Attached { shared, task, part }
    }
}

/// A number that no other relay has: from what the standard library keeps its maps' keys secret by.
fn origin() -> envelope::Origin {
    let random = || u128::from(RandomState::new().hash_one(std::process::id()));
    (random() << 64) | random()
}

/// A relay at work. Dropping it ends the relay at once; [`shutdown`](Self::shutdown) sends what waits before.
#[must_use = "dropping it ends the relay"]
pub struct Attached {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
    part: Box<dyn Fn() + Send + Sync>,
}

impl Attached {
    /// What it has done so far.
    #[must_use]
    pub fn stats(&self) -> RelayStats {
        self.shared.counts.read()
    }

    /// How many topics are asked for, of [`Topic::COUNT`]: see [`BusReceiver::follow`].
    #[must_use]
    pub fn followed(&self) -> usize {
        self.shared.interest.len()
    }

    /// Takes nothing in any more, and waits until the broker has all that was published before, for `budget` at most.
    /// Returns whether it has.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, so is the relay, with what waits.
    pub async fn shutdown(mut self, budget: Duration) -> bool {
        (self.part)();
        self.shared.outgoing.close();
        let ended = tokio::time::timeout(budget, &mut self.task).await;
        matches!(ended, Ok(Ok(()))) && self.shared.outgoing.is_done()
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        (self.part)();
        self.task.abort();
    }
}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attached").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

/// What a hub knows of its relay.
struct Out<H> {
    shared: Arc<Shared>,
    handler: PhantomData<fn() -> H>,
}

impl<H: RelayedHandler> Outlet<H::Event> for Out<H> {
    fn send(&self, event: &H::Event, kinds: Kinds, uri: Option<&str>) {
        let Shared { outgoing, counts, .. } = &*self.shared;
        // Its error is foreign as well.
        let encode = || H::encode(event).map_err(|error| error.to_string());
        let fits = match catch_unwind(encode) {
            Ok(Ok(event)) => outgoing.push(Waiting { kinds, uri: uri.map(Into::into), event }),
            Ok(Err(error)) => {
                tracing::warn!(%error, "an event cannot be written for other processes");
                outgoing.note_missed(kinds, uri);
                false
            }
            Err(_) => {
                tracing::error!("writing an event for other processes panicked");
                outgoing.note_missed(kinds, uri);
                false
            }
        };
        if !fits {
            count(&counts.unsent);
        }
    }

    fn gained(&self, uri: &str) {
        self.shared.interest.gained(uri);
    }

    fn lost(&self, uri: &str) {
        self.shared.interest.lost(uri);
    }

    fn replaced(&self) -> envelope::Origin {
        self.shared.replaced.store(true, Relaxed);
        self.shared.outgoing.close();
        self.shared.outgoing.origin()
    }
}
