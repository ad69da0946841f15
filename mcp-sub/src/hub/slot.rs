//! The events of one subscription that its stream has not taken yet.

use std::{
    collections::VecDeque,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use crate::{
    caught::Held,
    ending::CloseReason,
    filter::Honoured,
    handle::End,
    kind::Kinds,
    pending::Pending,
    source::Source,
    sync::{Mutex, lock, wake},
};

/// An event on its way, shared by all whom it concerns.
#[derive(Debug)]
pub(crate) struct Published<E> {
    pub(crate) event: Held<E>,
    /// What the method of the event declares.
    pub(crate) kinds: Kinds,
    /// What it was published for.
    pub(crate) uri: Option<Box<str>>,
}

/// What a stream has to do next.
#[derive(Debug)]
pub(crate) enum Next<E> {
    Event(Arc<Published<E>>),
    /// Events were dropped: this is what they can have changed.
    CatchUp(Pending),
    /// Nothing more comes.
    End(CloseReason),
}

/// A queue of fixed length. What does not fit leaves a note of what it concerned, so that nothing is lost silently and
/// the slot never grows.
#[derive(Debug)]
pub(crate) struct Slot<E> {
    capacity: usize,
    state: Mutex<State<E>>,
}

#[derive(Debug)]
struct State<E> {
    honoured: Arc<Honoured>,
    events: VecDeque<Arc<Published<E>>>,
    missed: Pending,
    /// Sources of events that the stream has not fetched yet.
    attached: Vec<EventSource<E>>,
    /// Whether a source may have more to say: it is asked only by a transport that comes for frames.
    has_source: bool,
    ending: Option<CloseReason>,
    waker: Option<Waker>,
}

type EventSource<E> = Source<Arc<Published<E>>>;

impl<E> Slot<E> {
    pub(super) fn new(honoured: Arc<Honoured>, capacity: usize) -> Self {
        let state = State {
            honoured,
            events: VecDeque::new(),
            missed: Pending::default(),
            attached: Vec::new(),
            has_source: false,
            ending: None,
            waker: None,
        };
        Self { capacity, state: Mutex::new(state) }
    }

    /// Takes an event in. Returns who has to be woken, if somebody waits.
    pub(super) fn offer(&self, published: &Arc<Published<E>>) -> Option<Waker> {
        let mut state = lock(&self.state);
        if state.ending.is_some() {
            return None;
        }
        state.take_in(published, self.capacity)
    }

    /// Takes in an event for this slot alone, if it concerns it. Returns whether it did.
    pub(crate) fn send(&self, published: &Arc<Published<E>>) -> bool {
        let waker = {
            let mut state = lock(&self.state);
            let concerned = state.honoured.concerned(published.kinds, published.uri.as_deref());
            if state.ending.is_some() || !concerned {
                return false;
            }
            state.take_in(published, self.capacity)
        };
        if let Some(waker) = waker {
            wake(waker);
        }
        true
    }

    /// Takes a note that events were lost, of which nobody knows what they concerned. Returns whether it did.
    pub(crate) fn lag(&self) -> bool {
        let waker = {
            let mut state = lock(&self.state);
            if state.ending.is_some() {
                return false;
            }
            let State { honoured, missed, waker, .. } = &mut *state;
            missed.add_event(honoured, Kinds::ALL, None);
            waker.take()
        };
        if let Some(waker) = waker {
            wake(waker);
        }
        true
    }

    /// Takes a note that events were lost whose methods declare `kinds`, and that were published for `uri`. Returns who has
    /// to be woken, if somebody waits.
    #[cfg(feature = "relay")]
    pub(super) fn note_missed(&self, kinds: Kinds, uri: Option<&str>) -> Option<Waker> {
        let mut state = lock(&self.state);
        if state.ending.is_some() {
            return None;
        }
        let State { honoured, missed, waker, .. } = &mut *state;
        missed.add_event(honoured, kinds, uri);
        if missed.is_empty() { None } else { waker.take() }
    }

    /// Hands a source to the stream, unless nothing more is taken in. Returns whether it did.
    pub(crate) fn attach(&self, source: EventSource<E>) -> bool {
        let waker = {
            let mut state = lock(&self.state);
            if state.ending.is_some() {
                // The source is a parameter: it is dropped after the lock.
                return false;
            }
            state.attached.push(source);
            state.has_source = true;
            state.waker.take()
        };
        if let Some(waker) = waker {
            wake(waker);
        }
        true
    }

    /// The sources that were attached since the last call.
    pub(crate) fn fetch_attached(&self) -> Vec<EventSource<E>> {
        std::mem::take(&mut lock(&self.state).attached)
    }

    /// Whether the stream has sources left.
    pub(crate) fn note_sources(&self, has_source: bool) {
        let mut state = lock(&self.state);
        state.has_source = has_source || !state.attached.is_empty();
    }

    /// Nothing more is taken in. What is there is still handed out, then the end. The first reason stands.
    pub(crate) fn end(&self, reason: CloseReason) {
        let waker = {
            let mut state = lock(&self.state);
            state.ending.get_or_insert(reason);
            state.waker.take()
        };
        if let Some(waker) = waker {
            wake(waker);
        }
    }

    pub(super) fn narrow(&self, honoured: Arc<Honoured>) {
        let mut state = lock(&self.state);
        let missed = std::mem::take(&mut state.missed);
        state.missed = missed.narrowed(&state.honoured, &honoured);
        state.honoured = honoured;
    }

    /// What there is to do now, if anything.
    pub(crate) fn try_next(&self) -> Option<Next<E>> {
        lock(&self.state).next()
    }

    /// Whether there is something to do. If not, whoever polls is woken when there is.
    pub(crate) fn poll_ready(&self, cx: &Context<'_>) -> Poll<()> {
        {
            let state = lock(&self.state);
            if state.is_ready() {
                return Poll::Ready(());
            }
            if state.wakes(cx) {
                return Poll::Pending;
            }
        }
        self.register(cx);
        // Something may have come meanwhile.
        if lock(&self.state).is_ready() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Whoever polls is woken when something comes, whether or not there is something now.
    pub(crate) fn register(&self, cx: &Context<'_>) {
        if lock(&self.state).wakes(cx) {
            return;
        }
        // Wakers are made and dropped by foreign code, which may do anything, so not under the lock.
        let waker = cx.waker().clone();
        let old = lock(&self.state).waker.replace(waker);
        drop(old);
    }

    /// Wakes whoever waits, for something that is not in the slot.
    pub(crate) fn wake(&self) {
        let waker = lock(&self.state).waker.take();
        if let Some(waker) = waker {
            wake(waker);
        }
    }

    /// Its stream has ended: lets go of all that it holds, and takes nothing in any more.
    pub(crate) fn close(&self) {
        let (events, attached) = {
            let mut state = lock(&self.state);
            state.ending.get_or_insert(CloseReason::Completed);
            (std::mem::take(&mut state.events), std::mem::take(&mut state.attached))
        };
        drop((events, attached));
    }

    /// Whether something waits here to be taken.
    pub(crate) fn has_waiting(&self) -> bool {
        let state = lock(&self.state);
        !state.events.is_empty() || !state.missed.is_empty() || state.has_source || state.ending.is_some()
    }
}

impl<E: Send + Sync> End for Slot<E> {
    fn end(&self, reason: CloseReason) {
        Self::end(self, reason);
    }
}

impl<E> State<E> {
    /// Returns who has to be woken, if somebody waits.
    fn take_in(&mut self, published: &Arc<Published<E>>, capacity: usize) -> Option<Waker> {
        let Self { honoured, events, missed, waker, .. } = self;
        if events.len() < capacity && missed.is_empty() {
            events.push_back(published.clone());
        } else {
            // Once something was missed all is, until the stream has caught up: it is told of each change after the
            // change anyway, and a later event cannot overtake an earlier one.
            missed.add_event(honoured, published.kinds, published.uri.as_deref());
        }
        waker.take()
    }

    fn wakes(&self, cx: &Context<'_>) -> bool {
        self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()))
    }

    fn is_ready(&self) -> bool {
        !self.events.is_empty()
            || !self.missed.is_empty()
            || !self.attached.is_empty()
            || self.ending.is_some()
    }

    fn next(&mut self) -> Option<Next<E>> {
        if let Some(event) = self.events.pop_front() {
            return Some(Next::Event(event));
        }
        if !self.missed.is_empty() {
            return Some(Next::CatchUp(std::mem::take(&mut self.missed)));
        }
        self.ending.clone().map(Next::End)
    }
}

