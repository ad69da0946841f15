//! Responses, as lines.

use bytes::{BufMut, Bytes, BytesMut};

use crate::{
    frame::Framing,
    handler::SubscriptionHandler,
    protocol::{error::Error, id::RequestId, message},
    rejection::Rejection,
    settings::Settings,
    subscriptions::Subscriptions,
};

/// How the frames of a stream are written.
pub(super) fn framing(settings: &Settings) -> &'static Framing {
    const fn lines(cancelled: bool) -> Framing {
        Framing { before: b"", after: b"\n", cancelled }
    }
    static LINES: Framing = lines(false);
    static CANCELLED: Framing = lines(true);
    if settings.stdio_cancelled { &CANCELLED } else { &LINES }
}

pub(super) fn result(id: &RequestId, result: &str) -> Bytes {
    line(|out| message::result(out, id, result))
}

pub(super) fn error(id: Option<&RequestId>, error: &Error) -> Bytes {
    tracing::debug!(code = error.code, message = error.message, "request refused");
    line(|out| message::error(out, id, error))
}

/// What was refused at a limit is counted.
pub(super) fn refusal<H: SubscriptionHandler>(
    subscriptions: &Subscriptions<H>,
    id: Option<&RequestId>,
    rejection: Rejection,
) -> Bytes {
    subscriptions.refused(&rejection);
    let (_, _, refused) = rejection.into_parts();
    error(id, &refused)
}

fn line(render: impl FnOnce(&mut BytesMut)) -> Bytes {
    let mut out = BytesMut::new();
    render(&mut out);
    out.put_u8(b'\n');
    out.freeze()
}
