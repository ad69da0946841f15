//! Whatever is said, and whenever it is read: each stream is told of in order and each request is answered once, in whole
//! lines, and a server behind sees nothing that can be misread.

mod channel;
mod heard;
mod inner;
mod plan;
mod said;

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use mcp_sub::{Limits, Subscriptions};
use tokio::{
    io::{DuplexStream, duplex},
    sync::oneshot,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

pub use self::plan::Plan;
use self::{
    channel::{Channel, Input, Reader, Writer},
    heard::Silence,
    inner::Seen,
    plan::{End, Inner, Step},
    said::{Said, meaning},
};
use crate::{
    probe::{Change, Decision, Log, Outcome, Probe, Seat, Target, UPDATES},
    runtime::{block_on, settle},
};

/// As long as nobody waits for a run that does not end.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// So many lines surely have room in what waits to be written, beside one piece of each stream.
const ROOM: usize = 6;

/// One input of the target `lines`.
pub fn run(plan: Plan) {
    block_on(async {
        if plan.declares_all {
            Run::<{ 7 | UPDATES }>::of(plan).await;
        } else {
            Run::<{ 1 | UPDATES }>::of(plan).await;
        }
    });
}

struct Run<const BITS: u8> {
    subscriptions: Subscriptions<Probe<BITS>>,
    log: Arc<Mutex<Log>>,
    channel: Channel,
    inner: Option<Inner>,
    seen: Seen,
    /// The inner server, or its channel if nobody reads it.
    behind: Option<JoinHandle<()>>,
    unread: Option<DuplexStream>,
    serving: JoinHandle<io::Result<()>>,
    stop: Option<oneshot::Sender<()>>,
    silences: Vec<Silence>,
    /// Lines that the client has written since all was read.
    waiting: usize,
    published: usize,
}

impl<const BITS: u8> Run<BITS> {
    async fn of(plan: Plan) {
        let Plan { holds_empty, says_cancelled, inner, chunk, steps, end, .. } = plan;
        let log = Arc::<Mutex<Log>>::default();
        let limits = Limits::default().with_body(plan::LINE).with_id_bytes(said::ID_BYTES).with_slot(3);
        let subscriptions = Subscriptions::builder(Probe { log: log.clone() })
            .limits(limits)
            .hold_empty(holds_empty)
            .stdio_cancelled(says_cancelled)
            .build();
        let channel = Channel::default();
        channel.with(|state| state.room = usize::MAX / 2);
        let (stop, stopped) = oneshot::channel();
        let (reader, writer) = (Reader(channel.clone(), usize::from(chunk).max(1)), Writer(channel.clone()));
        let stdio =
            subscriptions.stdio(reader, writer).extension(Seat { number: 0, decision: Decision::Accept });
        let seen = Seen::default();
        let (mut behind, mut unread) = (None, None);
        let serving: Pin<Box<dyn Future<Output = io::Result<()>> + Send>> = match inner {
            None => Box::pin(stdio.until(stopped)),
            Some(inner) => {
                let (ours, inners) = duplex(if inner == Inner::Sleeps { 64 } else { 1 << 20 });
                if inner == Inner::Sleeps {
                    unread = Some(inners);
                } else {
                    behind = Some(tokio::spawn(inner::serve(inner, inners, seen.clone())));
                }
                Box::pin(stdio.over(ours).until(stopped))
            }
        };
        let mut run = Self {
            subscriptions,
            log,
            channel,
            inner,
            seen,
            behind,
            unread,
            serving: tokio::spawn(serving),
            stop: Some(stop),
            silences: Vec::new(),
            waiting: 0,
            published: 0,
        };
        for step in steps.iter().take(100) {
            run.step(step).await;
        }
        run.end(end).await;
    }

    async fn step(&mut self, step: &Step) {
        let was_at_start = self.channel.with(|state| state.input.last().is_none_or(|&byte| byte == b'\n'));
        if let Some(bytes) = step.written() {
            self.waiting += bytes.split(|&byte| byte == b'\n').count();
            let told = self.channel.with(|state| {
                state.input.extend_from_slice(&bytes);
                state.output.len()
            });
            for silence in &mut self.silences {
                silence.to = silence.to.min(told);
            }
        }
        match step {
            Step::Publish { kinds, pauses, stops } => {
                let sends = (0..3).map(Target::List).chain([Target::Uri("x:a".into())]).collect();
                let outcome = if *stops { Outcome::Stop("told".into()) } else { Outcome::Continue };
                let (number, then) = (self.published, (0, outcome));
                self.published += 1;
                self.subscriptions.publish(Change { number, kinds: *kinds, sends, pauses: *pauses, then });
            }
            Step::Read { bytes } => self.channel.with(|state| state.room = usize::from(*bytes)),
            Step::ReadAll => self.channel.with(|state| state.room = usize::MAX / 2),
            Step::Advance { seconds } => sleep(Duration::from_secs((*seconds).into())).await,
            _ => {}
        }
        // Until nobody has anything to do.
        sleep(Duration::from_millis(1)).await;
        let (told, under_way) = self.channel.with(|state| (state.output.len(), state.under_way));
        let is_taken = self.waiting <= ROOM && !matches!(self.inner, Some(Inner::Sleeps | Inner::Twice));
        if let Step::Cancel { id } = step
            && was_at_start
            && is_taken
        {
            let id = meaning(plan::id(*id));
            self.silences.push(Silence { id, from: told + under_way, to: usize::MAX });
        }
        if under_way == 0 {
            self.waiting = 0;
        }
    }

    async fn end(mut self, end: End) {
        let start = Instant::now();
        match end {
            End::Input | End::Unread => self.channel.with(|state| state.input_ends = Some(Input::Ends)),
            End::Broken => self.channel.with(|state| state.input_ends = Some(Input::Fails)),
            End::Closed => self.channel.with(|state| {
                (state.is_closed, state.input_ends) = (true, Some(Input::Ends));
            }),
            End::Signal => self.stop = None,
            End::Dropped => self.serving.abort(),
        }
        self.channel.with(|state| state.room = if end == End::Unread { 0 } else { usize::MAX / 2 });
        let is_stuck = end == End::Unread || self.inner == Some(Inner::Sleeps);
        if is_stuck && self.channel.with(|state| state.input.len() > plan::LINE) {
            // Nobody knows whether there is more behind what is not taken.
            sleep(Duration::from_secs(15)).await;
            self.stop = None;
        }
        let ended = timeout(DAY, &mut self.serving).await.expect("it ends");
        match (end, ended) {
            (End::Dropped, _) => {}
            (End::Broken, Ok(served)) => assert!(served.is_err() || self.inner.is_some(), "it says why"),
            (_, ended) => ended.expect("no panic").expect("who leaves is no error"),
        }
        assert!(start.elapsed() < Duration::from_secs(25), "{:?}", start.elapsed());
        let Self { subscriptions, log, channel, inner, seen, behind, unread, silences, .. } = self;
        drop(unread);
        if let Some(behind) = behind {
            timeout(DAY, behind).await.expect("its channel is over").expect("no panic");
        }
        settle().await;
        assert_eq!(subscriptions.open_streams(), 0);
        drop(subscriptions);
        settle().await;
        assert!(log.lock().expect("no panic in there").is_settled(), "{log:?}");
        channel.with(|state| {
            inner::judge(&state.input, &seen.lock().expect("no panic in there"));
            let is_whole = matches!(end, End::Input | End::Signal | End::Broken);
            let whole = state.output.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            assert!(!is_whole || whole == state.output.len(), "whole lines");
            let mut output = String::from_utf8(state.output[..whole].to_vec()).expect("UTF-8");
            if inner == Some(Inner::Dies) {
                output = output.replace(&format!("{}\n", inner::HALF), "");
            }
            let twice = inner == Some(Inner::Twice);
            let answers = !matches!(inner, Some(Inner::Never | Inner::Dies | Inner::Sleeps));
            let said = Said::of(&state.input, twice);
            heard::judge(&output, &said, &silences, twice, end == End::Input && answers);
        });
    }
}
