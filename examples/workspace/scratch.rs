//! Directories for tests.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::files::Files;

/// A directory that is gone when this is.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// With these files, each with its name in it.
    pub(crate) fn with(files: &[&str]) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("mcp-sub-workspace-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let root = env::temp_dir().join(name);
        fs::create_dir(&root).expect("a directory for the test");
        let scratch = Self(root.canonicalize().expect("it was just made"));
        for file in files {
            scratch.write(file, file);
        }
        scratch
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        let parent = path.parent().unwrap_or(Path::new(""));
        fs::create_dir_all(parent).and_then(|()| fs::write(&path, content)).expect("a file for the test");
    }

    pub(crate) fn files(&self) -> Files {
        Files::new(&self.0).expect("it is a directory")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}
