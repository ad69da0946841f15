//! Coalescing windows: for how long after a notification the next one of the same thing waits.
//!
//! The first notification goes out at once. What comes before its window ends is held, merges, and goes out when the
//! window ends, which begins a new one. So a storm costs a client one notification per window, and the last change is
//! always told.

use std::{
    collections::{BTreeSet, HashMap},
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};

use crate::{
    filter::Honoured,
    kind::{KINDS, Kinds},
    pending::{Added, Entry, Pending},
    sync::{Mutex, lock},
};

/// The setting: how long the window of each kind is. Zero is none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Windows([Duration; KINDS.len()]);

impl Windows {
    /// So that the end of a window is always an instant that exists.
    const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

    pub(crate) fn set(&mut self, kinds: Kinds, window: Duration) {
        for index in kinds.indices() {
            self.0[index] = window.min(Self::LONGEST);
        }
    }

    /// The windows of one stream, if there is one for anything that it honours.
    pub(crate) fn open(self, honoured: Kinds) -> Option<Box<OpenWindows>> {
        let concerned = honoured.indices().any(|index| !self.0[index].is_zero());
        concerned.then(|| Box::new(OpenWindows { of: self, ends: HashMap::new(), held: BTreeSet::new() }))
    }

    fn of(&self, entry: Entry) -> Duration {
        match entry {
            Entry::List(index) => self.0[index],
            Entry::Uri(_) => self.0[KINDS.len() - 1],
        }
    }
}

/// What one stream told lately, and what it does not tell yet. Bounded by what it honours.
#[derive(Debug)]
pub(crate) struct OpenWindows {
    of: Windows,
    /// When the last window of an entry ends, or ended.
    ends: HashMap<Entry, Instant>,
    /// What waits for the end of its window, by that end.
    held: BTreeSet<(Instant, Entry)>,
}

impl OpenWindows {
    /// Leaves in `waiting` what is due: holds what came inside its window, and puts back what has waited for the end of
    /// one. Returns how many of these merged.
    pub(crate) fn sort(&mut self, waiting: &mut Pending, honoured: &Honoured, now: Instant) -> u64 {
        let Self { ends, held, .. } = self;
        let mut merged = 0;
        waiting.retain(|entry| match ends.get(&entry) {
            Some(&end) if now < end => {
                merged += u64::from(!held.insert((end, entry)));
                false
            }
            _ => true,
        });
        while let Some(&(end, entry)) = held.first()
            && end <= now
        {
            held.pop_first();
            merged += u64::from(waiting.add(honoured, entry) == Added::Merged);
        }
        merged
    }

    /// Holds nothing any more: all of it is due. Returns how many merged with what waits.
    pub(crate) fn flush(&mut self, waiting: &mut Pending, honoured: &Honoured) -> u64 {
        let held = std::mem::take(&mut self.held).into_iter();
        held.map(|(_, entry)| u64::from(waiting.add(honoured, entry) == Added::Merged)).sum()
    }

    /// All of `sent` goes out now.
    pub(crate) fn begin(&mut self, sent: &Pending, now: Instant) {
        for entry in sent.entries() {
            let window = self.of.of(entry);
            if !window.is_zero() {
                self.ends.insert(entry, now + window);
            }
        }
    }

    /// When the first of what is held is due.
    pub(crate) fn next_end(&self) -> Option<Instant> {
        self.held.first().map(|&(end, _)| end)
    }
}

/// Wakes a stream that holds something. Nothing is allocated before there is need for it.
#[derive(Debug, Default)]
pub(crate) struct Timer(Mutex<Option<Pin<Box<Sleep>>>>);

