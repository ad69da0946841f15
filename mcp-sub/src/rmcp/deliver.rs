//! From a stream to whoever takes rmcp's notifications.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
    time::Duration,
};

use ::rmcp::model::ServerNotification;

use super::convert;
use crate::{
    ending::CloseReason,
    outbox::{Last, Message},
    registry::EventStream,
};

/// Sends what the stream has to tell, until its end. `None`: nobody is there any more who could be told.
///
/// `send` says whether it was taken; `None` from it leaves one out. As long as one is not taken, no event is.
pub(super) async fn deliver<F: Future<Output = bool>>(
    stream: &EventStream,
    write_timeout: Duration,
    send: impl Fn(&Message, ServerNotification) -> Option<F>,
) -> Option<Last> {
    loop {
        for message in poll_fn(|cx| stream.poll_messages(cx)).await? {
            if let Message::Ended(last) = message {
                return Some(last);
            }
            // From outside, and for good: what waits is not told any more.
            if stream.is_ended() {
                continue;
            }
            let sending =
                convert::notification(&message).and_then(|notification| send(&message, notification));
            let Some(sending) = sending else { continue };
            match tokio::time::timeout(write_timeout, until_ended(stream, sending)).await {
                Ok(Some(true)) => stream.note_sent(),
                Ok(Some(false)) => return None,
                Ok(None) => {}
                Err(_) => stream.abort(CloseReason::Stalled),
            }
        }
    }
}

/// `None`: the stream was ended meanwhile, from outside. It wakes the task that polled it last, which is this one.
async fn until_ended<F: Future>(stream: &EventStream, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if stream.is_ended() => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    })
    .await
}
