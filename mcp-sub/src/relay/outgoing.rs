//! What waits to be sent to the other processes.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    sync::Mutex,
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

use super::{
    EncodedEvent, Topic,
    envelope::{Beacon, Head, MissedEvents, Origin},
};
use crate::{kind::Kinds, sync::lock};

/// How many events wait for the broker at most.
const EVENTS: usize = 1024;
/// And how many bytes of them.
const BYTES: usize = 16 << 20;
/// Of how many URIs it is known that events about them did not fit. Beyond it, of all.
const URIS: usize = 1024;
/// And how long they are together, so that a broker takes the note of them.
const URI_BYTES: usize = 64 << 10;
/// What was sent longer ago is not told to those who ask.
const RECENT: Duration = Duration::from_secs(120);

/// An event on its way.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) kinds: Kinds,
    pub(super) uri: Option<Box<str>>,
    pub(super) event: EncodedEvent<'static>,
}

impl Waiting {
    /// Who has to hear of it: those who follow the URI, if nobody else is concerned.
    pub(super) fn topic(&self) -> Topic {
        match &self.uri {
            Some(uri) if self.kinds == Kinds::RESOURCES_UPDATED => Topic::of(uri),
            _ => Topic::EVERYONE,
        }
    }

    fn bytes(&self) -> usize {
        self.uri.as_ref().map_or(0, |uri| uri.len()) + self.event.name().len() + self.event.json().len()
    }
}

/// What to send next.
#[derive(Debug)]
pub(super) enum Next {
    Beacon(Beacon),
    Event(Waiting),
    Missed(MissedEvents),
}

#[derive(Debug)]
pub(super) struct Outgoing {
    origin: Origin,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Waiting>,
    bytes: usize,
    missed: Missed,
    beacon: Option<Asked>,
    closing: bool,
    finished: Option<u64>,
    sent: Sent,
}

/// Which beacon is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    Regular,
    /// With all of the recent past.
    Full,
    /// Likewise, and the others are to send theirs.
    Hello,
}

/// What did not fit.
#[derive(Debug, Default)]
struct Missed {
    kinds: Kinds,
    /// `None`: any.
    uris: Option<BTreeSet<Box<str>>>,
    bytes: usize,
}

impl Missed {
    fn add(&mut self, kinds: Kinds, uri: Option<&str>) {
        let had_updates = self.kinds.intersects(Kinds::RESOURCES_UPDATED);
        self.kinds = self.kinds.union(kinds);
        if !kinds.intersects(Kinds::RESOURCES_UPDATED) {
            return;
        }
        if !had_updates {
            self.uris = Some(BTreeSet::new());
        }
        match (&mut self.uris, uri) {
            (Some(uris), Some(uri)) if uris.contains(uri) => {}
            (Some(uris), Some(uri)) if uris.len() < URIS && self.bytes + uri.len() <= URI_BYTES => {
                self.bytes += uri.len();
                uris.insert(uri.into());
            }
            _ => self.uris = None,
        }
    }

    fn take(&mut self) -> Option<MissedEvents> {
        let Self { kinds, uris, .. } = std::mem::take(self);
        let uris = uris.map(|uris| uris.into_iter().map(String::from).collect());
        (!kinds.is_empty()).then(|| MissedEvents::new(kinds, uris))
    }
}

/// What the broker was given.
#[derive(Debug, Default)]
struct Sent {
    sequence: u64,
    /// The last message of each topic.
    last: HashMap<Topic, (u64, Instant)>,
    /// The last message of any topic but `EVERYONE`'s beacons.
    content: u64,
    /// Up to here, the broker had all: a beacon of this sequence came back.
    confirmed: u64,
}

impl Outgoing {
    pub(super) fn new(origin: Origin) -> Self {
        Self { origin, state: Mutex::default(), changed: Notify::new() }
    }

    pub(super) fn origin(&self) -> Origin {
        self.origin
    }

