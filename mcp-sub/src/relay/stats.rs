//! What a relay counts.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What a relay has done since it was attached.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct RelayStats {
            $($(#[$doc])* pub $name: u64,)*
        }

        #[derive(Debug, Default)]
        pub(super) struct Counts {
            $(pub(super) $name: AtomicU64,)*
        }

        impl Counts {
            pub(super) fn read(&self) -> RelayStats {
                RelayStats { $($name: self.$name.load(Relaxed),)* }
            }
        }
    };
}

counts! {
    /// Events that the broker was given.
    sent,
    /// Events that were not sent, for want of room or because they cannot be written: the others were told what they
    /// concern.
    unsent,
    /// Events of other processes that were offered to the streams here.
    delivered,
    /// Events of other processes that concern no stream here.
    unconcerned,
    /// Messages that had come before, or too late.
    late,
    /// Messages that this version does not know. If it is an event, the streams that it concerns got a catch-up.
    unknown,
    /// Messages that cannot be read. Likewise.
    damaged,
    /// How often streams got a catch-up since messages of other processes were lost.
    gaps,
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}
