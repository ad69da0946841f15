//! The one task of a relay: it sends what waits, and hands out what comes.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    task::coop::consume_budget,
    time::{Instant, Interval, MissedTickBehavior, interval, sleep},
};

use super::{
    Bus, BusReceiver, BusSender, EncodedEvent, Received, RelayedHandler, Topic,
    envelope::{self, Beacon, Body, Head, MissedEvents, Origin, Unreadable},
    interest::Interest,
    outgoing::{Next, Outgoing},
    peers::{Peers, Verdict},
    stats::{Counts, count},
};
use crate::{hub::Hub, kind::Kinds, sync::catch_unwind};

/// How long something that was sent stays without a beacon, and a topic followed for nobody.
const TICK: Duration = Duration::from_secs(1);
/// Every so many ticks there is a beacon anyway.
const IDLE: u32 = 10;
/// After how long without an echo nobody's silence says anything: it is our own line. Longer than between two beacons,
/// shorter than after which peers are gone.
const DEAF: Duration = Duration::from_secs(15);
/// How long to wait after what failed.
const RETRY: Duration = Duration::from_millis(100);

/// What the task and its owner share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) outgoing: Outgoing,
    pub(super) interest: Interest,
    pub(super) counts: Counts,
    /// Whether the hub has another relay now.
    pub(super) replaced: AtomicBool,
}

impl Shared {
    pub(super) fn new(origin: Origin) -> Self {
        let (interest, counts) = (Interest::default(), Counts::default());
        Self { outgoing: Outgoing::new(origin), interest, counts, replaced: AtomicBool::new(false) }
    }
}

/// When a relay looks after itself.
pub(super) fn ticks() -> Interval {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// `before`: the relay that the hub had.
pub(super) async fn run<B: Bus, H: RelayedHandler>(
    mut bus: B,
    hub: Hub<H>,
    shared: Arc<Shared>,
    ticks: Interval,
    before: Option<Origin>,
) {
    let attached = Instant::now();
    let (sender, receiver) = loop {
        match bus.open().await {
            Ok(halves) => break halves,
            Err(error) => {
                tracing::warn!(%error, "a relay cannot listen yet");
                sleep(RETRY).await;
            }
        }
    };
    shared.outgoing.say_hello();
    let incoming = Incoming {
        receiver,
        hub,
        shared: &shared,
        peers: Peers::default(),
        since: attached,
        echoed: attached,
        hello: None,
        before,
        greeted: false,
    };
    tokio::join!(send(sender, &shared), incoming.run(ticks));
}

async fn send(mut sender: impl BusSender, Shared { outgoing, counts, .. }: &Shared) {
    while let Some(next) = outgoing.next().await {
        let (topic, body) = match &next {
            Next::Beacon(beacon) => (Topic::EVERYONE, Body::Beacon(beacon.clone())),
            Next::Missed(missed) => (Topic::EVERYONE, Body::Missed(missed.clone())),
            Next::Event(waiting) => {
                let event = EncodedEvent::new(waiting.event.name(), waiting.event.json());
                let body = Body::Event { kinds: waiting.kinds, uri: waiting.uri.as_deref(), event };
                (waiting.topic(), body)
            }
        };
        let head = outgoing.head(topic);
        match sender.send(topic, envelope::write(&head, &body)).await {
            Ok(()) => {
                outgoing.sent(&head, matches!(next, Next::Beacon(_)));
                if matches!(next, Next::Event(_)) {
                    count(&counts.sent);
                }
            }
            Err(error) => {
                tracing::warn!(%error, "a message was not relayed");
                outgoing.failed(&head);
                match next {
                    // The next tick asks again.
                    Next::Beacon(_) => {}
                    // Without the URIs: perhaps it was too long.
                    Next::Missed(missed) => outgoing.note_missed(missed.kinds(), None),
                    Next::Event(event) => {
                        count(&counts.unsent);
                        outgoing.note_missed(event.kinds, event.uri.as_deref());
                    }
                }
                sleep(RETRY).await;
            }
        }
    }
    // Its echo says that the broker has all.
    let head = outgoing.head(Topic::EVERYONE);
    let body = Body::Beacon(Beacon { goodbye: true, ..outgoing.all_sent() });
    let last = sender.send(Topic::EVERYONE, envelope::write(&head, &body)).await;
    if let Err(error) = last.and(sender.flush().await) {
        tracing::warn!(%error, "a relay could not flush what it had sent");
    }
    outgoing.sent(&head, true);
    outgoing.finish(head.sequence);
}

struct Incoming<'a, R, H: RelayedHandler> {
    receiver: R,
    hub: Hub<H>,
    shared: &'a Shared,
    peers: Peers,
    /// Since when nothing is lost, but for what is known.
    since: Instant,
    /// When something of ours came back last.
    echoed: Instant,
    /// There was a gap: streams are told of it when the hello of this sequence has come back, and with it all that is
    /// followed is there again.
    hello: Option<u64>,
    /// What comes of this one was published here, and the streams have it.
    before: Option<Origin>,
    /// Somebody said hello since the last tick.
    greeted: bool,
}

