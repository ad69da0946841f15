//! The streams of one connection, by the ids that its client has given them.

use std::{
    collections::{HashMap, hash_map::Entry},
    future::{Future, poll_fn},
    sync::Arc,
};

use bytes::Bytes;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
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

/// Those that the client may cancel.
type Opened = Arc<Mutex<HashMap<RequestId, Open>>>;

/// Each is a task, which ends with the connection.
pub(super) struct Listens {
    tasks: JoinSet<()>,
    open: Opened,
    /// How many there were.
    count: u64,
    /// The calls of `handle_close`.
    closing: TaskTracker,
}

/// What can be done to a stream from its connection.
struct Open {
    /// Tells it from another one that had its id before.
    number: u64,
    handle: SubscriptionHandle,
    cancelled: CancellationToken,
    /// Its last word is on its way: the client may know, and use the id again; or it does not know, and cancels.
    is_ending: bool,
}

impl Listens {
    pub(super) fn new() -> Self {
        Self { tasks: JoinSet::new(), open: Arc::default(), count: 0, closing: TaskTracker::new() }
    }

    pub(super) fn closing(&self) -> &TaskTracker {
        &self.closing
    }

    /// Whether a stream of this id has not had its ending.
    pub(super) fn contains(&self, id: &RequestId) -> bool {
        lock(&self.open).get(id).is_some_and(|open| !open.is_ending)
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
        let (id, number, cancelled) = (registered.id().clone(), self.count, CancellationToken::new());
        self.count += 1;
        let (handle, is_ending) = (registered.handle(), false);
        let opened = Open { number, handle, cancelled: cancelled.clone(), is_ending };
        lock(&self.open).insert(id.clone(), opened);
        let turns = Arc::new(Semaphore::new(1));
        let listen = Listen { id, number, open: self.open.clone(), cancelled: cancelled.clone(), out, turns };
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
                    let _ = cancelled.run_until_cancelled(listen.refuse(refused)).await;
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
        self.closing.close();
        let closed = async {
            // A method that holds its thread is cut when it lets go.
            self.tasks.shutdown().await;
            self.closing.wait().await;
        };
        if timeout_at(deadline, closed).await.is_err() {
            tracing::warn!(
                calls = self.closing.len(),
                "`handle_close` still runs, or a method holds its thread, and is waited for no longer"
            );
        }
    }
}

fn note(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a stream's task ended");
    }
}

/// One stream, in its task. Its id is free when this is gone, if it was not before.
struct Listen {
    id: RequestId,
    number: u64,
    open: Opened,
    cancelled: CancellationToken,
    out: mpsc::Sender<Outgoing>,
    /// One: it comes back when what was said is written.
    turns: Arc<Semaphore>,
}

impl Listen {
    async fn serve(self, stream: EventStream) {
        if self.cancelled.run_until_cancelled(self.tell(&stream)).await.is_none() {
            stream.abort(CloseReason::Cancelled);
        }
    }

    async fn tell(&self, stream: &EventStream) {
        // While its frames are not written, a stream takes no event: it is as slow as its client.
        while let Some(permit) = self.turn().await {
            let Some(frames) = poll_fn(|cx| stream.poll_frames(cx)).await else { return };
            stream.note_sent();
            if stream.is_finished() {
                self.ending();
            }
            self.say(frames, permit).await;
        }
    }

    async fn refuse(&self, error: Bytes) {
        let Some(permit) = self.turn().await else { return };
        self.ending();
        self.say(error, permit).await;
        // Until then it can be cancelled.
        self.turn().await;
    }

    /// Waits until what was said is written; `None`: nobody writes any more.
    async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        let permit = self.turns.clone().acquire_owned().await.ok()?;
        (!self.out.is_closed()).then_some(permit)
    }

    async fn say(&self, frames: Bytes, permit: OwnedSemaphorePermit) {
        let turn = Turn { cancelled: self.cancelled.clone(), permit };
        // Without a writer there is nobody to tell.
        let _ = self.out.send(Outgoing::Frames(frames, turn)).await;
    }

    /// Frees the id, before the client can know, since it may use it again.
    fn ending(&self) {
        if let Some(open) = lock(&self.open).get_mut(&self.id)
            && open.number == self.number
        {
            open.is_ending = true;
        }
    }
}

impl Drop for Listen {
    fn drop(&mut self) {
        if let Entry::Occupied(open) = lock(&self.open).entry(self.id.clone())
            && open.get().number == self.number
        {
            open.remove();
        }
    }
}