impl Timer {
    pub(crate) fn poll_until(&self, until: Instant, cx: &mut Context<'_>) -> Poll<()> {
        // Out of its lock while it is polled: it keeps a waker, and those are foreign code.
        let sleep = lock(&self.0).take();
        let mut sleep = sleep.unwrap_or_else(|| Box::pin(sleep_until(until)));
        if sleep.deadline() != until {
            sleep.as_mut().reset(until);
        }
        let polled = sleep.as_mut().poll(cx);
        let other = lock(&self.0).replace(sleep);
        drop(other);
        polled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::filter::RequestedFilter;

    const WINDOW: Duration = Duration::from_millis(100);
    const TOOLS: Entry = Entry::List(0);
    const PROMPTS: Entry = Entry::List(1);

    struct Stream {
        honoured: Honoured,
        waiting: Pending,
        windows: OpenWindows,
        start: Instant,
    }

    impl Stream {
        /// One that honours tools, prompts and two URIs.
        fn new(kinds: Kinds) -> Self {
            let honoured = Honoured::new(RequestedFilter {
                kinds: Kinds::TOOLS_LIST_CHANGED
                    .union(Kinds::PROMPTS_LIST_CHANGED)
                    .union(Kinds::RESOURCES_UPDATED),
                uris: vec!["x:a".into(), "x:b".into()],
            });
            let mut windows = Windows::default();
            windows.set(kinds, WINDOW);
            let windows = *windows.open(honoured.kinds()).unwrap();
            Self { honoured, waiting: Pending::default(), windows, start: Instant::now() }
        }

        fn add(&mut self, entries: &[Entry]) {
            for &entry in entries {
                self.waiting.add(&self.honoured, entry);
            }
        }

        /// What goes out so many milliseconds after the start.
        fn take(&mut self, at: u64) -> Vec<Entry> {
            let now = self.start + Duration::from_millis(at);
            self.windows.sort(&mut self.waiting, &self.honoured, now);
            self.windows.begin(&self.waiting, now);
            let mut taken = Vec::new();
            self.waiting.drain(|entry| taken.push(entry));
            taken
        }

        fn next_end(&self) -> Option<u128> {
            self.windows.next_end().map(|end| (end - self.start).as_millis())
        }
    }

    #[test]
    fn the_first_goes_at_once_and_those_inside_its_window_once_at_its_end() {
        let mut stream = Stream::new(Kinds::TOOLS_LIST_CHANGED);
        stream.add(&[TOOLS]);
        assert_eq!((stream.take(0), stream.next_end()), (vec![TOOLS], None));
        for at in [0, 1, 50, 99] {
            stream.add(&[TOOLS]);
            assert_eq!((stream.take(at), stream.next_end()), (vec![], Some(100)));
        }
        assert_eq!((stream.take(100), stream.next_end()), (vec![TOOLS], None));
        // Which begins a new window.
        stream.add(&[TOOLS]);
        assert_eq!((stream.take(199), stream.next_end()), (vec![], Some(200)));
        assert_eq!(stream.take(200), [TOOLS]);
        assert_eq!(stream.take(300), []);
        stream.add(&[TOOLS]);
        assert_eq!((stream.take(301), stream.next_end()), (vec![TOOLS], None), "a window ends by itself");
    }

    #[test]
    fn each_uri_has_its_window_and_other_kinds_have_none() {
        let mut stream = Stream::new(Kinds::RESOURCES_UPDATED);
        stream.add(&[Entry::Uri(1)]);
        assert_eq!(stream.take(0), [Entry::Uri(1)]);
        stream.add(&[Entry::Uri(1), Entry::Uri(0), PROMPTS]);
        assert_eq!(stream.take(30), [Entry::Uri(0), PROMPTS]);
        stream.add(&[Entry::Uri(0), PROMPTS]);
        assert_eq!((stream.take(40), stream.next_end()), (vec![PROMPTS], Some(100)));
        assert_eq!((stream.take(100), stream.next_end()), (vec![Entry::Uri(1)], Some(130)));
        assert_eq!((stream.take(200), stream.next_end()), (vec![Entry::Uri(0)], None));
    }

    #[test]
    fn a_window_begins_when_its_notification_is_taken() {
        let mut stream = Stream::new(Kinds::TOOLS_LIST_CHANGED);
        stream.add(&[TOOLS]);
        assert_eq!(stream.take(500), [TOOLS]);
        stream.add(&[TOOLS]);
        assert_eq!((stream.take(510), stream.next_end()), (vec![], Some(600)));
        // What is held and what comes after the end are one.
        stream.add(&[TOOLS]);
        assert_eq!((stream.take(700), stream.next_end()), (vec![TOOLS], None));
    }

    #[test]
    fn a_flush_leaves_nothing_held() {
        let mut stream = Stream::new(Kinds::TOOLS_LIST_CHANGED.union(Kinds::RESOURCES_UPDATED));
        stream.add(&[TOOLS, Entry::Uri(0)]);
        stream.take(0);
        stream.add(&[TOOLS]);
        assert_eq!(stream.take(1), []);
        stream.add(&[TOOLS, Entry::Uri(0), Entry::Uri(1)]);
        let merged = stream.windows.flush(&mut stream.waiting, &stream.honoured);
        assert_eq!(merged, 1, "tools were held, and wait");
        let mut left: Vec<_> = stream.waiting.entries().collect();
        left.sort_unstable();
        assert_eq!((left, stream.next_end()), (vec![TOOLS, Entry::Uri(0), Entry::Uri(1)], None));
    }

    #[test]
    fn no_window_is_open_where_none_is_set_for_what_is_honoured() {
        let mut windows = Windows::default();
        assert!(windows.open(Kinds::TOOLS_LIST_CHANGED).is_none());
        windows.set(Kinds::PROMPTS_LIST_CHANGED.union(Kinds::RESOURCES_UPDATED), WINDOW);
        assert!(windows.open(Kinds::TOOLS_LIST_CHANGED).is_none());
        assert!(windows.open(Kinds::RESOURCES_UPDATED).is_some());
        windows.set(Kinds::RESOURCES_UPDATED, Duration::ZERO);
        assert!(windows.open(Kinds::RESOURCES_UPDATED).is_none());
    }

    #[test]
    fn no_window_is_too_long() {
        let mut stream = Stream::new(Kinds::TOOLS_LIST_CHANGED);
        stream.windows.of.set(Kinds::TOOLS_LIST_CHANGED, Duration::MAX);
        stream.add(&[TOOLS]);
        assert_eq!(stream.take(0), [TOOLS]);
        stream.add(&[TOOLS]);
        assert_eq!(stream.take(1_000_000), []);
    }
}
