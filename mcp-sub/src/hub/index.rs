//! Slots by kind and by URI, so that an event visits only those that it concerns.

use std::{collections::HashMap, sync::Arc};

// Each event about a resource is looked up: by a hash that is fast, and keyed, since clients choose the URIs.
use foldhash::quality::RandomState;

#[cfg(feature = "relay")]
use super::Outlet;
use super::Slot;
use crate::{
    filter::Honoured,
    kind::{KINDS, Kinds},
};

/// One slot in one list.
#[derive(Debug)]
struct Member<E> {
    key: u64,
    honoured: Arc<Honoured>,
    slot: Arc<Slot<E>>,
}

/// Where a slot stands in the lists.
#[derive(Debug)]
struct Entry {
    honoured: Arc<Honoured>,
    by_kind: [Place; KINDS.len()],
    /// In the order of [`Honoured::uris`].
    by_uri: Box<[Place]>,
}

/// A place in a list. There is one entry for each stream, so it is kept small.
type Place = u32;

fn place_at(index: usize) -> Place {
    index.try_into().expect("memory holds fewer streams than that")
}

pub(super) struct Index<E> {
    next_key: u64,
    entries: HashMap<u64, Entry>,
    by_kind: [Vec<Member<E>>; KINDS.len()],
    by_uri: HashMap<Arc<str>, Vec<Member<E>>, RandomState>,
    #[cfg(feature = "relay")]
    outlet: Option<Arc<dyn Outlet<E>>>,
}

impl<E> Default for Index<E> {
    fn default() -> Self {
        Self {
            next_key: 0,
            entries: HashMap::new(),
            by_kind: std::array::from_fn(|_| Vec::new()),
            by_uri: HashMap::default(),
            #[cfg(feature = "relay")]
            outlet: None,
        }
    }
}

impl<E> Index<E> {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn insert(&mut self, slot: &Arc<Slot<E>>, honoured: Arc<Honoured>) -> u64 {
        let key = self.next_key;
        self.next_key += 1;
        self.place(key, slot, honoured);
        key
    }

    /// The slot of `key` is concerned by what `honoured` allows.
    pub(super) fn replace(&mut self, key: u64, slot: &Arc<Slot<E>>, honoured: Arc<Honoured>) {
        // What stays honoured is so without a gap.
        #[cfg(feature = "relay")]
        self.tell(&honoured, |outlet, uri| outlet.gained(uri));
        self.remove(key);
        #[cfg(feature = "relay")]
        let kept = honoured.clone();
        self.place(key, slot, honoured);
        #[cfg(feature = "relay")]
        self.tell(&kept, |outlet, uri| outlet.lost(uri));
    }

    fn place(&mut self, key: u64, slot: &Arc<Slot<E>>, honoured: Arc<Honoured>) {
        let member = || Member { key, honoured: honoured.clone(), slot: slot.clone() };
        let mut by_kind = [0; KINDS.len()];
        for kind in honoured.kinds().indices() {
            by_kind[kind] = place_at(self.by_kind[kind].len());
            self.by_kind[kind].push(member());
        }
        let place_uri = |uri: &Arc<str>| {
            let list = self.by_uri.entry(uri.clone()).or_default();
            #[cfg(feature = "relay")]
            if let Some(outlet) = self.outlet.as_ref().filter(|_| list.is_empty()) {
                outlet.gained(uri);
            }
            list.push(member());
            place_at(list.len() - 1)
        };
        let by_uri = honoured.uris().iter().map(place_uri).collect();
        self.entries.insert(key, Entry { honoured, by_kind, by_uri });
    }

    pub(super) fn remove(&mut self, key: u64) {
        let Some(entry) = self.entries.remove(&key) else { return };
        for kind in entry.honoured.kinds().indices() {
            let place = entry.by_kind[kind];
            if let Some(moved) = take(&mut self.by_kind[kind], place)
                && let Some(other) = self.entries.get_mut(&moved)
            {
                other.by_kind[kind] = place;
            }
        }
        for (uri, &place) in entry.honoured.uris().iter().zip(&entry.by_uri) {
            let Some(list) = self.by_uri.get_mut(uri) else { continue };
            if let Some(moved) = take(list, place)
                && let Some(other) = self.entries.get_mut(&moved)
                && let Some(position) = other.honoured.position(uri)
            {
                other.by_uri[position] = place;
            }
            if list.is_empty() {
                self.by_uri.remove(uri);
                #[cfg(feature = "relay")]
                if let Some(outlet) = &self.outlet {
                    outlet.lost(uri);
                }
            }
        }
        // What was large once keeps no more than it needs.
        if self.by_uri.len() < self.by_uri.capacity() / 8 {
            self.by_uri.shrink_to(self.by_uri.len() * 2);
        }
    }

    /// Visits each slot once that an event concerns: one whose method declares `kinds`, published for `uri`.
    pub(super) fn for_each_concerned(
        &self,
        kinds: Kinds,
        uri: Option<&str>,
        mut visit: impl FnMut(&Slot<E>),
    ) {
        let uri = uri.filter(|_| kinds.contains(Kinds::RESOURCES_UPDATED));
        let members = uri.and_then(|uri| self.by_uri.get(uri));
        members.into_iter().flatten().for_each(|member| visit(&member.slot));
        let mut seen = Kinds::NONE;
        for index in kinds.indices() {
            let kind = Kinds::at(index);
            if kind == Kinds::RESOURCES_UPDATED && uri.is_some() {
                continue;
            }
            for member in &self.by_kind[index] {
                let visited = member.honoured.kinds().intersects(seen)
                    || uri.is_some_and(|uri| member.honoured.position(uri).is_some());
                if !visited {
                    visit(&member.slot);
                }
            }
            seen = seen.union(kind);
        }
    }
}

