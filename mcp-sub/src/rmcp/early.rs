//! What is decided before rmcp writes the acknowledgement, kept until rmcp calls `listen`.

use std::{
    collections::HashMap,
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio::{task, time::Instant};

use super::convert;
use crate::{
    caller::Caller,
    frame::Framing,
    handler::SubscriptionHandler,
    kind::Kinds,
    protocol::{filter::RequestedFilter, id::RequestId},
    registry::{EventStream, too_many_streams},
    rejection::Rejection,
    subscriptions::{Listen, Offered, Subscriptions},
    sync::{Mutex, lock},
};

/// rmcp renders the messages, so nothing is put around them.
pub(super) static BARE: Framing = Framing { before: b"", after: b"", cancelled: false };

pub(super) enum Early<H: SubscriptionHandler> {
    Refused(Rejection),
    /// `subscribe` has decided.
    Opened(EventStream),
    /// `subscribe` has to be told who asks.
    Offered(Offered<H>),
}

/// By the task that serves the request: the two calls are made in one, and nothing else is handed from one to the other.
pub(super) struct Waiting<H: SubscriptionHandler>(Mutex<HashMap<task::Id, (Instant, Early<H>)>>);

/// For how long it may take rmcp to write an acknowledgement. If it never does, `listen` is not called.
const PATIENCE: Duration = Duration::from_secs(60);

impl<H: SubscriptionHandler> Waiting<H> {
    pub(super) fn put(&self, early: Early<H>) {
        let Some(task) = task::try_id() else { return };
        let old = lock(&self.0).insert(task, (Instant::now(), early));
        // It holds a user's events and state, so not under the lock.
        drop(old);
    }

    /// Forgets those that no `listen` follows. Returns how many are left.
    fn forget_old(&self) -> usize {
        let now = Instant::now();
        let (old, left) = {
            let mut waiting = lock(&self.0);
            let old = waiting.extract_if(|_, (since, _)| now.duration_since(*since) > PATIENCE);
            let old: Vec<_> = old.collect();
            (old, waiting.len())
        };
        drop(old);
        left
    }

    pub(super) fn take(&self) -> Option<Early<H>> {
        let task = task::try_id()?;
        lock(&self.0).remove(&task).map(|(_, early)| early)
    }
}

impl<H: SubscriptionHandler> Default for Waiting<H> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// Decides as far as can be without the caller.
pub(super) fn decide<H: SubscriptionHandler>(
    subscriptions: &Subscriptions<H>,
    requested: &::rmcp::model::SubscriptionFilter,
) -> Early<H> {
    let limits = &subscriptions.settings().limits;
    let mut filter = match convert::requested(requested, limits) {
        Ok(filter) => filter,
        Err(rejection) => return Early::Refused(rejection),
    };
    // A client that leaves now leaves an entry behind, which is no stream yet and is counted by nobody else.
    if subscriptions.rmcp().waiting.forget_old() >= limits.streams {
        return Early::Refused(too_many_streams(limits.streams));
    }
    if !H::DEPENDS_ON_CALLER && subscriptions.settings().principal.is_none() {
        match open(subscriptions, filter.clone()) {
            Poll::Ready(Ok(stream)) => return Early::Opened(stream),
            Poll::Ready(Err(rejection)) => return Early::Refused(rejection),
            Poll::Pending => {}
        }
    }
    Early::Offered(subscriptions.offer(&mut filter, Kinds::ALL))
}

/// Opens the stream, unless that has to wait.
fn open<H: SubscriptionHandler>(
    subscriptions: &Subscriptions<H>,
    filter: RequestedFilter,
) -> Poll<Result<EventStream, Rejection>> {
    let opened = async {
        let nobody = Caller::new(http::HeaderMap::new(), http::Extensions::new(), serde_json::Map::new());
        let allowed = subscriptions.capabilities(&nobody)?.kinds;
        let admission = subscriptions.admit(&nobody)?;
        let listen = Listen { id: RequestId::unknown(), caller: nobody, filter, framing: &BARE };
        subscriptions.register(admission, listen, allowed).open(Kinds::ALL).await
    };
    // Not to be put off because this task has done a lot already.
    let opened = pin!(task::unconstrained(opened));
    opened.poll(&mut Context::from_waker(Waker::noop()))
}

#[cfg(test)]
#[cfg(not(mcp_sub_loom))]
mod tests {
    use ::rmcp::model::SubscriptionFilter;

    use super::*;
    use crate::{Limits, list_changes::ListChanges};

    #[tokio::test(start_paused = true)]
    async fn what_no_listen_follows_is_bounded_and_forgotten() {
        let limits = Limits::default().with_streams(3);
        let handler = ListChanges::new().tools();
        // Somebody may ask who asks, so nothing is decided here.
        let subscriptions =
            Subscriptions::builder(handler).limits(limits).principal(|_| Some("a".into())).build();
        let ask = async || {
            let subscriptions = subscriptions.clone();
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            let asked = async move { subscriptions.accepted_subscription_filter(&filter) };
            tokio::spawn(asked).await.unwrap().unwrap().tools_list_changed
        };
        for _ in 0..3 {
            assert_eq!(ask().await, Some(true));
        }
        assert_eq!(ask().await, None, "there is room for no more");
        tokio::time::advance(PATIENCE + Duration::from_secs(1)).await;
        assert_eq!(ask().await, Some(true));
    }
}
