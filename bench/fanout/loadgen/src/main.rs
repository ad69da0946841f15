//! Opens listen streams, triggers events, and measures what they cost. See "What the load generator does" in `README.md`.

mod filter;
mod histogram;
mod message;
mod options;
mod process;
mod report;
mod shared;
mod sse;
mod stream;
mod trigger;

use std::{
    cell::{Cell, RefCell},
    process::ExitCode,
    rc::Rc,
    time::{Duration, Instant},
};

use bench_trigger::now;
use tokio::{runtime, task::LocalSet, time::sleep};

use options::Options;
use process::Cpu;
use report::{Open, Report, Run};
use shared::Shared;
use trigger::Trigger;

type Failure = Box<dyn std::error::Error>;

/// Longer than that, nothing comes any more.
const PATIENCE: Duration = Duration::from_secs(5);
const PATIENCE_TO_OPEN: Duration = Duration::from_secs(15);

/// After so much silence a burst is over.
const SILENCE: Duration = Duration::from_millis(300);

fn main() -> ExitCode {
    match Options::parse().and_then(run) {
        Ok(report) => {
            println!("{report:#}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> Result<serde_json::Value, Failure> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let shared = Shared::new(options);
    let measured = LocalSet::new().block_on(&runtime, measure(&shared))?;
    Ok(measured.into_json(&shared))
}

async fn measure(shared: &Rc<Shared>) -> Result<Report, Failure> {
    let options = &shared.options;
    let mut trigger = Trigger::connect(options.trigger_port, options.filter.trigger()).await?;
    let open = open(shared).await;
    let mut report = Report { open, run: None, aborted: None };
    if shared.ended.get() > 0 || shared.acknowledged.get() < options.streams + options.stall {
        report.aborted = Some("not all streams were opened");
        return Ok(report);
    }
    if options.warm_up > 0 {
        if !lockstep(shared, &mut trigger, options.warm_up).await? {
            report.aborted = Some("an event of the warm-up did not reach all");
            return Ok(report);
        }
        trigger.restart().await?;
        shared.new_phase();
    }

    let pid = options.pid;
    let memory = process::memory(pid);
    let peak = Rc::new(Cell::new(memory));
    let sampler = tokio::task::spawn_local(sample(pid, peak.clone()));
    let (started, since) = (now(), Instant::now());
    let (cpu, own, busy) = (Cpu::of(pid), Cpu::of(std::process::id()), process::busy_seconds());
    let mut last_change = None;
    if options.burst {
        last_change = burst(shared, trigger).await?;
    } else if !lockstep(shared, &mut trigger, options.events).await? {
        report.aborted = Some("an event did not reach all");
    }
    let cpu = Cpu::of(pid).since(cpu);
    let own = Cpu::of(std::process::id()).since(own);
    sampler.abort();
    report.run = Some(Run {
        cpu,
        client_cpu: own,
        other_cpu: (process::busy_seconds() - busy - cpu - own).max(0.0),
        wall: since.elapsed().as_secs_f64(),
        started,
        last_change,
        memory,
        memory_peak: peak.get().max(process::memory(pid)),
        kernel_memory: process::kernel_memory(),
        send_queue: process::longest_send_queue(options.port),
    });
    Ok(report)
}

async fn open(shared: &Rc<Shared>) -> Open {
    let (pid, all) = (shared.options.pid, shared.options.streams + shared.options.stall);
    let (memory, cpu, since) = (process::memory(pid), Cpu::of(pid), Instant::now());
    for index in 0..all {
        tokio::task::spawn_local(stream::run(shared.clone(), index));
    }
    shared.wait(PATIENCE_TO_OPEN, |_| shared.acknowledged.get() + shared.ended.get() >= all).await;
    let (cpu, seconds) = (Cpu::of(pid).since(cpu), since.elapsed().as_secs_f64());
    // What the server still does after the acknowledgement belongs to the memory, not to the time.
    sleep(Duration::from_millis(500)).await;
    Open { streams: all, cpu, seconds, memory: process::memory(pid).saturating_sub(memory) }
}

/// The peak of a process's memory, ten times a second.
async fn sample(pid: u32, peak: Rc<Cell<u64>>) {
    loop {
        sleep(Duration::from_millis(100)).await;
        peak.set(peak.get().max(process::memory(pid)));
    }
}

/// Triggers an event, waits until all have it, and so on; false when one does not arrive.
async fn lockstep(shared: &Shared, trigger: &mut Trigger, events: usize) -> Result<bool, Failure> {
    let begun = Instant::now();
    for event in 0..events {
        if begun.elapsed().as_secs() >= shared.options.max_seconds {
            break;
        }
        shared.triggered(1);
        trigger.fire(1).await?;
        if !shared.wait(PATIENCE, |phase| phase.complete > event).await {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Triggers all events at once, and waits until nothing comes any more. When the last of them was published.
async fn burst(shared: &Rc<Shared>, mut trigger: Trigger) -> Result<Option<u64>, Failure> {
    let events = shared.options.events;
    shared.triggered(events);
    trigger.fire(events).await?;
    // A server may be slow to publish: deliveries are waited for at the same time.
    let published = Rc::new(RefCell::new(None));
    let (task, answer) = (shared.clone(), published.clone());
    tokio::task::spawn_local(async move {
        *answer.borrow_mut() = trigger.published().await.ok();
        task.progress.notify_one();
    });
    let enough = shared
        .wait(PATIENCE, |phase| {
            // Without losses, or when each has heard of the last change. A stream that was ended hears of nothing.
            let heard =
                phase.streams.iter().filter(|(_, last)| published.borrow().is_some_and(|at| *last >= at));
            published.borrow().is_some()
                && (phase.complete >= events || heard.count() + shared.ended.get() >= shared.options.streams)
        })
        .await;
    // There may be more to come.
    let mut seen = None;
    while enough && seen.replace(shared.phase.borrow().delivered) != Some(shared.phase.borrow().delivered) {
        sleep(SILENCE).await;
    }
    Ok(published.take())
}
