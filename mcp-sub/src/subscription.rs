//! One open stream: accept → acknowledge → run → end. Knows no transport.
//!
//! The handler's methods run inside one boxed future, which the transport polls whenever it has room for frames. The
//! future owns the subscription's state, through a guard that calls `handle_close` when it is dropped. So whoever ends
//! the stream, the transport or the registry, does it in the same way: take the future and drop it.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker, ready},
    time::Instant,
};

use bytes::Bytes;
use tracing::{Instrument, Span};

#[cfg(feature = "rmcp")]
use crate::outbox::Message;
use crate::{
    caught::{Caught, Panic},
    channel::Channel,
    ending::{CloseReason, Flow},
    filter::Honoured,
    frame::Frames,
    handler::SubscriptionHandler,
    hub::{Next, Published, Registration, Slot},
    missed::Missed,
    outbox::{Last, Outbox, Taken},
    registry::{Closer, Permit},
    source::{Said, Sources},
    span,
    stats::Counts,
    stream::{Progress, Stream},
    sync::{Mutex, lock, wake},
    window::{Timer, Windows},
};

/// An accepted subscription, before its stream runs.
pub(crate) struct Accepted<H: SubscriptionHandler> {
    pub(crate) handler: Arc<H>,
    pub(crate) state: H::State,
    pub(crate) frames: Frames,
    pub(crate) honoured: Arc<Honoured>,
    pub(crate) registration: Registration<H::Event>,
    pub(crate) permit: Permit,
    pub(crate) closer: Closer,
    /// Whether a stream that honours nothing stays open.
    pub(crate) hold_empty: bool,
    pub(crate) windows: Windows,
    pub(crate) span: Span,
}

pub(crate) struct Subscription<E> {
    shared: Arc<Shared>,
    slot: Arc<Slot<E>>,
    task: Mutex<Task>,
    /// For what the outbox holds.
    timer: Timer,
}

/// What the future and those who end it have in common.
struct Shared {
    outbox: Outbox,
    ended: Mutex<Option<CloseReason>>,
}

impl Shared {
    /// Ends the stream for `reason`, unless it has ended for another one. The client and the handler are told the same.
    fn end(&self, reason: CloseReason) {
        let mut ended = lock(&self.ended);
        if ended.is_none() {
            put_ending(&self.outbox, &reason);
            *ended = Some(reason);
        }
    }
}

struct Task {
    run: Run,
    polls: u64,
    /// Whether the transport owes a poll: it did not come yet, or the last poll gave it something.
    sent: bool,
    waker: Option<Waker>,
}

type Running = Pin<Box<dyn Future<Output = Result<(), Panic>> + Send>>;

/// The future is out while it is polled, so that no lock is held while a handler's method runs.
enum Run {
    Idle(Running),
    Polled,
    Ended,
}

impl<E: Send + Sync + 'static> Subscription<E> {
    /// The stream, with its acknowledgement waiting.
    pub(crate) fn start<H: SubscriptionHandler<Event = E>>(accepted: Accepted<H>) -> Arc<Self> {
        let Accepted {
            handler,
            state,
            frames,
            honoured,
            registration,
            permit,
            closer,
            hold_empty,
            windows,
            span,
        } = accepted;
        span::accepted(&span, &honoured);
        span.in_scope(|| tracing::debug!("subscription opened"));
        let complete = honoured.is_empty() && !hold_empty;
        let shared =
            Arc::new(Shared { outbox: Outbox::new(frames, honoured, windows), ended: Mutex::new(None) });
        let slot = registration.slot().clone();
        if complete {
            slot.end(CloseReason::Completed);
        }
        let guard = Guard {
            handler,
            state: Some(state),
            shared: shared.clone(),
            closer,
            opened: Instant::now(),
            registration,
            permit,
            span: span.clone(),
        };
        let run = Run::Idle(Box::pin(Caught::new(run(guard, slot.clone())).instrument(span)));
        let task = Mutex::new(Task { run, polls: 0, sent: true, waker: None });
        Arc::new(Self { shared, slot, task, timer: Timer::default() })
    }

    /// Polls the future, if there is one.
    fn poll_run(&self, cx: &mut Context<'_>) {
        let mut future = {
            let mut task = lock(&self.task);
            task.polls += 1;
            task.sent = false;
            match std::mem::replace(&mut task.run, Run::Polled) {
                Run::Idle(future) => future,
                other => {
                    task.run = other;
                    return;
                }
            }
        };
        let polled = future.as_mut().poll(cx);
        let is_known = {
            let mut task = lock(&self.task);
            if polled.is_ready() || !matches!(task.run, Run::Polled) {
                task.run = Run::Ended;
                return;
            }
            task.run = Run::Idle(future);
            task.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()))
        };
        // Wakers are made and dropped by foreign code, which may do anything, so not under the lock.
        if !is_known {
            let waker = cx.waker().clone();
            let old = lock(&self.task).waker.replace(waker);
            drop(old);
        }
    }
}

