//! The streams of one connection, by the ids that its client has given them.

use std::{
    collections::{HashMap, hash_map::Entry},
    future::{Future, poll_fn},
    sync::Arc,
};

use tokio::{
    sync::{Semaphore, mpsc},
    task::JoinSet,
    time::{Instant, timeout_at},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    answer,
    writer::{Outgoing, Turn},
};
use crate::{
    ending::CloseReason,
    handle::SubscriptionHandle,
    handler::SubscriptionHandler,
    kind::Kinds,
    protocol::id::RequestId,
    registry::EventStream,
    rejection::Rejection,
    subscriptions::{Registered, Subscriptions},
    sync::{Mutex, lock},
};

/// Each is a task, which ends with the connection.
pub(super) struct Listens {
    tasks: JoinSet<()>,
    open: Arc<Mutex<HashMap<RequestId, Open>>>,
    /// The calls of `handle_close`.
    closing: TaskTracker,
}

/// What can be done to a stream from its connection.
struct Open {
    handle: SubscriptionHandle,
    cancelled: CancellationToken,
}

impl Listens {
    pub(super) fn new() -> Self {
        Self { tasks: JoinSet::new(), open: Arc::default(), closing: TaskTracker::new() }
    }

    pub(super) fn closing(&self) -> &TaskTracker {
        &self.closing
    }

    /// Whether a stream of this id has not had its ending.
    pub(super) fn contains(&self, id: &RequestId) -> bool {
        lock(&self.open).contains_key(id)
    }

    /// Decides about a listen and serves its stream, in a task of its own. `carried` says what this place can serve.
    pub(super) fn spawn<H: SubscriptionHandler>(
        &mut self,
        subscriptions: &Subscriptions<H>,
        registered: Registered<H>,
        carried: impl Future<Output = Result<Kinds, Rejection>> + Send + 'static,
        out: mpsc::Sender<Outgoing>,
    ) {
        while let Some(ended) = self.tasks.try_join_next() {
            note(ended);
        }
        let (id, cancelled) = (registered.id().clone(), CancellationToken::new());
        let opened = Open { handle: registered.handle(), cancelled: cancelled.clone() };
        lock(&self.open).insert(id.clone(), opened);
        let listen = Listen { id, open: self.open.clone(), cancelled: cancelled.clone(), out };
        let subscriptions = subscriptions.clone();
        self.tasks.spawn(async move {
            let open = async {
                let carried = subscriptions.decide(carried).await??;
                registered.open(carried).await
            };
            let Some(opened) = cancelled.run_until_cancelled(open).await else { return };
            match opened {
                Ok(stream) => {
                    // What is left to say does not keep the server alive.
                    drop(subscriptions);
                    listen.serve(stream).await;
                }
                Err(rejection) => {
                    let refused = answer::refusal(&subscriptions, Some(&listen.id), rejection);
                    if listen.close() {
                        // Without a writer there is nobody to tell.
                        let _ = listen.out.send(Outgoing::Lines(refused)).await;
                    }
                }
            }
        });
    }

    /// The client wants no more of a stream, and is told nothing more. Whether there is such a stream.
    pub(super) fn cancel(&self, id: &RequestId) -> bool {
        let open = lock(&self.open).remove(id);
        open.is_some_and(|open| {
            open.cancelled.cancel();
            true
        })
    }

    /// Ends all streams in good order, and waits until they have said all, and their handlers know.
    pub(super) async fn end(&mut self, reason: &CloseReason, deadline: Instant) {
        let handles: Vec<_> = lock(&self.open).values().map(|open| open.handle.clone()).collect();
        for handle in handles {
            handle.end_for(reason.clone());
        }
        let ended = async {
            while let Some(ended) = self.tasks.join_next().await {
                note(ended);
            }
        };
        if timeout_at(deadline, ended).await.is_err() {
            tracing::warn!(streams = self.tasks.len(), "streams are cut: their client takes nothing");
        }
    }

    /// Ends what is left, and waits for `handle_close`.
    pub(super) async fn close(mut self, deadline: Instant) {
        self.tasks.shutdown().await;
        self.closing.close();
        if timeout_at(deadline, self.closing.wait()).await.is_err() {
            tracing::warn!(
                calls = self.closing.len(),
                "`handle_close` still runs, and is waited for no longer"
            );
        }
    }
}

fn note(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a stream's task ended");
    }
}

/// One stream, in its task.
struct Listen {
    id: RequestId,
    open: Arc<Mutex<HashMap<RequestId, Open>>>,
    cancelled: CancellationToken,
    out: mpsc::Sender<Outgoing>,
}

impl Listen {
    async fn serve(self, stream: EventStream) {
        if self.cancelled.run_until_cancelled(self.tell(&stream)).await.is_none() {
            stream.cancel();
        }
    }

    async fn tell(&self, stream: &EventStream) {
        let turns = Arc::new(Semaphore::new(1));
        // While its frames are not written, a stream takes no event: it is as slow as its client.
        while let Ok(permit) = turns.clone().acquire_owned().await {
            let Some(frames) = poll_fn(|cx| stream.poll_frames(cx)).await else { return };
            // Before the client can know, since it may use the id again.
            if stream.is_finished() {
                self.close();
            }
            let turn = Turn { cancelled: self.cancelled.clone(), permit };
            if self.out.send(Outgoing::Frames(frames, turn)).await.is_err() {
                return;
            }
        }
    }

    /// Frees the id. Whether it was this stream's still, and not cancelled.
    fn close(&self) -> bool {
        match lock(&self.open).entry(self.id.clone()) {
            Entry::Occupied(open) if !self.cancelled.is_cancelled() => {
                open.remove();
                true
            }
            _ => false,
        }
    }
}
