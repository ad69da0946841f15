//! Messages of one subscription, as the bytes that its transport writes.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use serde_json::json;

use crate::{
    ending::Failure,
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

/// Of a notification, without its id and URI: enough that memory is asked for once.
const LENGTH: usize = 192;

/// Renders the messages of one subscription.
#[derive(Debug)]
pub(crate) struct Frames {
    pub(crate) id: RequestId,
    pub(crate) framing: &'static Framing,
    /// JSON, for the result.
    pub(crate) server_info: Option<Arc<str>>,
}

impl Frames {
    pub(crate) fn acknowledged(&self, out: &mut BytesMut, honoured: &Honoured) {
        let uris = honoured.uris().iter().map(|uri| &**uri);
        self.put(out, |out| message::acknowledged(out, &self.id, honoured.kinds(), uris));
    }

    pub(crate) fn list(&self, index: usize) -> Bytes {
        let mut out = BytesMut::with_capacity(LENGTH);
        self.put(&mut out, |out| message::notification(out, &self.id, &KINDS[index], None));
        out.freeze()
    }

    pub(crate) fn updated(&self, out: &mut BytesMut, uri: &str) {
        let updated = KINDS.last().expect("the table is not empty");
        out.reserve(LENGTH + self.id.as_json().len() + uri.len());
        self.put(out, |out| message::notification(out, &self.id, updated, Some(uri)));
    }

    pub(crate) fn completed(&self, out: &mut BytesMut) {
        self.ending(out, |out| message::completed(out, &self.id, self.server_info.as_deref()));
    }

    /// The end of a stream that failed.
    pub(crate) fn failed(&self, out: &mut BytesMut, failure: Failure) {
        let error = Error::new(code::INTERNAL_ERROR, failure.text());
        let error = error.with_data(json!({ "reason": failure.name() }));
        self.ending(out, |out| message::error(out, Some(&self.id), &error));
    }

    fn ending(&self, out: &mut BytesMut, render: impl FnOnce(&mut BytesMut)) {
        if self.framing.cancelled {
            self.put(out, |out| message::cancelled(out, &self.id));
        }
        self.put(out, render);
    }

    fn put(&self, out: &mut BytesMut, render: impl FnOnce(&mut BytesMut)) {
        out.put_slice(self.framing.before);
        render(out);
        out.put_slice(self.framing.after);
    }
}