impl<E: Send + Sync + 'static> Subscription<E> {
    fn poll_taken<T>(&self, take: impl Fn(&Outbox) -> Taken<T>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.poll_run(cx);
        loop {
            match take(&self.shared.outbox) {
                Taken::Frames(frames) => {
                    self.note_sent();
                    return Poll::Ready(Some(frames));
                }
                Taken::Nothing => return Poll::Pending,
                Taken::Held(until) => ready!(self.timer.poll_until(until, cx)),
                Taken::End => return Poll::Ready(None),
            }
        }
    }
}

impl<E: Send + Sync + 'static> Stream for Subscription<E> {
    fn poll_frames(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.poll_taken(Outbox::take, cx)
    }

    #[cfg(feature = "rmcp")]
    fn poll_messages(&self, cx: &mut Context<'_>) -> Poll<Option<Vec<Message>>> {
        self.poll_taken(Outbox::take_messages, cx)
    }

    #[cfg(feature = "rmcp")]
    fn honoured(&self) -> &Arc<Honoured> {
        self.shared.outbox.honoured()
    }

    #[cfg(feature = "rmcp")]
    fn is_ended(&self) -> bool {
        self.shared.outbox.is_ended()
    }

    fn note_sent(&self) {
        let mut task = lock(&self.task);
        task.sent = true;
        // It is not stuck, however long it takes to come back.
        task.polls += 1;
    }

    fn end(&self, reason: CloseReason) {
        self.slot.end(reason);
    }

    fn abort(&self, reason: CloseReason) {
        self.shared.end(reason);
        let (run, waker) = {
            let mut task = lock(&self.task);
            (std::mem::replace(&mut task.run, Run::Ended), task.waker.take())
        };
        drop(run);
        if let Some(waker) = waker {
            wake(waker);
        }
    }

    fn is_finished(&self) -> bool {
        self.shared.outbox.is_finished()
    }

    fn counts(&self) -> Counts {
        self.shared.outbox.counters().counts()
    }

    fn progress(&self) -> Progress {
        let (polls, sent) = {
            let task = lock(&self.task);
            (task.polls, task.sent)
        };
        Progress { polls, behind: sent && (!self.shared.outbox.is_empty() || self.slot.has_waiting()) }
    }
}

/// The last frame that a client gets, where it gets one.
fn put_ending(outbox: &Outbox, reason: &CloseReason) {
    let text = match reason {
        CloseReason::Completed
        | CloseReason::SourceEnded
        | CloseReason::Stopped(_)
        | CloseReason::Shutdown
        | CloseReason::Disconnected => return outbox.end(Last::Completed),
        CloseReason::Cancelled => return,
        CloseReason::Failed(_) => "the server's subscription handler failed",
        CloseReason::Panicked => "the server's subscription handler panicked",
        CloseReason::Stalled => "the client took no frames for too long",
        CloseReason::Expired => "the subscription's time is over: listen again",
    };
    outbox.end(Last::Failed { reason: reason.name(), text });
}

async fn run<H: SubscriptionHandler>(mut guard: Guard<H>, slot: Arc<Slot<H::Event>>) {
    let Guard { handler, state, shared, .. } = &mut guard;
    let state = state.as_mut().expect("it is taken when the guard is dropped");
    // A panic ends this subscription and no other. It is caught here, below the guard, which tells why.
    let served = Caught::new(serve(&**handler, &slot, &shared.outbox, state)).await;
    shared.end(served.unwrap_or(CloseReason::Panicked));
}

/// How many events at most are handled before the transport gets its frames, and other tasks their turn.
const ROUND: usize = 256;

