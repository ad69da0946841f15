//! Messages of one subscription, as the bytes that its transport writes.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use serde_json::json;

use crate::{
    filter::Honoured,
    kind::KINDS,
    protocol::{
        error::{Error, code},
        id::RequestId,
        message,
    },
};

/// What a transport puts before and after each message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Framing {
    pub(crate) before: &'static [u8],
    pub(crate) after: &'static [u8],
    /// Whether `notifications/cancelled` comes before the ending.
    pub(crate) cancelled: bool,
}

/// Renders the messages of one subscription.
#[derive(Debug)]
pub(crate) struct Frames {
    pub(crate) id: RequestId,
    pub(crate) framing: Framing,
    /// JSON, for the result.
    pub(crate) server_info: Option<Arc<str>>,
}

impl Frames {
    pub(crate) fn acknowledged(&self, honoured: &Honoured) -> Bytes {
        let uris = honoured.uris().iter().map(|uri| &**uri);
        self.frame(|out| message::acknowledged(out, &self.id, honoured.kinds(), uris))
    }

    pub(crate) fn list(&self, index: usize) -> Bytes {
        self.frame(|out| message::notification(out, &self.id, &KINDS[index], None))
    }

    pub(crate) fn updated(&self, out: &mut BytesMut, uri: &str) {
        let updated = KINDS.last().expect("the table is not empty");
        self.put(out, |out| message::notification(out, &self.id, updated, Some(uri)));
    }

    pub(crate) fn completed(&self) -> Bytes {
        self.ending(|out| message::completed(out, &self.id, self.server_info.as_deref()))
    }

    /// The end of a stream that failed. `reason` is for programs, `text` for people.
    pub(crate) fn failed(&self, reason: &str, text: &str) -> Bytes {
        let error = Error::new(code::INTERNAL_ERROR, text).with_data(json!({ "reason": reason }));
        self.ending(|out| message::error(out, Some(&self.id), &error))
    }

    fn ending(&self, render: impl FnOnce(&mut BytesMut)) -> Bytes {
        let mut out = BytesMut::with_capacity(192);
        if self.framing.cancelled {
            self.put(&mut out, |out| message::cancelled(out, &self.id));
        }
        self.put(&mut out, render);
        out.freeze()
    }

    fn frame(&self, render: impl FnOnce(&mut BytesMut)) -> Bytes {
        let mut out = BytesMut::with_capacity(192);
        self.put(&mut out, render);
        out.freeze()
    }

    fn put(&self, out: &mut BytesMut, render: impl FnOnce(&mut BytesMut)) {
        out.put_slice(self.framing.before);
        render(out);
        out.put_slice(self.framing.after);
    }
}