#[cfg(feature = "relay")]
impl<E> Index<E> {
    pub(super) fn outlet(&self) -> Option<&Arc<dyn Outlet<E>>> {
        self.outlet.as_ref()
    }

    /// Tells the new outlet of all URIs that are honoured. Returns the one before.
    pub(super) fn set_outlet(&mut self, outlet: Option<Arc<dyn Outlet<E>>>) -> Option<Arc<dyn Outlet<E>>> {
        if let Some(outlet) = &outlet {
            self.by_uri.keys().for_each(|uri| outlet.gained(uri));
        }
        std::mem::replace(&mut self.outlet, outlet)
    }

    fn tell(&self, honoured: &Honoured, what: fn(&dyn Outlet<E>, &str)) {
        if let Some(outlet) = &self.outlet {
            honoured.uris().iter().for_each(|uri| what(&**outlet, uri));
        }
    }

    pub(super) fn concerns(&self, kinds: Kinds, uri: Option<&str>) -> bool {
        let uri = uri.filter(|_| kinds.contains(Kinds::RESOURCES_UPDATED));
        uri.is_some_and(|uri| self.by_uri.contains_key(uri))
            || kinds.indices().any(|index| {
                let by_uri = uri.is_some() && Kinds::at(index) == Kinds::RESOURCES_UPDATED;
                !by_uri && !self.by_kind[index].is_empty()
            })
    }

    /// Visits each slot for each of its URIs.
    pub(super) fn for_each_uri(&self, mut visit: impl FnMut(&str, &Slot<E>)) {
        for (uri, members) in &self.by_uri {
            for member in members {
                visit(uri, &member.slot);
            }
        }
    }
}

/// Takes the member at `place` out. Returns the key of the one that stands there now.
fn take<E>(list: &mut Vec<Member<E>>, place: Place) -> Option<u64> {
    let place = place as usize;
    list.swap_remove(place);
    // A list that was long once keeps no more than twice what it needs.
    if list.len() < list.capacity() / 4 {
        list.shrink_to(list.len() * 2);
    }
    list.get(place).map(|member| member.key)
}

#[cfg(test)]
#[cfg(not(mcp_sub_loom))]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::protocol::filter::RequestedFilter;

    fn honoured(bits: u8, uris: &BTreeSet<u8>) -> Honoured {
        let kinds =
            (0..3).filter(|bit| bits & (1 << bit) != 0).map(Kinds::at).fold(Kinds::NONE, Kinds::union);
        let updates = if uris.is_empty() { Kinds::NONE } else { Kinds::RESOURCES_UPDATED };
        let uris = uris.iter().map(|uri| format!("x:{uri}").into()).collect();
        Honoured::new(RequestedFilter { kinds: kinds.union(updates), uris })
    }

    #[derive(Clone, Debug)]
    enum Step {
        Insert(u8, BTreeSet<u8>),
        Replace(usize, u8, BTreeSet<u8>),
        Remove(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let uris = || proptest::collection::btree_set(0..4_u8, 0..4);
        proptest::collection::vec(
            prop_oneof![
                3 => (0..8_u8, uris()).prop_map(|(bits, uris)| Step::Insert(bits, uris)),
                1 => (0..20_usize, 0..8_u8, uris()).prop_map(|(i, bits, uris)| Step::Replace(i, bits, uris)),
                2 => (0..20_usize).prop_map(Step::Remove),
            ],
            0..40,
        )
    }

    proptest! {
        /// Whatever was registered, narrowed and removed: an event visits those whom it concerns, each once.
        #[test]
        fn an_event_visits_exactly_whom_it_concerns(steps in steps()) {
            let mut index = Index::<()>::default();
            let mut model: Vec<(u64, Arc<Slot<()>>, Arc<Honoured>)> = Vec::new();
            for step in steps {
                match step {
                    Step::Insert(bits, uris) => {
                        let honoured = Arc::new(honoured(bits, &uris));
                        let slot = Arc::new(Slot::new(honoured.clone(), 1));
                        model.push((index.insert(&slot, honoured.clone()), slot, honoured));
                    }
                    Step::Replace(i, bits, uris) if !model.is_empty() => {
                        let i = i % model.len();
                        model[i].2 = Arc::new(honoured(bits, &uris));
                        index.replace(model[i].0, &model[i].1, model[i].2.clone());
                    }
                    Step::Remove(i) if !model.is_empty() => {
                        let (key, ..) = model.swap_remove(i % model.len());
                        index.remove(key);
                    }
                    Step::Replace(..) | Step::Remove(_) => {}
                }
            }
            prop_assert_eq!(index.len(), model.len());
            for bits in 0..16 {
                let kinds = (0..4).filter(|bit| bits & (1 << bit) != 0).map(Kinds::at).fold(Kinds::NONE, Kinds::union);
                for uri in [None, Some("x:0"), Some("x:3"), Some("x:none")] {
                    let mut visited = Vec::new();
                    index.for_each_concerned(kinds, uri, |slot| visited.push(std::ptr::from_ref(slot)));
                    let mut expected: Vec<_> = model
                        .iter()
                        .filter(|(_, _, honoured)| honoured.concerned(kinds, uri))
                        .map(|(_, slot, _)| Arc::as_ptr(slot))
                        .collect();
                    visited.sort();
                    expected.sort();
                    prop_assert_eq!(visited, expected, "{:?} for {:?}", kinds, uri);
                }
            }
            for (key, ..) in model {
                index.remove(key);
            }
            prop_assert!(index.by_uri.is_empty() && index.by_kind.iter().all(Vec::is_empty));
        }
    }
}
