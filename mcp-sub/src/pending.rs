//! What waits to be told to a client: at most one entry for each honoured kind and URI, in order.

use crate::{
    filter::Honoured,
    kind::{KINDS, Kinds},
};

/// One thing to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Entry {
    /// The list-changed kind at this index in [`KINDS`].
    List(usize),
    /// The update of the URI at this position in [`Honoured::uris`].
    Uri(usize),
}

/// What became of what was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    New,
    /// It waits already.
    Merged,
    NotHonoured,
}

/// A set of entries of one [`Honoured`], in the order in which they came. An entry that is there already merges.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    order: Vec<Entry>,
    lists: Kinds,
    /// By position. Empty until the first URI comes.
    uris: Box<[bool]>,
}

impl Pending {
    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Adds the list-changed kind at `index`, if it is honoured.
    pub(crate) fn add_list(&mut self, honoured: &Honoured, index: usize) -> Added {
        let kind = Kinds::at(index);
        if !honoured.kinds().contains(kind) {
            return Added::NotHonoured;
        }
        if self.lists.contains(kind) {
            return Added::Merged;
        }
        self.lists = self.lists.union(kind);
        self.order.push(Entry::List(index));
        Added::New
    }

    /// Adds `uri`, if it is honoured.
    pub(crate) fn add_uri(&mut self, honoured: &Honoured, uri: &str) -> Added {
        honoured.position(uri).map_or(Added::NotHonoured, |position| self.add_position(honoured, position))
    }

    fn add_position(&mut self, honoured: &Honoured, position: usize) -> Added {
        if self.uris.is_empty() {
            self.uris = vec![false; honoured.uris().len()].into();
        }
        if std::mem::replace(&mut self.uris[position], true) {
            return Added::Merged;
        }
        self.order.push(Entry::Uri(position));
        Added::New
    }

    /// Adds all that an event can have changed whose method declares `kinds` and that was published for `uri`.
    pub(crate) fn add_event(&mut self, honoured: &Honoured, kinds: Kinds, uri: Option<&str>) {
        for index in kinds.indices() {
            if Kinds::at(index) != Kinds::RESOURCES_UPDATED {
                self.add_list(honoured, index);
            } else if let Some(uri) = uri {
                self.add_uri(honoured, uri);
            } else {
                for position in 0..honoured.uris().len() {
                    self.add_position(honoured, position);
                }
            }
        }
    }

    /// Adds the entries of `other`, a set of the same [`Honoured`].
    pub(crate) fn append(&mut self, honoured: &Honoured, other: &Self) {
        for entry in other.entries() {
            self.add(honoured, entry);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Adds an entry of the same [`Honoured`].
    pub(crate) fn add(&mut self, honoured: &Honoured, entry: Entry) -> Added {
        match entry {
            Entry::List(index) => self.add_list(honoured, index),
            Entry::Uri(position) => self.add_position(honoured, position),
        }
    }

    /// The same set after `from` was narrowed to `to`.
    pub(crate) fn narrowed(mut self, from: &Honoured, to: &Honoured) -> Self {
        let mut left = Self::default();
        self.drain(|entry| {
            match entry {
                Entry::List(index) => left.add_list(to, index),
                Entry::Uri(position) => left.add_uri(to, &from.uris()[position]),
            };
        });
        left
    }

    /// All entries, in order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry> {
        self.order.iter().copied()
    }

    /// The only entry, if there is just one.
    pub(crate) fn single(&self) -> Option<Entry> {
        match self.order[..] {
            [entry] => Some(entry),
            _ => None,
        }
    }

    /// Takes out those for which `keep` says `false`.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(Entry) -> bool) {
        let Self { order, lists, uris } = self;
        order.retain(|&entry| {
            let keep = keep(entry);
            match entry {
                _ if keep => {}
                Entry::List(index) => *lists = lists.difference(Kinds::at(index)),
                Entry::Uri(position) => uris[position] = false,
            }
            keep
        });
    }

    /// Takes all entries out, in order.
    pub(crate) fn drain(&mut self, mut take: impl FnMut(Entry)) {
        self.lists = Kinds::NONE;
        for entry in self.order.drain(..) {
            if let Entry::Uri(position) = entry {
                self.uris[position] = false;
            }
            take(entry);
        }
    }
}

const _: () = assert!(
    Kinds::at(KINDS.len() - 1).contains(Kinds::RESOURCES_UPDATED),
    "the kind with a URI is the last one, here and in the outbox; every other one is an `Entry::List`"
);

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::protocol::filter::RequestedFilter;

    fn honoured(kinds: Kinds, uris: &[&str]) -> Honoured {
        Honoured::new(RequestedFilter { kinds, uris: uris.iter().map(|&uri| Arc::from(uri)).collect() })
    }

    fn entries(mut pending: Pending) -> Vec<Entry> {
        let mut entries = Vec::new();
        pending.drain(|entry| entries.push(entry));
        assert!(pending.is_empty());
        entries
    }

    const BOTH: Kinds = Kinds::TOOLS_LIST_CHANGED.union(Kinds::RESOURCES_UPDATED);

    #[test]
    fn what_waits_already_merges_and_what_is_not_honoured_never_waits() {
        let honoured = honoured(BOTH, &["x:b", "x:a"]);
        let mut pending = Pending::default();
        for _ in 0..3 {
            pending.add_uri(&honoured, "x:a");
            pending.add_uri(&honoured, "x:c");
            pending.add_list(&honoured, 0);
            pending.add_list(&honoured, 1);
        }
        assert_eq!(entries(pending), [Entry::Uri(1), Entry::List(0)]);
    }

    #[test]
    fn what_was_taken_can_wait_again() {
        let honoured = honoured(BOTH, &["x:a"]);
        let mut pending = Pending::default();
        pending.add_uri(&honoured, "x:a");
        pending.drain(drop);
        pending.add_uri(&honoured, "x:a");
        assert_eq!(entries(pending), [Entry::Uri(0)]);
    }

    #[test]
    fn what_was_not_kept_can_wait_again() {
        let honoured = honoured(BOTH, &["x:a", "x:b"]);
        let mut pending = Pending::default();
        pending.add_event(&honoured, BOTH, None);
        pending.retain(|entry| entry == Entry::Uri(1));
        assert_eq!(pending.entries().collect::<Vec<_>>(), [Entry::Uri(1)]);
        pending.add_event(&honoured, BOTH, None);
        assert_eq!(entries(pending), [Entry::Uri(1), Entry::List(0), Entry::Uri(0)]);
    }

    #[test]
    fn an_event_without_a_uri_can_have_changed_all_of_them() {
        let honoured = honoured(BOTH, &["x:a", "x:b"]);
        let mut pending = Pending::default();
        pending.add_event(&honoured, BOTH, None);
        assert_eq!(entries(pending), [Entry::List(0), Entry::Uri(0), Entry::Uri(1)]);
        let mut pending = Pending::default();
        pending.add_event(&honoured, BOTH, Some("x:b"));
        assert_eq!(entries(pending), [Entry::List(0), Entry::Uri(1)]);
    }

    #[test]
    fn narrowing_keeps_what_is_still_honoured() {
        let (wide, narrow) =
            (honoured(BOTH, &["x:a", "x:b", "x:c"]), honoured(Kinds::RESOURCES_UPDATED, &["x:c"]));
        let mut pending = Pending::default();
        pending.add_event(&wide, BOTH, None);
        assert_eq!(entries(pending.narrowed(&wide, &narrow)), [Entry::Uri(0)]);
    }
}
