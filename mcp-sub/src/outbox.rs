//! The frames of one stream that its transport has not taken yet.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use tokio::time::Instant;

#[cfg(feature = "rmcp")]
use crate::kind::Kinds;
use crate::{
    filter::Honoured,
    frame::Frames,
    kind::KINDS,
    pending::{Added, Entry, Pending},
    protocol::id::RequestId,
    stats::Counters,
    sync::{Mutex, lock},
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
}

#[derive(Debug, Default)]
struct State {
    acknowledged: bool,
    pending: Pending,
    windows: Option<Box<OpenWindows>>,
    ending: Ending,
    /// The frames of the list-changed kinds: they never change, so each is rendered once.
    lists: [Option<Bytes>; KINDS.len() - 1],
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
    /// `reason` is for programs, `text` for people.
    Failed { reason: &'static str, text: &'static str },
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
        let state = Mutex::new(State { windows, ..State::default() });
        Self { frames, honoured, counters: Counters::default(), state }
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
        }
    }

    fn add(&self, add: impl FnOnce(&mut Pending) -> Added) {
        let mut state = lock(&self.state);
        if !matches!(state.ending, Ending::Open) {
            return;
        }
        match add(&mut state.pending) {
            Added::New => {}
            Added::Merged => self.counters.merged.add(1),
            Added::NotHonoured => self.counters.filtered.add(1),
        }
    }

    /// The first ending stands.
    pub(crate) fn end(&self, last: Last) {
        let mut state = lock(&self.state);
        if matches!(state.ending, Ending::Open) {
            state.ending = Ending::Waits(last);
        }
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
        self.take_as(|Waiting { acknowledgement, pending, last, lists }| {
            // By far the most frequent case shares its bytes with all notifications before it.
            if !acknowledgement
                && last.is_none()
                && let Some(index) = pending.single_list()
            {
                pending.drain(drop);
                return lists[index].get_or_insert_with(|| self.frames.list(index)).clone();
            }
            let mut out = BytesMut::new();
            if acknowledgement {
                self.frames.acknowledged(&mut out, &self.honoured);
            }
            pending.drain(|entry| match entry {
                Entry::List(index) => {
                    out.extend_from_slice(lists[index].get_or_insert_with(|| self.frames.list(index)));
                }
                Entry::Uri(position) => self.frames.updated(&mut out, &self.honoured.uris()[position]),
            });
            match last {
                None => {}
                Some(Last::Completed) => self.frames.completed(&mut out),
                Some(Last::Failed { reason, text }) => self.frames.failed(&mut out, reason, text),
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

    fn take_as<T>(&self, render: impl FnOnce(Waiting<'_>) -> T) -> Taken<T> {
        let State { acknowledged, pending, windows, ending, lists } = &mut *lock(&self.state);
        let last = match *ending {
            Ending::Open => None,
            Ending::Waits(last) => Some(last),
            Ending::Taken => return Taken::End,
        };
        if last.is_some() {
            *ending = Ending::Taken;
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
        Taken::Frames(render(Waiting { acknowledgement, pending, last, lists }))
    }
}

/// What waits when it is taken.
struct Waiting<'a> {
    acknowledgement: bool,
    pending: &'a mut Pending,
    last: Option<Last>,
    lists: &'a mut [Option<Bytes>; KINDS.len() - 1],
}

#[cfg(test)]
#[cfg(mcp_sub_loom)]
mod models;