#[cfg(test)]
#[cfg(mcp_sub_loom)]
mod models;

#[cfg(test)]
#[cfg(not(mcp_sub_loom))]
mod tests {
    use super::*;
    use crate::protocol::filter::RequestedFilter;

    fn slot(uris: &[&str], capacity: usize) -> Slot<u32> {
        let kinds = Kinds::TOOLS_LIST_CHANGED.union(Kinds::RESOURCES_UPDATED);
        let uris = uris.iter().map(|&uri| Arc::from(uri)).collect();
        Slot::new(Arc::new(Honoured::new(RequestedFilter { kinds, uris })), capacity)
    }

    fn offer(slot: &Slot<u32>, event: u32, uri: Option<&str>) {
        let kinds = if uri.is_some() { Kinds::RESOURCES_UPDATED } else { Kinds::TOOLS_LIST_CHANGED };
        assert!(
            slot.offer(&Arc::new(Published { event: Held::new(event), kinds, uri: uri.map(Into::into) }))
                .is_none()
        );
    }

    /// Events by their number, a catch-up by the number of its entries, the end by its name.
    fn drained(slot: &Slot<u32>) -> Vec<String> {
        let mut all = Vec::new();
        while let Some(next) = slot.try_next() {
            match next {
                Next::Event(published) => all.push(published.event.to_string()),
                Next::CatchUp(mut missed) => missed.drain(|entry| all.push(format!("{entry:?}"))),
                Next::End(reason) => {
                    all.push(reason.to_string());
                    break;
                }
            }
        }
        all
    }

