//! Starts a server, and the load generator against it.

use std::{
    env, fs,
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{Failure, cases::Arguments};

pub const NAMES: [&str; 5] = ["floor-raw", "floor-hyper", "rmcp", "tower-mcp", "mcp-sub"];

/// The processors that server and load generator have to themselves.
#[derive(Clone)]
pub struct Processors {
    server: String,
    load: String,
}

impl Processors {
    /// The last and the first that this process may use.
    pub fn pick() -> Result<Self, Failure> {
        let status = fs::read_to_string("/proc/self/status")?;
        let allowed =
            status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default();
        let mut ends = allowed.trim().split([',', '-']);
        let load = ends.next().unwrap_or_default().to_owned();
        let server = ends.next_back().ok_or("one processor only: use --unpinned")?.to_owned();
        Ok(Self { server, load })
    }
}

/// How many streams a process may hold: as many as files, less what it needs itself.
pub fn most_streams() -> Result<usize, Failure> {
    let limits = fs::read_to_string("/proc/self/limits")?;
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap_or_default();
    let files: usize = files.split_ascii_whitespace().next().unwrap_or_default().parse()?;
    Ok(files.saturating_sub(100))
}

/// Runs one server under one load. What the load generator says.
pub fn measure(server: &str, arguments: &Arguments, pinned: Option<&Processors>) -> Result<Value, Failure> {
    let (port, trigger_port) = free_ports()?;
    let ports =
        ["--port".to_owned(), port.to_string(), "--trigger-port".to_owned(), trigger_port.to_string()];
    let (program, processor) = (program(server)?, pinned.map(|processors| &*processors.server));
    let mut running = Running(command(program, processor).args(&ports).args(&arguments.0).spawn()?);
    running.wait_for(trigger_port)?;
    running.wait_for(port)?;
    let (program, processor) = (beside("loadgen")?, pinned.map(|processors| &*processors.load));
    let output = command(program, processor)
        .args(&ports)
        .args(["--pid", &running.0.id().to_string()])
        .args(&arguments.1)
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("the load generator failed: {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn program(server: &str) -> Result<PathBuf, Failure> {
    match (server.split_once('='), server) {
        (Some((_, path)), _) => Ok(path.into()),
        (None, "floor-raw" | "floor-hyper") => beside(server),
        (None, "rmcp" | "tower-mcp" | "mcp-sub") => beside(&format!("bench-{server}")),
        (None, _) => Err(format!("no such server: {server}").into()),
    }
}

/// A program that was built into the same folder as this one.
fn beside(name: &str) -> Result<PathBuf, Failure> {
    Ok(env::current_exe()?.with_file_name(name))
}

/// `setpriv` sees to it that the program ends with this one, however that ends, and `taskset` binds it to a processor. Both
/// become what they start, so that the process is the program's.
fn command(program: PathBuf, processor: Option<&str>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]);
    if let Some(processor) = processor {
        command.args(["taskset", "--cpu-list", processor]);
    }
    command.arg(program);
    command
}

fn free_ports() -> Result<(u16, u16), Failure> {
    let (one, other) = (TcpListener::bind("127.0.0.1:0")?, TcpListener::bind("127.0.0.1:0")?);
    Ok((one.local_addr()?.port(), other.local_addr()?.port()))
}

/// A server, which ends with this.
struct Running(Child);

impl Running {
    fn wait_for(&mut self, port: u16) -> Result<(), Failure> {
        let since = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Some(status) = self.0.try_wait()? {
                return Err(format!("the server ended: {status}").into());
            }
            if since.elapsed() > Duration::from_secs(20) {
                return Err("the server does not listen".into());
            }
            sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
