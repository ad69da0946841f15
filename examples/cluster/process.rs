//! Processes that are this one's to end.

use std::{
    io,
    process::{Child, Command},
};

/// A child, which is killed when this is dropped.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn new(child: Child) -> Self {
        Self(child)
    }

    /// `STOP` or `CONT`.
    pub(crate) fn signal(&self, signal: &str) -> io::Result<()> {
        Command::new("kill").args(["-s", signal, &self.0.id().to_string()]).status().map(drop)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // SIGKILL, for which it need not run.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
