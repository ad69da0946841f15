//! A bus within one process, with faults.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use super::super::{Bus, BusError, BusReceiver, BusSender, Received, Topic};
use crate::sync::lock;

/// How many messages wait for one receiver. What comes beyond that is lost.
const CAPACITY: usize = 4096;

/// What goes wrong with messages, each time for one receiver.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// A message takes up to this long. The order stays.
    pub delay: Duration,
    /// Of a thousand messages, how many are lost.
    pub loss: u16,
    /// How many come twice.
    pub duplicates: u16,
    /// How many overtake the one before.
    pub reordered: u16,
}

/// A broker in memory. Clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    broker: Arc<Broker>,
}

#[derive(Debug, Default)]
struct Broker {
    state: Mutex<State>,
    up: Notify,
}

#[derive(Debug, Default)]
struct State {
    members: Vec<Arc<Member>>,
    faults: Faults,
    stopped: bool,
    random: u64,
}

#[derive(Debug, Default)]
struct Member {
    line: Mutex<Line>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Line {
    waiting: VecDeque<(Instant, Bytes)>,
    followed: HashSet<Topic>,
    gap: bool,
    cut: bool,
    woken: u64,
}

impl Memory {
    /// A broker that nothing goes wrong with.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on, these go wrong. `seed` chooses which messages.
    pub fn set_faults(&self, faults: Faults, seed: u64) {
        let mut state = lock(&self.broker.state);
        state.faults = faults;
        state.random = seed | 1;
    }

    /// The end of one more process.
    #[must_use]
    pub fn bus(&self) -> MemoryBus {
        let member = Arc::<Member>::default();
        lock(&self.broker.state).members.push(member.clone());
        MemoryBus { broker: self.broker.clone(), member }
    }

    /// Stops: what is on its way is lost, and senders wait.
    pub fn stop(&self) {
        let mut state = lock(&self.broker.state);
        state.stopped = true;
        for member in &state.members {
            lock(&member.line).waiting.clear();
        }
    }

    /// Runs again. All hear of the gap.
    pub fn start(&self) {
        let members = {
            let mut state = lock(&self.broker.state);
            state.stopped = false;
            state.members.clone()
        };
        for member in members {
            member.tell_gap();
        }
        self.broker.up.notify_waiters();
    }
}

impl Broker {
    fn deliver(&self, from: &Arc<Member>, topic: Topic, message: &Bytes) -> bool {
        let mut state = lock(&self.state);
        if state.stopped {
            return false;
        }
        // The sender learns nothing of it.
        if lock(&from.line).cut {
            return true;
        }
        let State { members, faults, random, .. } = &mut *state;
        for member in members {
            let mut line = lock(&member.line);
            if line.cut || !(topic == Topic::EVERYONE || line.followed.contains(&topic)) {
                continue;
            }
            let mut happens = |of_thousand: u16| of_thousand > 0 && next(random) % 1000 < of_thousand.into();
            if happens(faults.loss) {
                continue;
            }
            let copies = 1 + usize::from(happens(faults.duplicates));
            let overtakes = happens(faults.reordered);
            let delay =
                faults.delay.mul_f64(f64::from(u8::try_from(next(random) % 256).unwrap_or(0)) / 256.0);
            let after = line.waiting.back().map_or_else(Instant::now, |(due, _)| *due);
            let due = after.max(Instant::now() + delay);
            for _ in 0..copies {
                if line.waiting.len() < CAPACITY {
                    let place = line.waiting.len() - usize::from(overtakes && !line.waiting.is_empty());
                    line.waiting.insert(place, (due, message.clone()));
                }
            }
            drop(line);
            member.changed.notify_one();
        }
        true
    }
}

impl Member {
    fn tell_gap(&self) {
        lock(&self.line).gap = true;
        self.changed.notify_one();
    }
}

/// Xorshift.
fn next(random: &mut u64) -> u64 {
    *random |= u64::from(*random == 0);
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random
}

/// The end of one process. Clones are the same end, for a test to hold.
#[derive(Clone, Debug)]
pub struct MemoryBus {
    broker: Arc<Broker>,
    member: Arc<Member>,
}

impl MemoryBus {
    /// From now on, nothing comes or goes, and nobody says so.
    pub fn cut(&self) {
        lock(&self.member.line).cut = true;
    }

    /// Things come and go again. The process is not told.
    pub fn heal(&self) {
        lock(&self.member.line).cut = false;
    }

    /// How many messages it was handed.
    #[must_use]
    pub fn woken(&self) -> u64 {
        lock(&self.member.line).woken
    }

    /// Puts bytes on the line that no relay has sent.
    pub fn inject(&self, message: Bytes) {
        lock(&self.member.line).waiting.push_back((Instant::now(), message));
        self.member.changed.notify_one();
    }
}

impl Bus for MemoryBus {
    type Sender = MemorySender;
    type Receiver = MemoryReceiver;

    async fn open(&mut self) -> Result<(MemorySender, MemoryReceiver), BusError> {
        Ok((MemorySender(self.clone()), MemoryReceiver(self.clone())))
    }
}

/// The half that sends.
#[derive(Debug)]
pub struct MemorySender(MemoryBus);

impl BusSender for MemorySender {
    async fn send(&mut self, topic: Topic, message: Bytes) -> Result<(), BusError> {
        let MemoryBus { broker, member } = &self.0;
        loop {
            let up = broker.up.notified();
            tokio::pin!(up);
            up.as_mut().enable();
            if broker.deliver(member, topic, &message) {
                return Ok(());
            }
            up.await;
        }
    }

    async fn flush(&mut self) -> Result<(), BusError> {
        Ok(())
    }
}

/// The half that receives.
#[derive(Debug)]
pub struct MemoryReceiver(MemoryBus);

impl BusReceiver for MemoryReceiver {
    async fn follow(&mut self, more: &[Topic], less: &[Topic]) -> Result<(), BusError> {
        let mut line = lock(&self.0.member.line);
        line.followed.extend(more);
        for topic in less {
            line.followed.remove(topic);
        }
        Ok(())
    }

    async fn receive(&mut self) -> Received {
        let member = &self.0.member;
        loop {
            let due = {
                let mut line = lock(&member.line);
                if std::mem::take(&mut line.gap) {
                    return Received::Gap;
                }
                match line.waiting.front() {
                    Some((due, _)) if *due <= Instant::now() => {
                        line.woken += 1;
                        match line.waiting.pop_front() {
                            Some((_, message)) => return Received::Message(message),
                            None => continue,
                        }
                    }
                    next => next.map(|(due, _)| *due),
                }
            };
            match due {
                Some(due) => tokio::select! {
                    () = sleep_until(due) => {}
                    () = member.changed.notified() => {}
                },
                None => member.changed.notified().await,
            }
        }
    }
}
