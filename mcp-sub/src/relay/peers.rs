//! What was heard of the other processes, and so what was not.

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;

use super::{
    Topic,
    envelope::{Head, Origin},
};

/// After how much silence a peer is gone: three of its beacons.
const FORGET: Duration = Duration::from_secs(30);
/// How many are known at most.
const PEERS: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Peers {
    peers: HashMap<Origin, Peer>,
    /// One was forgotten for want of room, and that has not been told yet.
    crowded: bool,
}

#[derive(Debug)]
struct Peer {
    heard: Instant,
    seen: HashMap<Topic, Seen>,
}

/// The last message of one topic.
#[derive(Clone, Copy, Debug)]
struct Seen {
    sequence: u64,
    at: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It came before, or one that was sent after it did.
    Late,
    Next,
    /// One before it has not come and will not.
    AfterGap,
}

impl Peers {
    /// A message came. `since` when its topic is followed without a gap that is known.
    pub(super) fn message(&mut self, head: &Head, since: Instant) -> Verdict {
        let now = Instant::now();
        let seen = self.peer(head.origin, now).seen.get(&head.topic).copied();
        if seen.is_some_and(|seen| head.sequence <= seen.sequence) {
            return Verdict::Late;
        }
        let gap = lost(seen, head.previous, head.previous_age, since, now);
        self.note(head.origin, head.topic, head.sequence, now);
        if gap { Verdict::AfterGap } else { Verdict::Next }
    }

    /// `origin` says that `sequence` was the last message of `topic`, sent `age` ago. Returns whether that was lost.
    pub(super) fn told(
        &mut self,
        origin: Origin,
        topic: Topic,
        sequence: u64,
        age: Duration,
        since: Instant,
    ) -> bool {
        let now = Instant::now();
        let seen = self.peer(origin, now).seen.get(&topic).copied();
        if seen.is_some_and(|seen| sequence < seen.sequence) {
            return false;
        }
        let gap = lost(seen, sequence, age, since, now);
        self.note(origin, topic, sequence, now);
        gap
    }

    /// Lets go of those who are gone without a word. Returns whether there are any, or were too many: they may have taken
    /// with them what they had published.
    pub(super) fn forget(&mut self) -> bool {
        let before = self.peers.len();
        self.peers.retain(|_, peer| peer.heard.elapsed() < FORGET);
        std::mem::take(&mut self.crowded) || self.peers.len() < before
    }

    /// One said goodbye.
    pub(super) fn part(&mut self, origin: Origin) {
        self.peers.remove(&origin);
    }

    /// Silence up to now says nothing.
    pub(super) fn excuse(&mut self) {
        let now = Instant::now();
        for peer in self.peers.values_mut() {
            peer.heard = now;
        }
    }

    fn peer(&mut self, origin: Origin, now: Instant) -> &mut Peer {
        if self.peers.len() >= PEERS && !self.peers.contains_key(&origin) {
            self.make_room();
        }
        let peer = self.peers.entry(origin).or_insert_with(|| Peer { heard: now, seen: HashMap::new() });
        peer.heard = now;
        peer
    }

    /// Forgets the one that was silent for longest.
    fn make_room(&mut self) {
        let oldest = self.peers.iter().min_by_key(|(_, peer)| peer.heard).map(|(origin, _)| *origin);
        if let Some(oldest) = oldest {
            self.peers.remove(&oldest);
            self.crowded = true;
        }
    }

    fn note(&mut self, origin: Origin, topic: Topic, sequence: u64, at: Instant) {
        self.peer(origin, at).seen.insert(topic, Seen { sequence, at });
    }
}

/// Whether a message was lost that should have come: it was sent `age` ago, and `since` then we listen.
///
/// What was seen before that is no base to count from: what came in between was told of otherwise, or concerned nobody. Then
/// its age decides. The message was on its way for a while, so one that was sent shortly before counts as well: a catch-up
/// too many, never one too few.
fn lost(seen: Option<Seen>, sequence: u64, age: Duration, since: Instant, now: Instant) -> bool {
    match seen {
        Some(seen) if sequence <= seen.sequence => false,
        Some(seen) if seen.at >= since => true,
        _ => sequence != 0 && age < now.saturating_duration_since(since),
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn head(sequence: u64, previous: u64, previous_age: Duration) -> Head {
        Head { origin: 1, sequence, previous, previous_age, topic: Topic::EVERYONE }
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_that_never_came_is_missed_by_the_next_one() {
        let (mut peers, since) = (Peers::default(), Instant::now());
        advance(SECOND).await;
        assert_eq!(peers.message(&head(1, 0, Duration::ZERO), since), Verdict::Next);
        assert_eq!(peers.message(&head(4, 1, SECOND), since), Verdict::Next, "2 and 3 had other topics");
        assert_eq!(peers.message(&head(4, 1, SECOND), since), Verdict::Late, "twice");
        assert_eq!(peers.message(&head(6, 5, SECOND), since), Verdict::AfterGap);
        assert_eq!(peers.message(&head(5, 4, SECOND), since), Verdict::Late);
        assert_eq!(peers.message(&head(7, 6, SECOND), since), Verdict::Next);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_sent_before_we_listened_is_not_missed() {
        let (mut peers, since) = (Peers::default(), Instant::now());
        advance(SECOND).await;
        assert_eq!(peers.message(&head(9, 8, SECOND * 2), since), Verdict::Next);
        let mut peers = Peers::default();
        assert_eq!(peers.message(&head(9, 8, SECOND / 2), since), Verdict::AfterGap, "it was sent after");
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_gap_that_was_told_of_nothing_older_counts() {
        let (mut peers, before) = (Peers::default(), Instant::now());
        assert_eq!(peers.message(&head(1, 0, Duration::ZERO), before), Verdict::Next);
        advance(SECOND).await;
        let since = Instant::now();
        advance(SECOND).await;
        assert_eq!(peers.message(&head(5, 4, SECOND * 3 / 2), since), Verdict::Next);
        assert!(!peers.told(1, Topic::EVERYONE, 5, Duration::ZERO, since));
        assert!(peers.told(1, Topic::EVERYONE, 6, Duration::ZERO, since));
        assert!(!peers.told(1, Topic::EVERYONE, 6, Duration::ZERO, since), "once");
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_silent_is_forgotten() {
        let mut peers = Peers::default();
        peers.message(&head(1, 0, Duration::ZERO), Instant::now());
        assert!(!peers.forget());
        advance(FORGET).await;
        assert!(peers.forget());
        assert!(peers.peers.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn of_too_many_the_one_silent_for_longest_is_forgotten_and_that_is_a_loss() {
        let (mut peers, since) = (Peers::default(), Instant::now());
        let from = |origin| Head { origin, ..head(1, 0, Duration::ZERO) };
        for origin in 0..PEERS as Origin {
            peers.message(&from(origin), since);
            advance(Duration::from_millis(1)).await;
        }
        assert!(!peers.forget());
        assert_eq!(peers.message(&from(0), since), Verdict::Late, "it is heard of again");
        for origin in 0..10 {
            peers.message(&from(1_000_000 + origin), since);
            advance(Duration::from_millis(1)).await;
        }
        assert_eq!(peers.peers.len(), PEERS);
        assert!(peers.peers.contains_key(&0) && !peers.peers.contains_key(&1));
        assert!(peers.forget());
        assert!(!peers.forget(), "once");
    }
}
