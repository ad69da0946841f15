//! Watches the directory, on a thread of its own.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use notify::{
    Config, ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher, event::ModifyKind,
};

use crate::{
    changes::{Changes, Known, Touched},
    files::Files,
    warn,
};

/// An editor saves in several steps: those that follow each other within this time are judged together.
const QUIET: Duration = Duration::from_millis(60);
/// But nobody waits longer than this.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often we see whether a directory that is gone is back.
const RETRY: Duration = Duration::from_secs(1);
/// Events that may wait. When there are more, all files are looked at again.
const WAITING: usize = 4096;

/// On Linux each directory is watched by itself. The recursion of `notify`, right elsewhere, would end there at the first
/// directory that may not be read, and go into `.git`.
const ONE_BY_ONE: bool = cfg!(target_os = "linux");

/// A directory that is watched, until this is dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    signals: SyncSender<Signal>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
enum Signal {
    Event(notify::Result<Event>),
    Stop,
}

/// What the thread works with.
struct Watching {
    files: Files,
    known: Known,
    /// `None` while the directory is gone.
    watcher: Option<RecommendedWatcher>,
    /// The system watches no more directories for us.
    full: bool,
    signals: SyncSender<Signal>,
    /// There was no room for an event.
    missed: Arc<AtomicBool>,
}

/// Calls `tell`, on the thread, a moment after files changed.
pub(crate) fn watch(files: Files, tell: impl FnMut(Changes) + Send + 'static) -> Result<Watch, String> {
    let (signals, received) = sync_channel(WAITING);
    let mut watching = Watching {
        files,
        known: Known::default(),
        watcher: None,
        full: false,
        signals: signals.clone(),
        missed: Arc::default(),
    };
    watching.begin()?;
    watching.look(Touched { anywhere: true, ..Touched::default() });
    if watching.full {
        return Err(watching.too_many());
    }
    let thread = thread::Builder::new().name("watch".into()).spawn(move || watching.run(&received, tell));
    Ok(Watch { signals, thread: Some(thread.map_err(|error| error.to_string())?) })
}

impl Drop for Watch {
    fn drop(&mut self) {
        // Either fails only where the thread has ended already.
        let _ = self.signals.send(Signal::Stop);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Watching {
    fn run(mut self, received: &Receiver<Signal>, mut tell: impl FnMut(Changes)) {
        while let Some(touched) = self.gather(received) {
            if touched.anywhere {
                self.begin_again();
            }
            let was_full = self.full;
            let changes = self.look(touched);
            if self.full && !was_full {
                warn(format!("{}: what happens in new ones is not seen", self.too_many()));
            }
            if changes != Changes::default() {
                tell(changes);
            }
        }
    }

    /// Waits for something to happen, and then for it to be over. `None` at the end.
    fn gather(&self, received: &Receiver<Signal>) -> Option<Touched> {
        let mut touched = Touched::default();
        let mut signal = if self.watcher.is_some() {
            received.recv().ok()?
        } else if let Ok(signal) = received.recv_timeout(RETRY) {
            signal
        } else {
            touched.anywhere = true;
            return Some(touched);
        };
        let deadline = Instant::now() + PATIENCE;
        loop {
            match signal {
                Signal::Stop => return None,
                Signal::Event(Ok(event)) => self.note(&mut touched, event),
                Signal::Event(Err(error)) => {
                    warn(format!("while watching {}: {error}", self.files.root().display()));
                    touched.anywhere = true;
                }
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match received.recv_timeout(QUIET.min(left)) {
                Ok(next) if !left.is_zero() => signal = next,
                Ok(Signal::Stop) => return None,
                Ok(Signal::Event(_)) | Err(_) => break,
            }
        }
        touched.anywhere |= self.missed.swap(false, Ordering::Relaxed);
        Some(touched)
    }

    fn note(&self, touched: &mut Touched, event: Event) {
        let moved = matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)));
        let written = matches!(
            event.kind,
            EventKind::Create(_) | EventKind::Modify(ModifyKind::Name(_) | ModifyKind::Data(_))
        );
        touched.anywhere |= event.need_rescan();
        for path in event.paths {
            touched.anywhere |= moved && *path == *self.files.root();
            if self.files.covers(&path) {
                touched.add(path, written);
            }
        }
    }

    fn look(&mut self, touched: Touched) -> Changes {
        let Self { files, known, watcher, full, .. } = self;
        known.look(files, touched, |directory| {
            // Before it is read, so that nothing in it is missed.
            if ONE_BY_ONE && let Some(watcher) = watcher {
                let watched = watcher.watch(directory, RecursiveMode::NonRecursive);
                *full |= watched.is_err_and(|error| matches!(error.kind, ErrorKind::MaxFilesWatch));
            }
        })
    }

    fn begin(&mut self) -> Result<(), String> {
        self.watcher = None;
        let root = self.files.root().display();
        if !self.files.exist() {
            return Err(format!("{root} is gone; until it is back there are no resources"));
        }
        let (files, signals, missed) = (self.files.clone(), self.signals.clone(), self.missed.clone());
        let handler = move |event| {
            if concerns(&files, &event) && signals.try_send(Signal::Event(event)).is_err() {
                missed.store(true, Ordering::Relaxed);
            }
        };
        let begin = || {
            let mut watcher =
                RecommendedWatcher::new(handler, Config::default().with_follow_symlinks(false))?;
            if !ONE_BY_ONE {
                watcher.watch(self.files.root(), RecursiveMode::Recursive)?;
            }
            Ok(watcher)
        };
        let watcher = begin().map_err(|error: notify::Error| format!("{root} cannot be watched: {error}"))?;
        self.watcher = Some(watcher);
        Ok(())
    }

    /// Events were missed, or the directory itself was touched: the one in its place may be another.
    fn begin_again(&mut self) {
        let watched = self.watcher.is_some();
        match self.begin() {
            Ok(()) if !watched => warn(format!("{} is back", self.files.root().display())),
            Err(error) if watched => warn(error),
            Ok(()) | Err(_) => {}
        }
    }

    fn too_many(&self) -> String {
        format!(
            "{} has more directories than the system lets us watch; on Linux, `sysctl fs.inotify.max_user_watches` is the limit",
            self.files.root().display()
        )
    }
}

/// Whether the event can change what we serve. Reading a file can not.
fn concerns(files: &Files, event: &notify::Result<Event>) -> bool {
    event.as_ref().map_or(true, |event| {
        event.need_rescan()
            || (!matches!(event.kind, EventKind::Access(_))
                && event.paths.iter().any(|path| files.covers(path)))
    })
}
