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

/// `None`: the stream was ended meanwhile, from outside.
async fn until_ended<F: Future>(stream: &EventStream, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => stream.poll_ended(cx).map(|()| None),
    })
    .await
}

#[cfg(test)]
#[cfg(not(mcp_sub_loom))]
mod tests {
    use http::{Extensions, HeaderMap};

    use super::*;
    use crate::{
        Caller, Kinds, Limits, ListChanges, RequestId, Subscriptions, ToolsListChanged, ending::Failure,
        protocol::filter::RequestedFilter, rmcp::early::BARE, subscriptions::Listen,
    };

    const HOUR: Duration = Duration::from_secs(60 * 60);

    async fn open(subscriptions: &Subscriptions<ListChanges<true>>) -> EventStream {
        let caller = Caller::new(HeaderMap::new(), Extensions::new(), serde_json::Map::new());
        let admission = subscriptions.admit(&caller).unwrap_or_else(|rejection| panic!("{rejection}"));
        let filter = RequestedFilter { kinds: Kinds::TOOLS_LIST_CHANGED, uris: Vec::new() };
        let listen = Listen { id: RequestId::unknown(), caller, filter, framing: &BARE };
        let opened = subscriptions.register(admission, listen, Kinds::ALL).open(Kinds::ALL).await;
        opened.unwrap_or_else(|rejection| panic!("{rejection}"))
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_ends_while_nobody_takes_what_it_tells_is_noticed_at_once() {
        let limits = Limits::default().with_lifetime(Duration::from_secs(10)).with_write_timeout(HOUR);
        let subscriptions = Subscriptions::builder(ListChanges::new().tools()).limits(limits).build();
        let start = tokio::time::Instant::now();
        let stream = open(&subscriptions).await;
        let publish = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            assert_eq!(subscriptions.publish(ToolsListChanged), 1);
        };
        let untaken = deliver(&stream, HOUR, |_, _| Some(std::future::pending()));
        let (last, ()) = tokio::join!(untaken, publish);
        assert_eq!(last, Some(Last::Failed(Failure::Expired)));
        assert_eq!(start.elapsed().as_secs(), 10);
    }
}
