//! One open stream: accept → acknowledge → run → end. Knows no transport.
//!
//! The handler's methods run inside one boxed future, which is polled when the transport has taken all frames and there is
//! something to do. It owns the subscription's state, through a guard that calls `handle_close` when it is dropped. So
//! whoever ends the stream, the transport or the registry, does it in the same way: take the future and drop it.

mod guard;

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
    time::Instant,
};

use bytes::Bytes;
use tracing::{Instrument, Span};

use self::guard::Guard;
#[cfg(feature = "rmcp")]
use crate::outbox::Message;
use crate::{
    caught::{Caught, Panic},
    channel::Channel,
    ending::{CloseReason, Failure, Flow},
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
    sync::{Mutex, lock},
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
    run: Mutex<Run>,
    /// How often the transport came, or sent something of its own.
    polls: AtomicU64,
    /// Whether the transport owes a poll: it did not come yet, or the last poll gave it something.
    sent: AtomicBool,
    /// For what the outbox holds.
    timer: Timer,
}

/// What the future and those who end it have in common.
struct Shared {
    outbox: Outbox,
    /// Whether the future waits for the slot, and for nothing else: there is no need to poll it before that has something.
    is_idle: AtomicBool,
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
        let shared = Arc::new(Shared {
            outbox: Outbox::new(frames, honoured, windows),
            is_idle: AtomicBool::new(true),
            ended: Mutex::new(None),
        });
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
        let future = Caught::new(run(guard, slot.clone()));
        // A span that nobody sees is not entered at each poll.
        let future: Running =
            if span.is_disabled() { Box::pin(future) } else { Box::pin(future.instrument(span)) };
        Arc::new(Self {
            shared,
            slot,
            run: Mutex::new(Run::Idle(future)),
            polls: AtomicU64::new(0),
            sent: AtomicBool::new(true),
            timer: Timer::default(),
        })
    }

    /// What the transport gets: frames that wait, or what the methods of waiting events send. While a frame is untaken,
    /// nothing runs.
    fn poll_taken<T>(&self, take: impl Fn(&Outbox) -> Taken<T>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.note_poll(false);
        let outbox = &self.shared.outbox;
        let mut has_run = false;
        loop {
            if outbox.may_have_something() {
                match take(outbox) {
                    Taken::Frames(frames) => {
                        self.sent.store(true, Relaxed);
                        return Poll::Ready(Some(frames));
                    }
                    Taken::End => return Poll::Ready(None),
                    Taken::Held(until) if self.timer.poll_until(until, cx).is_ready() => continue,
                    Taken::Held(_) | Taken::Nothing => {}
                }
            }
            let is_due = self.slot.poll_ready(cx).is_ready();
            let runs = if self.shared.is_idle.load(Relaxed) { is_due } else { !has_run };
            if runs && self.poll_run(cx) {
                has_run = true;
                continue;
            }
            if is_due {
                // A method waits, for something that wakes by itself; but whoever ends the stream wakes through the slot.
                self.slot.register(cx);
            }
            // Somebody else may have ended it before the slot knew whom to wake.
            if !outbox.has_changed() {
                return Poll::Pending;
            }
        }
    }

    /// Polls the future. Whether there is one.
    fn poll_run(&self, cx: &mut Context<'_>) -> bool {
        let mut future = {
            let mut run = lock(&self.run);
            match std::mem::replace(&mut *run, Run::Polled) {
                Run::Idle(future) => future,
                other => {
                    *run = other;
                    return false;
                }
            }
        };
        let polled = future.as_mut().poll(cx);
        let mut run = lock(&self.run);
        if polled.is_pending() && matches!(*run, Run::Polled) {
            *run = Run::Idle(future);
        } else {
            *run = Run::Ended;
            // What is dropped with the future is foreign code.
            drop(run);
        }
        true
    }

    fn note_poll(&self, sent: bool) {
        self.sent.store(sent, Relaxed);
        // One at a time: no transport comes for frames twice at once.
        self.polls.store(self.polls.load(Relaxed) + 1, Relaxed);
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

    #[cfg(feature = "rmcp")]
    fn poll_ended(&self, cx: &Context<'_>) -> Poll<()> {
        // First, since whoever ends it wakes last. A poll that gave frames has told the slot of nobody.
        self.slot.register(cx);
        if self.is_ended() { Poll::Ready(()) } else { Poll::Pending }
    }

    fn note_sent(&self) {
        // It is not stuck, however long it takes to come back.
        self.note_poll(true);
    }

    fn end(&self, reason: CloseReason) {
        self.slot.end(reason);
    }

    fn abort(&self, reason: CloseReason) {
        self.shared.end(reason);
        let run = std::mem::replace(&mut *lock(&self.run), Run::Ended);
        drop(run);
        self.slot.wake();
    }

    fn is_finished(&self) -> bool {
        self.shared.outbox.is_finished()
    }

    fn counts(&self) -> Counts {
        self.shared.outbox.counters().counts()
    }

    fn progress(&self) -> Progress {
        let behind = self.sent.load(Relaxed) && (!self.shared.outbox.is_empty() || self.slot.has_waiting());
        Progress { polls: self.polls.load(Relaxed), behind }
    }
}