    #[test]
    fn promise_4_what_does_not_fit_is_noted_once_for_each_kind_and_uri() {
        let slot = slot(&["x:a", "x:b"], 2);
        offer(&slot, 1, None);
        offer(&slot, 2, None);
        for event in 3..100 {
            offer(&slot, event, [Some("x:b"), None, Some("x:none")][event as usize % 3]);
        }
        assert_eq!(drained(&slot), ["1", "2", "Uri(1)", "List(0)"]);
    }

    #[test]
    fn after_the_catch_up_events_are_taken_in_again() {
        let slot = slot(&["x:a"], 1);
        offer(&slot, 1, None);
        offer(&slot, 2, None);
        assert!(matches!(slot.try_next(), Some(Next::Event(_))));
        offer(&slot, 3, None);
        assert_eq!(drained(&slot), ["List(0)"]);
        offer(&slot, 4, None);
        assert_eq!(drained(&slot), ["4"]);
    }

    #[test]
    fn a_slot_without_room_still_tells_of_every_change() {
        let slot = slot(&["x:a"], 0);
        offer(&slot, 1, Some("x:a"));
        offer(&slot, 2, Some("x:a"));
        assert_eq!(drained(&slot), ["Uri(0)"]);
    }

    #[test]
    fn what_was_there_is_handed_out_before_the_end_and_nothing_is_taken_in_after_it() {
        let slot = slot(&[], 8);
        offer(&slot, 1, None);
        slot.end(CloseReason::Shutdown);
        slot.end(CloseReason::Completed);
        offer(&slot, 2, None);
        assert_eq!(drained(&slot), ["1", "shutdown"]);
    }

    #[test]
    fn what_is_sent_to_one_slot_has_to_concern_it() {
        let slot = slot(&["x:a"], 1);
        let send = |event: u32, kinds: Kinds, uri: Option<&str>| {
            slot.send(&Arc::new(Published { event: Held::new(event), kinds, uri: uri.map(Into::into) }))
        };
        assert!(send(1, Kinds::RESOURCES_UPDATED, Some("x:a")));
        assert!(!send(2, Kinds::RESOURCES_UPDATED, Some("x:b")));
        assert!(!send(3, Kinds::PROMPTS_LIST_CHANGED, None));
        assert!(send(4, Kinds::TOOLS_LIST_CHANGED, None), "a full slot takes a note");
        assert_eq!(drained(&slot), ["1", "List(0)"]);
        slot.end(CloseReason::Shutdown);
        assert!(!send(5, Kinds::TOOLS_LIST_CHANGED, None));
    }

    #[test]
    fn narrowing_takes_out_of_the_note_what_is_not_honoured_any_more() {
        let slot = slot(&["x:a", "x:b"], 0);
        offer(&slot, 1, Some("x:a"));
        offer(&slot, 2, Some("x:b"));
        offer(&slot, 3, None);
        let left = RequestedFilter { kinds: Kinds::RESOURCES_UPDATED, uris: vec!["x:b".into()] };
        slot.narrow(Arc::new(Honoured::new(left)));
        assert_eq!(drained(&slot), ["Uri(0)"]);
    }
}
