//! What a relay adds to a hub: where events go besides, and what comes from elsewhere.

use std::sync::Arc;

use super::{Hub, Origin};
use crate::{
    handler::SubscriptionHandler,
    kind::Kinds,
    sync::{read, wake, write},
};

/// Where what is published goes besides the streams of this process.
pub(crate) trait Outlet<E>: Send + Sync {
    /// An event was published here, and has been offered to the streams.
    fn send(&self, event: &E, kinds: Kinds, uri: Option<&str>);
    /// The first stream honours a URI. Called under the index's lock.
    fn gained(&self, uri: &str);
    /// The last one does so no more. Likewise.
    fn lost(&self, uri: &str);
    /// Another one has taken its place: nothing more may come by it. Returns by which number others know it.
    fn replaced(&self) -> u128;
}

impl<H: SubscriptionHandler> Hub<H> {
    /// From now on, `outlet` hears of what is published, and of what is honoured. Returns the number of the one before.
    pub(crate) fn join(&self, outlet: Arc<dyn Outlet<H::Event>>) -> Option<u128> {
        let before = write(self.index.index()).set_outlet(Some(outlet));
        before.map(|before| before.replaced())
    }

    /// `outlet` hears of nothing any more, if it is still the one.
    pub(crate) fn part(&self, outlet: &Arc<dyn Outlet<H::Event>>) {
        let mut index = write(self.index.index());
        if index.outlet().is_some_and(|joined| Arc::ptr_eq(joined, outlet)) {
            let before = index.set_outlet(None);
            drop(index);
            drop(before);
        }
    }

    /// Whether a stream hears of an event whose method declares `kinds` and that is published for `uri`.
    pub(crate) fn concerns(&self, kinds: Kinds, uri: Option<&str>) -> bool {
        read(self.index.index()).concerns(kinds, uri)
    }

    /// Offers an event that was published elsewhere.
    pub(crate) fn offer_foreign(&self, event: H::Event, uri: Option<&str>) -> usize {
        self.offer(event, uri, Origin::Elsewhere)
    }

    /// Events were lost whose methods declare `kinds`, and which were published for `uri`: each stream that honours any of
    /// it is told so, once, after what waits already.
    pub(crate) fn lagged(&self, kinds: Kinds, uri: Option<&str>) {
        let mut wakers = Vec::new();
        read(self.index.index())
            .for_each_concerned(kinds, uri, |slot| wakers.extend(slot.note_missed(kinds, uri)));
        wakers.into_iter().for_each(wake);
    }

    /// Updates of all URIs were lost for which `is_lost` holds.
    pub(crate) fn lagged_where(&self, is_lost: impl Fn(&str) -> bool) {
        let mut wakers = Vec::new();
        let kinds = Kinds::RESOURCES_UPDATED;
        read(self.index.index()).for_each_uri(|uri, slot| {
            if is_lost(uri) {
                wakers.extend(slot.note_missed(kinds, Some(uri)));
            }
        });
        wakers.into_iter().for_each(wake);
    }
}
