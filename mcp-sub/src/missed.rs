//! What a subscription has missed, for a handler that decides itself what to tell of it.

use std::fmt;

use crate::{
    filter::Honoured,
    kind::{Kinds, Notification},
    pending::{Entry, Pending},
};

/// What the events that did not fit into a stream's slot can have changed, lent to
/// [`handle_lagged`](crate::SubscriptionHandler::handle_lagged).
///
/// It lists the kinds that the methods of these events declare, and for `resources_updated` the URIs: the one that an
/// event was published for, or all, if it was published for none. What the subscription does not honour is not in it.
///
/// [`Channel::catch_up`](crate::Channel::catch_up) tells all of it.
pub struct Missed<'a> {
    pending: &'a Pending,
    honoured: &'a Honoured,
}

impl<'a> Missed<'a> {
    /// `pending` is a set of `honoured`.
    pub(crate) fn new(pending: &'a Pending, honoured: &'a Honoured) -> Self {
        Self { pending, honoured }
    }

    pub(crate) fn pending(&self) -> &Pending {
        self.pending
    }

    /// Whether `N` is due. For [`ResourcesUpdated`](crate::ResourcesUpdated): of at least one URI.
    #[must_use]
    pub fn contains<N: Notification>(&self) -> bool {
        self.kinds().contains(N::KIND)
    }

    /// The URIs whose update is due, in the order in which the events came.
    pub fn resources(&self) -> impl Iterator<Item = &str> {
        self.pending.entries().filter_map(|entry| match entry {
            Entry::Uri(position) => Some(&*self.honoured.uris()[position]),
            Entry::List(_) => None,
        })
    }

    fn kinds(&self) -> Kinds {
        let kinds = self.pending.entries().map(|entry| match entry {
            Entry::List(index) => Kinds::at(index),
            Entry::Uri(_) => Kinds::RESOURCES_UPDATED,
        });
        kinds.fold(Kinds::NONE, Kinds::union)
    }
}

impl fmt::Debug for Missed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resources: Vec<&str> = self.resources().collect();
        f.debug_struct("Missed").field("kinds", &self.kinds()).field("resources", &resources).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kind::{PromptsListChanged, ResourcesUpdated, ToolsListChanged},
        protocol::filter::RequestedFilter,
    };

    #[test]
    fn it_says_what_is_due_and_nothing_else() {
        let kinds = Kinds::TOOLS_LIST_CHANGED.union(Kinds::RESOURCES_UPDATED);
        let honoured = Honoured::new(RequestedFilter { kinds, uris: vec!["x:a".into(), "x:b".into()] });
        let mut pending = Pending::default();
        pending.add_event(&honoured, Kinds::TOOLS_LIST_CHANGED.union(Kinds::PROMPTS_LIST_CHANGED), None);
        let missed = Missed::new(&pending, &honoured);
        assert!(missed.contains::<ToolsListChanged>());
        assert!(!missed.contains::<PromptsListChanged>(), "not honoured");
        assert!(!missed.contains::<ResourcesUpdated>() && missed.resources().next().is_none());
        pending.add_uri(&honoured, "x:b");
        pending.add_uri(&honoured, "x:a");
        let missed = Missed::new(&pending, &honoured);
        assert!(missed.contains::<ResourcesUpdated>());
        assert_eq!(missed.resources().collect::<Vec<_>>(), ["x:b", "x:a"]);
    }
}
