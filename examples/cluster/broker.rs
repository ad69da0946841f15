//! A `nats-server` on loopback.

use std::{
    io::{self, BufRead, BufReader},
    process::{Command, Stdio},
    thread,
};

use crate::process::Process;

pub(crate) struct Broker {
    process: Process,
    port: u16,
}

impl Broker {
    /// At `port`, or at any if it is 0. Waits until it listens.
    pub(crate) fn start(port: u16) -> io::Result<Self> {
        let asked = if port == 0 { "-1".to_owned() } else { port.to_string() };
        let mut child = Command::new("nats-server")
            .args(["--addr", "127.0.0.1", "--port", &asked])
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| io::Error::other(format!("nats-server does not start: {error}")))?;
        let stderr = child.stderr.take().ok_or_else(|| io::Error::other("it has no output"))?;
        let process = Process::new(child);
        let mut port = port;
        let mut lines = BufReader::new(stderr).lines();
        for line in lines.by_ref() {
            let line = line?;
            if line.contains("Listening for client connections") {
                port = line.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or(port);
            }
            if line.contains("Server is ready") {
                break;
            }
        }
        // It has to be read, and ends with the server.
        thread::spawn(move || lines.for_each(drop));
        Ok(Self { process, port })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Lets it hang.
    pub(crate) fn stop(&self) -> io::Result<()> {
        self.process.signal("STOP")
    }

    pub(crate) fn go_on(&self) -> io::Result<()> {
        self.process.signal("CONT")
    }

    /// Kills it, and starts it again at the same port.
    pub(crate) fn restart(self) -> io::Result<Self> {
        let Self { process, port } = self;
        drop(process);
        Self::start(port)
    }
}
