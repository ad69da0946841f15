//! The frames of one stream that its transport has not taken yet.

use std::sync::{
    Arc,
    atomic::Ordering::{Acquire, Release},
};

use bytes::{Bytes, BytesMut};
use tokio::time::Instant;

#[cfg(feature = "rmcp")]
use crate::kind::Kinds;
use crate::{
    ending::Failure,
    filter::Honoured,
    frame::Frames,
    kind::KINDS,
    pending::{Added, Entry, Pending},
    protocol::id::RequestId,
    stats::Counters,
    sync::{AtomicBool, Mutex, lock},
    window::{OpenWindows, Windows},
};

/// First the acknowledgement, then notifications, at last one ending; nothing after it.
///
/// Notifications that wait merge, so an outbox is bounded by what its subscription honours. They are rendered when
/// they are taken. What a window holds is not there yet, for whoever asks; an ending lets go of all of it.
#[derive(Debug)]
pub(crate) struct Outbox {
    frames: Frames,
    honoured: Arc<Honoured>,
    counters: Counters,
    state: Mutex<State>,
    /// Whether something was put in since the last look: nobody takes the lock to find that there is nothing.
    changed: AtomicBool,
    has_windows: bool,
}

#[derive(Debug, Default)]
struct State {
    acknowledged: bool,
    pending: Pending,
    windows: Option<Box<OpenWindows>>,
    ending: Ending,
    rendered: Option<Box<Rendered>>,
}

/// Frames that are told again and again: rendered once, and shared.
#[derive(Debug, Default)]
struct Rendered {
    /// Those of the list-changed kinds, which never change.
    lists: [Option<Bytes>; KINDS.len() - 1],
    /// That of the URI which was told alone, and last: many streams have one.
    uri: Option<(usize, Bytes)>,
}

#[derive(Debug, Default)]
enum Ending {
    #[default]
    Open,
    /// The last frame waits.
    Waits(Last),
    Taken,
}

/// How a stream ends, for its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    /// The graceful end.
    Completed,
    Failed(Failure),
}

/// What a frame says.
#[cfg(feature = "rmcp")]
#[derive(Debug)]
pub(crate) enum Message {
    ListChanged(Kinds),
    Updated(Arc<str>),
    Ended(Last),
}

/// What there was to take.
#[derive(Debug, PartialEq)]
pub(crate) enum Taken<T = Bytes> {
    Frames(T),
    Nothing,
    /// Nothing yet: what is held is due then.
    Held(Instant),
    /// The last frame was taken before.
    End,
}

impl Outbox {
    /// An outbox in which the acknowledgement waits.
    pub(crate) fn new(frames: Frames, honoured: Arc<Honoured>, windows: Windows) -> Self {
        let windows = windows.open(honoured.kinds());
        let has_windows = windows.is_some();
        let state = Mutex::new(State { windows, ..State::default() });
        let changed = AtomicBool::new(true);
        Self { frames, honoured, counters: Counters::default(), state, changed, has_windows }
    }

    pub(crate) fn id(&self) -> &RequestId {
        &self.frames.id
    }