impl<R: BusReceiver, H: RelayedHandler> Incoming<'_, R, H> {
    async fn run(mut self, mut ticks: Interval) {
        let mut ticked = 0;
        let mut more = self.shared.interest.lack();
        loop {
            // A bus that brings messages without a pause leaves others their turn.
            consume_budget().await;
            if !more.is_empty() {
                self.follow(&std::mem::take(&mut more), &[]).await;
            }
            tokio::select! {
                received = self.receiver.receive() => match received {
                    Received::Message(message) => self.message(&message),
                    Received::Gap => self.gap(),
                    Received::Closed => {
                        tracing::error!("a relay hears nothing any more: its bus is closed");
                        return;
                    }
                },
                () = self.shared.interest.changed() => more = self.shared.interest.lack(),
                _ = ticks.tick() => {
                    ticked += 1;
                    self.tick(ticked % IDLE == 0);
                    more = self.shared.interest.lack();
                    let less = self.shared.interest.excess();
                    if !less.is_empty() {
                        self.follow(&[], &less).await;
                    }
                }
            }
            if self.shared.outgoing.is_done() {
                return;
            }
        }
    }

    async fn follow(&mut self, more: &[Topic], less: &[Topic]) {
        match self.receiver.follow(more, less).await {
            Ok(()) => self.shared.interest.followed(more, less),
            // The next tick asks again.
            Err(error) => tracing::warn!(%error, "a relay cannot follow all that it wants"),
        }
    }

    fn tick(&mut self, due: bool) {
        if self.hello.is_some() {
            self.shared.outgoing.say_hello();
        } else {
            self.shared.outgoing.tick(due);
        }
        // Once for all who did: what is said goes to everyone.
        if std::mem::take(&mut self.greeted) {
            self.shared.outgoing.answer();
        }
        if self.echoed.elapsed() < DEAF && self.peers.forget() {
            self.catch_up(Topic::EVERYONE);
        }
    }

    fn gap(&mut self) {
        self.hello = Some(self.shared.outgoing.say_hello());
    }

    fn message(&mut self, message: &Bytes) {
        let counts = &self.shared.counts;
        match envelope::read(message) {
            Ok((head, body)) if head.origin == self.shared.outgoing.origin() => self.echo(&head, &body),
            Ok((head, _)) if self.before == Some(head.origin) || self.shared.replaced.load(Relaxed) => {}
            Ok((head, body)) => self.foreign(&head, body),
            Err(Unreadable::Unknown) => count(&counts.unknown),
            Err(Unreadable::Damaged) => count(&counts.damaged),
        }
    }

    fn echo(&mut self, head: &Head, body: &Body<'_>) {
        if !matches!(body, Body::Beacon(_)) {
            return;
        }
        self.shared.outgoing.confirm(head.sequence);
        if self.echoed.elapsed() >= DEAF {
            self.peers.excuse();
        }
        self.echoed = Instant::now();
        if self.hello.is_some_and(|hello| hello <= head.sequence) {
            self.hello = None;
            self.since = Instant::now();
            self.peers.excuse();
            self.catch_up(Topic::EVERYONE);
        }
    }

    fn foreign(&mut self, head: &Head, body: Body<'_>) {
        let Some(since) = self.since(head.topic) else {
            // A topic that matters no more, or not yet.
            count(&self.shared.counts.unconcerned);
            return;
        };
        match self.peers.message(head, since) {
            Verdict::Late => return count(&self.shared.counts.late),
            // What waits to be told after a hello is all that there is.
            Verdict::AfterGap if self.hello.is_none() => self.catch_up(head.topic),
            Verdict::AfterGap | Verdict::Next => {}
        }
        match body {
            Body::Event { kinds, uri, event } => self.event(kinds, uri, &event),
            Body::Beacon(beacon) => self.beacon(head, &beacon),
            Body::Missed(missed) => self.missed(&missed),
        }
    }

    fn event(&self, kinds: Kinds, uri: Option<&str>, event: &EncodedEvent<'_>) {
        let counts = &self.shared.counts;
        if !self.hub.concerns(kinds, uri) {
            return count(&counts.unconcerned);
        }
        // Its error is foreign as well.
        let decode = || H::decode(event).map(|decoded| decoded.map_err(|error| error.to_string()));
        match catch_unwind(decode) {
            Ok(Some(Ok(decoded))) => {
                // What it changes there and not by its method here.
                let more = kinds.difference(H::kinds(&decoded));
                self.hub.offer_foreign(decoded, uri);
                count(&counts.delivered);
                return self.hub.lagged(more, uri);
            }
            Ok(None) => count(&counts.unknown),
            Ok(Some(Err(error))) => {
                tracing::warn!(%error, event = event.name(), "an event of another process cannot be read");
                count(&counts.damaged);
            }
            Err(_) => {
                tracing::error!(event = event.name(), "reading an event of another process panicked");
                count(&counts.damaged);
            }
        }
        // Something has changed, whatever it is called.
        self.hub.lagged(kinds, uri);
    }

    fn beacon(&mut self, head: &Head, beacon: &Beacon) {
        self.greeted |= beacon.hello;
        let mut lost = HashSet::new();
        for &(topic, sequence, age) in &beacon.last {
            let Some(topic) = Topic::at(topic).filter(|topic| *topic != Topic::EVERYONE) else { continue };
            let Some(since) = self.since(topic) else { continue };
            let age = Duration::from_millis(age);
            if self.peers.told(head.origin, topic, sequence, age, since) && self.hello.is_none() {
                lost.insert(topic);
            }
        }
        if !lost.is_empty() {
            count(&self.shared.counts.gaps);
            self.hub.lagged_where(|uri| lost.contains(&Topic::of(uri)));
        }
        if beacon.goodbye {
            self.peers.part(head.origin);
        }
    }

    fn missed(&self, missed: &MissedEvents) {
        let kinds = missed.kinds();
        let Some(uris) = missed.uris() else { return self.hub.lagged(kinds, None) };
        self.hub.lagged(kinds.difference(Kinds::RESOURCES_UPDATED), None);
        for uri in uris {
            self.hub.lagged(Kinds::RESOURCES_UPDATED, Some(uri));
        }
    }

    /// Messages of a topic were lost, and nobody knows what they said.
    fn catch_up(&self, topic: Topic) {
        if self.shared.replaced.load(Relaxed) {
            return;
        }
        count(&self.shared.counts.gaps);
        if topic == Topic::EVERYONE {
            self.hub.lagged(Kinds::ALL, None);
        } else {
            self.hub.lagged_where(|uri| Topic::of(uri) == topic);
        }
    }

    /// Since when nothing of a topic is lost, if it matters.
    fn since(&self, topic: Topic) -> Option<Instant> {
        if topic == Topic::EVERYONE {
            return Some(self.since);
        }
        self.shared.interest.since(topic).map(|since| since.max(self.since))
    }
}