/// The last frame that a client gets, where it gets one.
fn put_ending(outbox: &Outbox, reason: &CloseReason) {
    let last = match reason {
        CloseReason::Completed
        | CloseReason::SourceEnded
        | CloseReason::Stopped(_)
        | CloseReason::Shutdown
        | CloseReason::Disconnected => Last::Completed,
        CloseReason::Cancelled => return,
        CloseReason::Failed(_) => Last::Failed(Failure::HandlerFailed),
        CloseReason::Panicked => Last::Failed(Failure::Panicked),
        CloseReason::Stalled => Last::Failed(Failure::Stalled),
        CloseReason::Expired => Last::Failed(Failure::Expired),
    };
    outbox.end(last);
}

#[expect(
    clippy::manual_async_fn,
    reason = "an `async fn` holds its parameters twice, and there is one for each stream"
)]
fn run<H: SubscriptionHandler>(
    mut guard: Guard<H>,
    slot: Arc<Slot<H::Event>>,
) -> impl Future<Output = ()> + Send {
    async move {
        let Guard { handler, state, shared, .. } = &mut guard;
        let state = state.as_mut().expect("it is taken when the guard is dropped");
        // A panic ends this subscription and no other. It is caught here, below the guard, which tells why.
        let served = Caught::new(serve(&**handler, &slot, shared, state)).await;
        shared.end(served.unwrap_or(CloseReason::Panicked));
    }
}

/// After how many events other tasks get their turn.
const ROUND: usize = 256;

async fn serve<H: SubscriptionHandler>(
    handler: &H,
    slot: &Slot<H::Event>,
    shared: &Shared,
    state: &mut H::State,
) -> CloseReason {
    let outbox = &shared.outbox;
    let mut channel = Channel::new(outbox);
    let mut sources = Sources::new();
    let mut in_round = 0;
    loop {
        let mut next = shared.next(slot, &mut sources).await;
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
            in_round += 1;
            if in_round == ROUND {
                tokio::task::yield_now().await;
                in_round = 0;
                break;
            }
            // What is there already goes out together.
            let Some(waiting) = slot.try_next() else { break };
            next = waiting;
        }
    }
}

impl Shared {
    /// Lets the transport take the frames that wait, and then waits until there is something to do.
    ///
    /// The slot wakes the transport, which polls again when it has something: this keeps no waker of its own, but for
    /// those of sources.
    async fn next<E>(&self, slot: &Slot<E>, sources: &mut Sources<Arc<Published<E>>>) -> Next<E> {
        let mut has_let = false;
        poll_fn(|cx| {
            let lets =
                !std::mem::replace(&mut has_let, true) && (sources.is_empty() || !self.outbox.is_empty());
            let next = if lets { Poll::Pending } else { poll_next(slot, sources, cx) };
            self.is_idle.store(next.is_pending() && sources.is_empty(), Relaxed);
            next
        })
        .await
    }
}

/// What there is to do next. A source is asked only if the slot has nothing, and for one item at a time.
fn poll_next<E>(
    slot: &Slot<E>,
    sources: &mut Sources<Arc<Published<E>>>,
    cx: &mut Context<'_>,
) -> Poll<Next<E>> {
    if let Some(next) = slot.try_next() {
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
            // What came before is handed out first.
            slot.try_next().map_or(Poll::Pending, Poll::Ready)
        }
    }
}

#[cfg(test)]
#[cfg(mcp_sub_loom)]
mod models;
