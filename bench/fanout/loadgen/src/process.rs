//! What a process takes of the machine, from `/proc`.

use std::fs;

/// Of `/proc/PID/stat`; the same on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// Of a page in `/proc/net/sockstat`; a machine with larger ones shows too little there.
const PAGE: u64 = 4096;

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn fields(line: &str) -> Vec<f64> {
    line.split_ascii_whitespace().map(|field| field.parse().unwrap_or(0.0)).collect()
}

/// CPU seconds of a process, user and kernel, that it has taken so far.
#[derive(Clone, Copy, Default)]
pub struct Cpu {
    /// To 10 ms, threads included that have ended.
    ticks: f64,
    /// To the nanosecond, of the threads that are there.
    scheduled: f64,
}

impl Cpu {
    pub fn of(pid: u32) -> Self {
        let stat = read(&format!("/proc/{pid}/stat"));
        // The name before may hold anything.
        let stat = fields(stat.rsplit(')').next().unwrap_or_default());
        let ticks = stat.get(11).zip(stat.get(12)).map_or(0.0, |(user, kernel)| user + kernel);
        let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let nanoseconds: f64 = threads
            .filter_map(|thread| {
                fields(&read(&format!("{}/schedstat", thread.path().display()))).first().copied()
            })
            .sum();
        Self { ticks: ticks / TICKS_PER_SECOND, scheduled: nanoseconds / 1e9 }
    }

    /// Seconds since then: the finer figure, unless a thread has ended in between.
    pub fn since(self, before: Self) -> f64 {
        let (ticks, scheduled) = (self.ticks - before.ticks, self.scheduled - before.scheduled);
        if (ticks - scheduled).abs() <= 0.03 + ticks * 0.02 { scheduled } else { ticks }
    }
}

/// Seconds in which any processor of the machine was busy.
pub fn busy_seconds() -> f64 {
    let stat = read("/proc/stat");
    let all = fields(stat.lines().next().unwrap_or_default());
    // user, nice and system; interrupts, soft interrupts, and what was stolen.
    [1, 2, 3, 6, 7, 8].iter().filter_map(|&index| all.get(index)).sum::<f64>() / TICKS_PER_SECOND
}

/// Resident memory of a process, in bytes. What the kernel holds for its sockets is not in it.
pub fn memory(pid: u32) -> u64 {
    let status = read(&format!("/proc/{pid}/status"));
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes: u64 = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0);
    kilobytes * 1024
}

/// Bytes that the kernel holds for all TCP sockets of the machine.
pub fn kernel_memory() -> u64 {
    let sockstat = read("/proc/net/sockstat");
    let tcp = sockstat.lines().find(|line| line.starts_with("TCP:")).unwrap_or_default();
    let pages: u64 = tcp.rsplit(' ').next().and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * PAGE
}

/// The most bytes that wait in the kernel to be sent from one connection of this local port.
pub fn longest_send_queue(port: u16) -> u64 {
    let local = format!(":{port:04X}");
    let queue = |line: &str| {
        let mut columns = line.split_ascii_whitespace();
        columns.nth(1).filter(|address| address.ends_with(&local))?;
        let (unsent, _) = columns.nth(2)?.split_once(':')?;
        u64::from_str_radix(unsent, 16).ok()
    };
    read("/proc/net/tcp").lines().filter_map(queue).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::{
        io::{ErrorKind, Write},
        net::{TcpListener, TcpStream},
        time::Instant,
    };

    use super::*;

    #[test]
    fn what_this_process_takes_is_seen() {
        let me = std::process::id();
        let (cpu, busy) = (Cpu::of(me), busy_seconds());
        let started = Instant::now();
        while Cpu::of(me).since(cpu) < 0.05 {
            assert!(started.elapsed().as_secs() < 10, "no CPU time is seen");
        }
        assert!(busy_seconds() > busy);
        assert!(memory(me) > 100_000);
    }

    #[test]
    fn what_a_socket_has_not_sent_is_seen() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let _client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        assert_eq!(longest_send_queue(port), 0);
        server.set_nonblocking(true).unwrap();
        let full = loop {
            if let Err(error) = server.write(&[0; 4096]) {
                break error;
            }
        };
        assert_eq!(full.kind(), ErrorKind::WouldBlock);
        assert!(longest_send_queue(port) > 0 && kernel_memory() > 0);
    }
}
