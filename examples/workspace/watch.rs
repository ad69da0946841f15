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
    /// The directory has to be watched anew.
    lost: bool,
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
        lost: false,
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
        while let Some(mut touched) = self.gather(received) {
            if self.lost {
                self.begin_again();
                touched.anywhere = true;
            }
            let was_full = self.full;
            let changes = self.look(touched);
            if self.full && !was_full {
                warn(format!("{}; what happens in new ones is not seen", self.too_many()));
            }
            if changes != Changes::default() {
                tell(changes);
            }
        }
    }

    /// Waits for something to happen, and then for it to be over. `None` at the end.
    fn gather(&mut self, received: &Receiver<Signal>) -> Option<Touched> {
        let mut touched = Touched::default();
        let mut signal = if self.lost {
            match received.recv_timeout(RETRY) {
                Ok(signal) => signal,
                Err(_) => return Some(touched),
            }
        } else {
            received.recv().ok()?
        };
        let deadline = Instant::now() + PATIENCE;
        loop {
            match signal {
                Signal::Stop => return None,
                Signal::Event(Ok(event)) => self.note(&mut touched, event),
                Signal::Event(Err(error)) => {
                    warn(format!("while watching {}: {error}", self.files.root().display()));
                    self.lost = true;
                }
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let Ok(next) = received.recv_timeout(QUIET.min(left)) else { break };
            signal = next;
        }
        touched.anywhere |= self.missed.swap(false, Ordering::Relaxed);
        Some(touched)
    }

    fn note(&mut self, touched: &mut Touched, event: Event) {
        let moved = matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)));
        let written = matches!(
            event.kind,
            EventKind::Create(_) | EventKind::Modify(ModifyKind::Name(_) | ModifyKind::Data(_))
        );
        touched.anywhere |= event.need_rescan();
        for path in event.paths {
            // What is in its place now may be another directory.
            self.lost |= moved && *path == *self.files.root();
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

    /// Watches from the start. Where directories are watched one by one, the look that follows sees to it.
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
        (self.watcher, self.full) = (Some(watcher), false);
        Ok(())
    }

    /// Says so once if that is not possible, and once when it is again.
    fn begin_again(&mut self) {
        let watched = self.watcher.is_some();
        let begun = self.begin();
        self.lost = begun.is_err();
        match begun {
            Ok(()) if !watched => warn(format!("{} is back", self.files.root().display())),
            Err(error) if watched => warn(error),
            Ok(()) | Err(_) => {}
        }
    }

    fn too_many(&self) -> String {
        format!(
            "{} has more directories than the system lets us watch (on Linux: fs.inotify.max_user_watches)",
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

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, sync::mpsc::channel};

    use super::*;
    use crate::scratch::Scratch;

    /// What happens is seen, in directories that are new as well, until the watch is dropped.
    #[test]
    fn changes_arrive() {
        let scratch = Scratch::with(&["a"]);
        let (tell, told) = channel();
        let watch = watch(scratch.files(), move |changes| tell.send(changes).expect("the test still runs"));
        let watch = watch.expect("a directory can be watched");
        for name in ["a", "new/deep/b", "new/deep/c"] {
            scratch.write(name, "new");
            let mut saved = BTreeSet::new();
            while !saved.contains(&scratch.path(name)) {
                saved.extend(told.recv_timeout(Duration::from_secs(20)).expect("a change is seen").saved);
            }
        }
        fs::remove_dir_all(scratch.path("new")).expect("it is there");
        while !told.recv_timeout(Duration::from_secs(20)).expect("a change is seen").list {}
        drop(watch);
        assert!(told.try_iter().all(|changes| changes.saved.is_empty()));
        assert!(told.recv().is_err(), "the thread is gone");
    }

    #[test]
    fn reading_and_git_are_no_changes() {
        let scratch = Scratch::with(&["a"]);
        let files = scratch.files();
        let event = |kind, name| Ok(Event::new(kind).add_path(scratch.path(name)));
        let any = notify::event::AccessKind::Any;
        assert!(concerns(&files, &event(EventKind::Any, "a")));
        assert!(!concerns(&files, &event(EventKind::Access(any), "a")));
        assert!(!concerns(&files, &event(EventKind::Any, ".git/index")));
        assert!(!concerns(&files, &event(EventKind::Any, "../elsewhere")));
        let missed = Event::new(EventKind::Other).set_flag(notify::event::Flag::Rescan);
        assert!(concerns(&files, &Ok(missed)));
        assert!(concerns(&files, &Err(notify::Error::generic("broken"))));
    }
}
