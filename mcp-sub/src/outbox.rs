//! The frames of one stream that its transport has not taken yet.

use std::sync::{Arc, Mutex};

use bytes::{Bytes, BytesMut};

use crate::{
    filter::Honoured,
    frame::Frames,
    kind::KINDS,
    pending::{Entry, Pending},
    protocol::id::RequestId,
    sync::lock,
};

/// First the acknowledgement, then notifications, at last one ending; nothing after it.
///
/// Notifications that wait merge, so an outbox is bounded by what its subscription honours. They are rendered when
/// they are taken.
#[derive(Debug)]
pub(crate) struct Outbox {
    frames: Frames,
    honoured: Arc<Honoured>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    acknowledged: Option<Bytes>,
    pending: Pending,
    ending: Ending,
    /// The frames of the list-changed kinds: they never change, so each is rendered once.
    lists: [Option<Bytes>; KINDS.len() - 1],
}

#[derive(Debug, Default)]
enum Ending {
    #[default]
    Open,
    /// The last frame waits.
    Waits(Bytes),
    Taken,
}

/// What there was to take.
#[derive(Debug, PartialEq)]
pub(crate) enum Taken {
    Frames(Bytes),
    Nothing,
    /// The last frame was taken before.
    End,
}

impl Outbox {
    /// An outbox in which the acknowledgement waits.
    pub(crate) fn new(frames: Frames, honoured: Arc<Honoured>) -> Self {
        let acknowledged = Some(frames.acknowledged(&honoured));
        Self { frames, honoured, state: Mutex::new(State { acknowledged, ..State::default() }) }
    }

    pub(crate) fn id(&self) -> &RequestId {
        &self.frames.id
    }

    pub(crate) fn honoured(&self) -> &Honoured {
        &self.honoured
    }

    pub(crate) fn add_list(&self, index: usize) {
        self.add(|pending| pending.add_list(&self.honoured, index));
    }

    pub(crate) fn add_uri(&self, uri: &str) {
        self.add(|pending| pending.add_uri(&self.honoured, uri));
    }

    pub(crate) fn add_all(&self, missed: Pending) {
        self.add(|pending| pending.append(&self.honoured, missed));
    }

    fn add(&self, add: impl FnOnce(&mut Pending)) {
        let mut state = lock(&self.state);
        if matches!(state.ending, Ending::Open) {
            add(&mut state.pending);
        }
    }

    /// The graceful end. The first ending stands.
    pub(crate) fn complete(&self) {
        self.end(|| self.frames.completed());
    }

    /// The end by an error. The first ending stands.
    pub(crate) fn fail(&self, reason: &str, text: &str) {
        self.end(|| self.frames.failed(reason, text));
    }

    fn end(&self, frame: impl FnOnce() -> Bytes) {
        let mut state = lock(&self.state);
        if matches!(state.ending, Ending::Open) {
            state.ending = Ending::Waits(frame());
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        let state = lock(&self.state);
        state.acknowledged.is_none() && state.pending.is_empty() && !matches!(state.ending, Ending::Waits(_))
    }

    /// Whether the last frame was taken.
    pub(crate) fn is_finished(&self) -> bool {
        matches!(lock(&self.state).ending, Ending::Taken)
    }

    /// Everything that waits, as one piece.
    pub(crate) fn take(&self) -> Taken {
        let State { acknowledged, pending, ending, lists } = &mut *lock(&self.state);
        let last = match ending {
            Ending::Open => None,
            Ending::Waits(frame) => Some(std::mem::take(frame)),
            Ending::Taken => return Taken::End,
        };
        if last.is_some() {
            *ending = Ending::Taken;
        }
        let first = acknowledged.take();
        if first.is_none() && last.is_none() {
            if pending.is_empty() {
                return Taken::Nothing;
            }
            // By far the most frequent case shares its bytes with all notifications before it.
            if let Some(index) = pending.single_list() {
                pending.drain(drop);
                return Taken::Frames(lists[index].get_or_insert_with(|| self.frames.list(index)).clone());
            }
        }
        let mut out = BytesMut::new();
        out.extend(first);
        pending.drain(|entry| match entry {
            Entry::List(index) => {
                out.extend_from_slice(lists[index].get_or_insert_with(|| self.frames.list(index)));
            }
            Entry::Uri(position) => self.frames.updated(&mut out, &self.honoured.uris()[position]),
        });
        out.extend(last);
        Taken::Frames(out.freeze())
    }
}
