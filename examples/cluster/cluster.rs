//! The processes: a broker, and replicas.

use std::{
    io::{self, BufRead, BufReader},
    process::{Command, Stdio},
    sync::Mutex,
};

use crate::{broker::Broker, process::Process};

pub(crate) const REPLICAS: usize = 3;

pub(crate) struct Cluster {
    broker: Mutex<Option<Broker>>,
    broker_port: u16,
    replicas: [Mutex<Option<Process>>; REPLICAS],
    ports: [u16; REPLICAS],
}

impl Cluster {
    pub(crate) fn start() -> io::Result<Self> {
        let broker = Broker::start(0)?;
        let broker_port = broker.port();
        let mut ports = [0; REPLICAS];
        let mut replicas = Vec::new();
        for port in &mut ports {
            let (process, found) = replica(0, broker_port)?;
            *port = found;
            replicas.push(process);
        }
        let mut replicas = replicas.into_iter();
        Ok(Self {
            broker: Mutex::new(Some(broker)),
            broker_port,
            replicas: std::array::from_fn(|_| Mutex::new(replicas.next())),
            ports,
        })
    }

    pub(crate) fn ports(&self) -> [u16; REPLICAS] {
        self.ports
    }

    /// With SIGKILL.
    pub(crate) fn kill(&self, index: usize) {
        drop(lock(&self.replicas[index]).take());
    }

    /// Starts a replica that was killed.
    pub(crate) fn start_again(&self, index: usize) -> io::Result<()> {
        let (process, _) = replica(self.ports[index], self.broker_port)?;
        *lock(&self.replicas[index]) = Some(process);
        Ok(())
    }

    /// `STOP` or `CONT`.
    pub(crate) fn signal(&self, index: usize, signal: &str) -> io::Result<()> {
        lock(&self.replicas[index]).as_ref().map_or(Ok(()), |process| process.signal(signal))
    }

    pub(crate) fn stop_broker(&self) -> io::Result<()> {
        lock(&self.broker).as_ref().map_or(Ok(()), Broker::stop)
    }

    pub(crate) fn continue_broker(&self) -> io::Result<()> {
        lock(&self.broker).as_ref().map_or(Ok(()), Broker::go_on)
    }

    pub(crate) fn restart_broker(&self) -> io::Result<()> {
        let mut broker = lock(&self.broker);
        let again = broker.take().map_or_else(|| Broker::start(self.broker_port), Broker::restart)?;
        *broker = Some(again);
        Ok(())
    }
}

/// Starts this program as a replica. Returns at which port it serves.
fn replica(port: u16, broker: u16) -> io::Result<(Process, u16)> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["replica", &port.to_string(), &broker.to_string()])
        .stdout(Stdio::piped())
        .spawn()?;
    let stdout = child.stdout.take().ok_or_else(|| io::Error::other("it has no output"))?;
    let process = Process::new(child);
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line)?;
    let port = line.trim().parse().map_err(|_| io::Error::other("a replica did not start"))?;
    Ok((process, port))
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
