//! What all streams share, and what has arrived so far. One thread runs them all, so plain cells suffice.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    time::{Duration, Instant},
};

use tokio::{
    sync::{Notify, Semaphore},
    time::timeout,
};

use crate::{histogram::Histogram, options::Options};

/// Streams that are being opened at a time.
const OPENING: usize = 64;

pub struct Shared {
    pub options: Options,
    pub opening: Semaphore,
    /// At each acknowledgement, end of a stream, and event that all have.
    pub progress: Notify,
    pub acknowledged: Cell<usize>,
    /// Streams that could not be opened, or were acknowledged and have ended.
    pub ended: Cell<usize>,
    /// What went wrong, and how often.
    pub faults: RefCell<BTreeMap<String, usize>>,
    pub phase: RefCell<Phase>,
}

/// What has arrived since the counting began. Times are those of [`bench_trigger::now`].
#[derive(Default)]
pub struct Phase {
    /// When each event was triggered, and how many streams have yet to hear of it.
    pub events: Vec<(u64, usize)>,
    /// Events of which all have heard.
    pub complete: usize,
    pub delivered: u64,
    /// For each stream: how many notifications, and when the last one came.
    pub streams: Vec<(usize, u64)>,
    /// From the trigger until each stream has the event.
    pub latency: Histogram,
    /// From the trigger until the last stream has it.
    pub last_arrival: Histogram,
    pub last_delivery: u64,
    pub reads: u64,
    pub bytes: u64,
}

impl Shared {
    pub fn new(options: Options) -> Rc<Self> {
        let shared = Self {
            options,
            opening: Semaphore::new(OPENING),
            progress: Notify::new(),
            acknowledged: Cell::new(0),
            ended: Cell::new(0),
            faults: RefCell::default(),
            phase: RefCell::default(),
        };
        shared.new_phase();
        Rc::new(shared)
    }

    /// Counts from here on.
    pub fn new_phase(&self) {
        let streams = vec![(0, 0); self.options.streams];
        *self.phase.borrow_mut() = Phase { streams, ..Phase::default() };
    }

    /// How many streams each event concerns.
    pub fn concerned(&self) -> usize {
        self.options.filter.concerned(self.options.streams)
    }

    /// Notes that the next events are triggered now.
    pub fn triggered(&self, events: usize) {
        let event = (bench_trigger::now(), self.concerned());
        let mut phase = self.phase.borrow_mut();
        let length = phase.events.len() + events;
        phase.events.resize(length, event);
    }

    /// Notes that a stream got a notification.
    pub fn arrived(&self, index: usize, now: u64) {
        let phase = &mut *self.phase.borrow_mut();
        phase.delivered += 1;
        phase.last_delivery = now;
        let (nth, last) = &mut phase.streams[index];
        let event = self.options.filter.event(index, self.options.streams, *nth);
        *nth += 1;
        *last = now;
        let Some((triggered, missing)) = phase.events.get_mut(event) else {
            return self.fault("more notifications than events");
        };
        let latency = now.saturating_sub(*triggered);
        phase.latency.record(latency);
        *missing -= 1;
        if *missing == 0 {
            phase.last_arrival.record(latency);
            phase.complete += 1;
            self.progress.notify_one();
        }
    }

    pub fn fault(&self, what: impl Into<String>) {
        *self.faults.borrow_mut().entry(what.into()).or_insert(0) += 1;
    }

    pub fn has_ended(&self) {
        self.ended.set(self.ended.get() + 1);
        self.progress.notify_one();
    }

    /// Waits until `done`; false if nothing happened for `patience` meanwhile.
    pub async fn wait(&self, patience: Duration, done: impl Fn(&Phase) -> bool) -> bool {
        let state = || (self.acknowledged.get(), self.ended.get(), self.phase.borrow().delivered);
        let (mut seen, mut since) = (state(), Instant::now());
        while !done(&self.phase.borrow()) {
            timeout(Duration::from_millis(100), self.progress.notified()).await.ok();
            let now = state();
            if now != seen {
                (seen, since) = (now, Instant::now());
            } else if since.elapsed() > patience {
                return done(&self.phase.borrow());
            }
        }
        true
    }
}