    /// Takes an event in. Where there is no room, that is noted: what it concerns is sent after what waits. Returns whether
    /// there was room.
    pub(super) fn push(&self, event: Waiting) -> bool {
        let fits = {
            let mut state = lock(&self.state);
            let full = state.events.len() >= EVENTS || state.bytes + event.bytes() > BYTES;
            // Once something did not fit, nothing may overtake the note of it.
            let fits = !full && state.missed.kinds.is_empty();
            if fits {
                state.bytes += event.bytes();
                state.events.push_back(event);
            } else {
                state.missed.add(event.kinds, event.uri.as_deref());
            }
            fits
        };
        self.changed.notify_one();
        fits
    }

    /// Takes a note of an event that cannot be sent.
    pub(super) fn note_missed(&self, kinds: Kinds, uri: Option<&str>) {
        lock(&self.state).missed.add(kinds, uri);
        self.changed.notify_one();
    }

    /// The others are to hear what was sent, and to say the same of themselves: at the beginning, and after a gap. It goes
    /// out before what waits. Returns the sequence that it will have at least.
    pub(super) fn say_hello(&self) -> u64 {
        self.ask(Asked::Hello)
    }

    /// Somebody said hello.
    pub(super) fn answer(&self) {
        self.ask(Asked::Full);
    }

    /// A beacon is due, if something was sent that the broker has not confirmed, or if it is `due` anyway.
    pub(super) fn tick(&self, due: bool) {
        if due || !self.confirmed() {
            self.ask(Asked::Regular);
        }
    }

    fn ask(&self, asked: Asked) -> u64 {
        let sequence = {
            let mut state = lock(&self.state);
            state.beacon = state.beacon.max(Some(asked));
            state.sent.sequence + 1
        };
        self.changed.notify_one();
        sequence
    }

    fn confirmed(&self) -> bool {
        let state = lock(&self.state);
        state.sent.confirmed >= state.sent.content
    }

    /// The beacon of this sequence came back.
    pub(super) fn confirm(&self, sequence: u64) {
        let mut state = lock(&self.state);
        state.sent.confirmed = state.sent.confirmed.max(sequence);
    }

    /// Everything was sent; the beacon of this sequence was the last of it.
    pub(super) fn finish(&self, sequence: u64) {
        lock(&self.state).finished = Some(sequence);
    }

    /// Whether the last of it has come back.
    pub(super) fn is_done(&self) -> bool {
        let state = lock(&self.state);
        state.finished.is_some_and(|last| last <= state.sent.confirmed)
    }

    /// Nothing more comes: what waits is still sent.
    pub(super) fn close(&self) {
        lock(&self.state).closing = true;
        self.changed.notify_one();
    }

    /// Waits for what is to be sent next; `None` when it is closed and empty.
    pub(super) async fn next(&self) -> Option<Next> {
        loop {
            // Taken before the look, so that nothing is missed in between; one waits here.
            let changed = self.changed.notified();
            {
                let mut state = lock(&self.state);
                if let Some(next) = state.next() {
                    return Some(next);
                }
                if state.closing {
                    return None;
                }
            }
            changed.await;
        }
    }

    /// What the others have to have got.
    pub(super) fn all_sent(&self) -> Beacon {
        lock(&self.state).sent.beacon(Asked::Regular)
    }

    /// The head of the message that is sent now.
    pub(super) fn head(&self, topic: Topic) -> Head {
        let state = lock(&self.state);
        let Sent { sequence, last, .. } = &state.sent;
        let (previous, previous_age) =
            last.get(&topic).map_or((0, Duration::ZERO), |(previous, at)| (*previous, at.elapsed()));
        Head { origin: self.origin, sequence: sequence + 1, previous, previous_age, topic }
    }

    /// The bus did not take the message of this head, or does not know whether it did. Its sequence is not used again, since
    /// whoever got it takes the next one of the same for a copy.
    pub(super) fn failed(&self, head: &Head) {
        lock(&self.state).sent.sequence = head.sequence;
    }

    /// The message of this head is with the bus.
    pub(super) fn sent(&self, head: &Head, is_beacon: bool) {
        let mut state = lock(&self.state);
        state.sent.sequence = head.sequence;
        state.sent.last.insert(head.topic, (head.sequence, Instant::now()));
        if !is_beacon {
            state.sent.content = head.sequence;
        }
    }
}

