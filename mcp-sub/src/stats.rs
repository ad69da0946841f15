//! What is counted: of one stream while it is open, and of a server in all.

use std::{collections::BTreeMap, ops::AddAssign, sync::atomic::Ordering::Relaxed};

use crate::sync::AtomicU64;

/// What a server has done since it was built, from [`Subscriptions::stats`](crate::Subscriptions::stats). The feature
/// `metrics` reports the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Streams that are open now, those whose `subscribe` still runs included.
    pub open: usize,
    /// Subscriptions that were accepted.
    pub opened: u64,
    /// Listens that [`subscribe`](crate::SubscriptionHandler::subscribe) rejected.
    pub rejected: u64,
    /// Requests that were refused at a limit, by its name: `streams`, `streams_per_principal`, `uris`, `uri_bytes`,
    /// `id_bytes`, `body`, `body_timeout`, `subscribe_timeout` or `shutdown`, as in `data.limit` of the error.
    pub refused: BTreeMap<&'static str, u64>,
    /// Subscriptions that have ended, by the [name](crate::CloseReason::name) of the reason.
    pub closed: BTreeMap<&'static str, u64>,
    /// Events that a method was called for, in all streams.
    pub events: u64,
    /// Notifications that transports took.
    pub notifications: u64,
    /// Notifications that were not sent, since the same one waited already.
    pub merged: u64,
    /// What a subscription does not honour: events that `subscribe` had narrowed away when they were taken, and
    /// notifications of methods.
    pub filtered: u64,
    /// How often a stream was told, once for all, what events that it had no room for can have changed.
    pub catch_ups: u64,
}

/// The names in [`Stats::refused`].
const LIMITS: [&str; 9] = [
    "streams",
    "streams_per_principal",
    "uris",
    "uri_bytes",
    "id_bytes",
    "body",
    "body_timeout",
    "subscribe_timeout",
    "shutdown",
];

/// What all streams of a server have counted that are no more, and what no stream counts.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub(crate) opened: u64,
    pub(crate) rejected: u64,
    refused: [u64; LIMITS.len()],
    closed: BTreeMap<&'static str, u64>,
    pub(crate) streams: Counts,
}

impl Totals {
    /// A name that is none of ours is a handler's own, and not counted.
    pub(crate) fn refused(&mut self, limit: &str) {
        if let Some(index) = LIMITS.iter().position(|name| *name == limit) {
            self.refused[index] += 1;
        }
    }

    pub(crate) fn closed(&mut self, reason: &'static str) {
        *self.closed.entry(reason).or_default() += 1;
    }

    pub(crate) fn stats(&self, open: usize, streams: Counts) -> Stats {
        let Counts { events, notifications, merged, filtered, catch_ups } = streams;
        let refused = LIMITS.into_iter().zip(self.refused).filter(|(_, count)| *count > 0).collect();
        Stats {
            open,
            opened: self.opened,
            rejected: self.rejected,
            refused,
            closed: self.closed.clone(),
            events,
            notifications,
            merged,
            filtered,
            catch_ups,
        }
    }
}

/// What one stream has counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) events: u64,
    pub(crate) notifications: u64,
    pub(crate) merged: u64,
    pub(crate) filtered: u64,
    pub(crate) catch_ups: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.events += other.events;
        self.notifications += other.notifications;
        self.merged += other.merged;
        self.filtered += other.filtered;
        self.catch_ups += other.catch_ups;
    }
}

/// The counters of one open stream, to be read from elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) events: Counter,
    pub(crate) notifications: Counter,
    pub(crate) merged: Counter,
    pub(crate) filtered: Counter,
    pub(crate) catch_ups: Counter,
}

impl Counters {
    pub(crate) fn counts(&self) -> Counts {
        Counts {
            events: self.events.get(),
            notifications: self.notifications.get(),
            merged: self.merged.get(),
            filtered: self.filtered.get(),
            catch_ups: self.catch_ups.get(),
        }
    }
}

/// A number that only its stream changes, one step at a time: so it needs no atomic addition.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, more: u64) {
        self.0.store(self.0.load(Relaxed) + more, Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}