    pub(crate) fn honoured(&self) -> &Arc<Honoured> {
        &self.honoured
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(crate) fn add_list(&self, index: usize) {
        self.add(|pending| pending.add_list(&self.honoured, index));
    }

    pub(crate) fn add_uri(&self, uri: &str) {
        self.add(|pending| pending.add_uri(&self.honoured, uri));
    }

    pub(crate) fn add_all(&self, missed: &Pending) {
        let mut state = lock(&self.state);
        if matches!(state.ending, Ending::Open) {
            state.pending.append(&self.honoured, missed);
            self.changed.store(true, Release);
        }
    }

    fn add(&self, add: impl FnOnce(&mut Pending) -> Added) {
        let mut state = lock(&self.state);
        if !matches!(state.ending, Ending::Open) {
            return;
        }
        match add(&mut state.pending) {
            Added::New => self.changed.store(true, Release),
            Added::Merged => self.counters.merged.add(1),
            Added::NotHonoured => self.counters.filtered.add(1),
        }
    }

    /// The first ending stands.
    pub(crate) fn end(&self, last: Last) {
        let mut state = lock(&self.state);
        if matches!(state.ending, Ending::Open) {
            state.ending = Ending::Waits(last);
            self.changed.store(true, Release);
        }
    }

    /// Whether something was put in since the last look.
    pub(crate) fn has_changed(&self) -> bool {
        self.changed.load(Acquire)
    }

    /// Whether [`take`](Self::take) may find something. What a window holds comes by itself.
    pub(crate) fn may_have_something(&self) -> bool {
        self.has_windows || self.has_changed()
    }

    /// Whether there is nothing to take now.
    pub(crate) fn is_empty(&self) -> bool {
        let mut state = lock(&self.state);
        let State { pending, windows, .. } = &mut *state;
        if let Some(windows) = windows {
            self.counters.merged.add(windows.sort(pending, &self.honoured, Instant::now()));
        }
        state.acknowledged && state.pending.is_empty() && !matches!(state.ending, Ending::Waits(_))
    }

    /// Whether the last frame waits.
    #[cfg(feature = "rmcp")]
    pub(crate) fn is_ended(&self) -> bool {
        matches!(lock(&self.state).ending, Ending::Waits(_))
    }

    /// Whether the last frame was taken.
    pub(crate) fn is_finished(&self) -> bool {
        matches!(lock(&self.state).ending, Ending::Taken)
    }

    /// Everything that waits, as one piece.
    pub(crate) fn take(&self) -> Taken {
        self.take_as(|Waiting { acknowledgement, pending, last, rendered }| {
            // By far the most frequent case shares its bytes with notifications before it.
            if !acknowledgement
                && last.is_none()
                && let Some(entry) = pending.single()
            {
                pending.drain(drop);
                return self.rendered(rendered, entry);
            }
            let mut out = BytesMut::new();
            if acknowledgement {
                self.frames.acknowledged(&mut out, &self.honoured);
            }
            pending.drain(|entry| match entry {
                Entry::List(_) => out.extend_from_slice(&self.rendered(rendered, entry)),
                Entry::Uri(position) => self.frames.updated(&mut out, &self.honoured.uris()[position]),
            });
            match last {
                None => {}
                Some(Last::Completed) => self.frames.completed(&mut out),
                Some(Last::Failed(failure)) => self.frames.failed(&mut out, failure),
            }
            out.freeze()
        })
    }

    /// Everything that waits but the acknowledgement, for a transport that renders it itself.
    #[cfg(feature = "rmcp")]
    pub(crate) fn take_messages(&self) -> Taken<Vec<Message>> {
        self.take_as(|Waiting { pending, last, .. }| {
            let mut messages = Vec::with_capacity(pending.len() + 1);
            pending.drain(|entry| {
                messages.push(match entry {
                    Entry::List(index) => Message::ListChanged(Kinds::at(index)),
                    Entry::Uri(position) => Message::Updated(self.honoured.uris()[position].clone()),
                });
            });
            messages.extend(last.map(Message::Ended));
            messages
        })
    }

    fn rendered(&self, rendered: &mut Option<Box<Rendered>>, entry: Entry) -> Bytes {
        let Rendered { lists, uri } = &mut **rendered.get_or_insert_default();
        let position = match entry {
            Entry::List(index) => return lists[index].get_or_insert_with(|| self.frames.list(index)).clone(),
            Entry::Uri(position) => position,
        };
        if let Some((told, frame)) = uri
            && *told == position
        {
            return frame.clone();
        }
        let mut out = BytesMut::new();
        self.frames.updated(&mut out, &self.honoured.uris()[position]);
        uri.insert((position, out.freeze())).1.clone()
    }

    fn take_as<T>(&self, render: impl FnOnce(Waiting<'_>) -> T) -> Taken<T> {
        let State { acknowledged, pending, windows, ending, rendered } = &mut *lock(&self.state);
        let last = match *ending {
            Ending::Open => None,
            Ending::Waits(last) => Some(last),
            Ending::Taken => return Taken::End,
        };
        if last.is_some() {
            *ending = Ending::Taken;
        } else {
            // After the end there is one thing more to find, for ever: that it was the end.
            self.changed.store(false, Release);
        }
        if let Some(windows) = windows {
            let now = Instant::now();
            let merged = match last {
                None => windows.sort(pending, &self.honoured, now),
                Some(_) => windows.flush(pending, &self.honoured),
            };
            self.counters.merged.add(merged);
            windows.begin(pending, now);
        }
        self.counters.notifications.add(pending.len() as u64);
        let acknowledgement = !std::mem::replace(acknowledged, true);
        if !acknowledgement && last.is_none() && pending.is_empty() {
            let due = windows.as_ref().and_then(|windows| windows.next_end());
            return due.map_or(Taken::Nothing, Taken::Held);
        }
        Taken::Frames(render(Waiting { acknowledgement, pending, last, rendered }))
    }
}

/// What waits when it is taken.
struct Waiting<'a> {
    acknowledgement: bool,
    pending: &'a mut Pending,
    last: Option<Last>,
    rendered: &'a mut Option<Box<Rendered>>,
}

#[cfg(test)]
#[cfg(mcp_sub_loom)]
mod models;