impl State {
    fn next(&mut self) -> Option<Next> {
        if let Some(asked) = self.beacon.take() {
            return Some(Next::Beacon(self.sent.beacon(asked)));
        }
        if let Some(event) = self.events.pop_front() {
            self.bytes -= event.bytes();
            return Some(Next::Event(event));
        }
        self.missed.take().map(Next::Missed)
    }
}

impl Sent {
    fn beacon(&self, asked: Asked) -> Beacon {
        let told = |sequence: u64, age: Duration| {
            sequence > self.confirmed || (asked > Asked::Regular && age < RECENT)
        };
        let last = self.last.iter().filter_map(|(topic, (sequence, at))| {
            let age = at.elapsed();
            // That of everyone is in the head.
            (*topic != Topic::EVERYONE && told(*sequence, age))
                .then(|| (topic.index(), *sequence, u64::try_from(age.as_millis()).unwrap_or(u64::MAX)))
        });
        Beacon { hello: asked == Asked::Hello, goodbye: false, last: last.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(uri: &str) -> Waiting {
        let event = EncodedEvent::of("saved", &uri).unwrap();
        Waiting { kinds: Kinds::RESOURCES_UPDATED, uri: Some(uri.into()), event }
    }

    #[tokio::test]
    async fn what_does_not_fit_is_told_of_after_what_waits() {
        let outgoing = Outgoing::new(1);
        for index in 0..EVENTS {
            assert!(outgoing.push(event(&format!("x:{index}"))));
        }
        assert!(!outgoing.push(event("x:a")));
        assert!(matches!(outgoing.next().await, Some(Next::Event(_))));
        assert!(!outgoing.push(event("x:b")), "there is room, but what is noted comes first");
        for _ in 1..EVENTS {
            assert!(matches!(outgoing.next().await, Some(Next::Event(_))));
        }
        let Some(Next::Missed(missed)) = outgoing.next().await else { panic!("the note") };
        assert_eq!(missed.kinds(), Kinds::RESOURCES_UPDATED);
        assert_eq!(missed.uris(), Some(&["x:a".into(), "x:b".into()][..]));
        assert!(outgoing.push(event("x:c")));
    }

    #[test]
    fn a_note_is_bounded() {
        let mut missed = Missed::default();
        missed.add(Kinds::TOOLS_LIST_CHANGED, None);
        for index in 0..URIS {
            missed.add(Kinds::RESOURCES_UPDATED, Some(&format!("x:{index}")));
        }
        assert_eq!(missed.uris.as_ref().map(BTreeSet::len), Some(URIS));
        missed.add(Kinds::RESOURCES_UPDATED, Some("x:more"));
        assert_eq!(missed.uris, None, "any");
        missed.add(Kinds::RESOURCES_UPDATED, Some("x:1"));
        assert_eq!(missed.uris, None, "and it stays that");
        assert_eq!(missed.kinds, Kinds::RESOURCES_UPDATED.union(Kinds::TOOLS_LIST_CHANGED));
    }

    #[tokio::test]
    async fn many_bytes_do_not_fit_either() {
        let outgoing = Outgoing::new(1);
        let large = "x".repeat(BYTES / 3);
        assert!(outgoing.push(event(&large)));
        assert!(!outgoing.push(event(&large)));
    }

    #[test]
    fn a_note_of_long_uris_is_bounded_as_well() {
        let mut missed = Missed::default();
        for index in 0..3 {
            missed.add(Kinds::RESOURCES_UPDATED, Some(&format!("{index}{}", "x".repeat(URI_BYTES / 3))));
            assert_eq!(missed.uris.is_some(), index < 2);
        }
        assert!(missed.take().is_some_and(|missed| missed.uris().is_none()), "any");
        missed.add(Kinds::RESOURCES_UPDATED, Some("x:a"));
        assert!(missed.uris.is_some(), "there is room again");
    }
}