async fn serve<H: SubscriptionHandler>(
    handler: &H,
    slot: &Slot<H::Event>,
    outbox: &Outbox,
    state: &mut H::State,
) -> CloseReason {
    let mut channel = Channel::new(outbox);
    let mut sources = Sources::new();
    let mut in_round = 0;
    loop {
        // While a frame is untaken, no event is taken. The transport polls again when it has taken them all.
        if !outbox.is_empty() {
            poll_fn(|_| if outbox.is_empty() { Poll::Ready(()) } else { Poll::Pending }).await;
            in_round = 0;
        }
        let mut next = poll_fn(|cx| poll_next(slot, &mut sources, cx)).await;
        loop {
            let flow = match &next {
                // It may have been queued before `subscribe` took away what it is about, or come from a source.
                Next::Event(published)
                    if !outbox.honoured().concerned(published.kinds, published.uri.as_deref()) =>
                {
                    outbox.counters().filtered.add(1);
                    Flow::Continue
                }
                Next::Event(published) => {
                    outbox.counters().events.add(1);
                    handler.handle_event(&published.event, &mut channel, state).await
                }
                Next::CatchUp(missed) => {
                    outbox.counters().catch_ups.add(1);
                    handler.handle_lagged(&Missed::new(missed, outbox.honoured()), &mut channel, state).await
                }
                Next::End(reason) => return reason.clone(),
            };
            match flow {
                Flow::Continue => {}
                Flow::Stop(reason) => return CloseReason::Stopped(reason),
                Flow::Fail(error) => return CloseReason::Failed(error),
            }
            // Only what is handled in this round is taken out of the slot.
            in_round += 1;
            if in_round == ROUND {
                tokio::task::yield_now().await;
                in_round = 0;
                break;
            }
            let Some(waiting) = slot.try_next() else { break };
            next = waiting;
        }
    }
}

/// What there is to do next. A source is asked only if the slot has nothing, and for one item at a time.
fn poll_next<E>(
    slot: &Slot<E>,
    sources: &mut Sources<Arc<Published<E>>>,
    cx: &mut Context<'_>,
) -> Poll<Next<E>> {
    // First, so that the slot knows whom to wake before what was attached is fetched.
    if let Poll::Ready(next) = slot.poll_next(cx) {
        return Poll::Ready(next);
    }
    sources.extend(slot.fetch_attached());
    if sources.is_empty() {
        return Poll::Pending;
    }
    let said = sources.poll_next(cx);
    slot.note_sources(!sources.is_empty());
    match ready!(said) {
        Said::Item(published) => Poll::Ready(Next::Event(published)),
        Said::Over => {
            slot.end(CloseReason::SourceEnded);
            slot.poll_next(cx)
        }
    }
}

/// Owns what a subscription has, and closes it exactly once.
struct Guard<H: SubscriptionHandler> {
    handler: Arc<H>,
    state: Option<H::State>,
    shared: Arc<Shared>,
    closer: Closer,
    opened: Instant,
    registration: Registration<H::Event>,
    permit: Permit,
    span: Span,
}

impl<H: SubscriptionHandler> Drop for Guard<H> {
    fn drop(&mut self) {
        // Whoever took the future and dropped it has said why; the runtime, if it did so, has not.
        self.shared.end(CloseReason::Disconnected);
        let reason = lock(&self.shared.ended).clone().unwrap_or(CloseReason::Disconnected);
        let (id, open) = (self.shared.outbox.id(), self.opened.elapsed());
        span::ended(&self.span, &reason, open, self.shared.outbox.counters().counts());
        // With the id, since who logs no more than warnings has no spans either.
        self.span.in_scope(|| match &reason {
            CloseReason::Failed(_) | CloseReason::Panicked => {
                tracing::error!(%id, %reason, ?open, "subscription failed");
            }
            CloseReason::Stalled => tracing::warn!(%id, %reason, ?open, "subscription ended"),
            _ => tracing::info!(%reason, "subscription ended"),
        });
        // Room first: whoever is told of this end, by `handle_close` or by a handle, may listen again at once.
        let _closing = self.closer.hold();
        self.permit.close(reason.clone());
        if let Some(state) = self.state.take() {
            let handler = self.handler.clone();
            let close = async move { handler.handle_close(reason, state).await };
            self.closer.spawn(close.instrument(self.span.clone()));
        }
        self.registration.slot().close();
    }
}

#[cfg(test)]
#[cfg(mcp_sub_loom)]
mod models;
