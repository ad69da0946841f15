//! The trigger port and the command line that all servers share. See "The trigger port" in `README.md`.

use std::{env, net::SocketAddr};

use rustix::time::{ClockId, clock_gettime};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// The URI that `r` is about.
pub const HOT: &str = "bench://hot";

/// How many URIs `u` goes through.
pub const URIS: usize = 1000;

/// The URI that the event `u` with this index is about.
#[must_use]
pub fn uri(index: usize) -> String {
    format!("bench://res/{}", index % URIS)
}

/// Nanoseconds of the clock that a server and the load generator have in common, and that nobody sets.
#[must_use]
pub fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let nanoseconds = now.tv_sec * 1_000_000_000 + now.tv_nsec;
    // It counts from the start of the machine.
    u64::try_from(nanoseconds).unwrap_or_default()
}

#[derive(Clone, Debug)]
pub enum Event {
    ToolsListChanged,
    ResourceUpdated(String),
}

/// Serves the trigger port: each event goes to `publish`, in order, one at a time.
///
/// # Errors
///
/// When the address cannot be bound, or accepting fails.
pub async fn serve(address: SocketAddr, mut publish: impl AsyncFnMut(Event)) -> std::io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    loop {
        let (mut stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        // That the load generator leaves is no reason to stop.
        commands(&mut stream, &mut publish).await.ok();
    }
}

async fn commands(stream: &mut TcpStream, publish: &mut impl AsyncFnMut(Event)) -> std::io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    let (mut index, mut last_change) = (0, 0);
    loop {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        for byte in &buffer[..length] {
            let event = match byte {
                b't' => Event::ToolsListChanged,
                b'r' => Event::ResourceUpdated(HOT.to_owned()),
                b'u' => {
                    index += 1;
                    Event::ResourceUpdated(uri(index - 1))
                }
                b'z' => {
                    index = 0;
                    continue;
                }
                b'b' => {
                    stream.write_u64(last_change).await?;
                    continue;
                }
                _ => continue,
            };
            last_change = now();
            publish(event).await;
        }
    }
}

/// `--port P --trigger-port Q [--buffer EVENTS] [--bounded]`
pub struct Options {
    pub mcp: SocketAddr,
    pub trigger: SocketAddr,
    /// How many events may wait for one stream; `None`: as many as by default.
    pub buffer: Option<usize>,
    /// Whether what the kernel holds for one socket is bounded, as far as the library can do that.
    pub bounded: bool,
}

/// # Panics
///
/// When an argument is unknown, or is no number where there has to be one.
#[must_use]
pub fn options() -> Options {
    let loopback = |port| SocketAddr::from(([127, 0, 0, 1], port));
    let mut options = Options { mcp: loopback(0), trigger: loopback(0), buffer: None, bounded: false };
    let mut arguments = env::args().skip(1);
    while let Some(name) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_default();
        match name.as_str() {
            "--port" => options.mcp = loopback(value().parse().expect("a port")),
            "--trigger-port" => options.trigger = loopback(value().parse().expect("a port")),
            "--buffer" => options.buffer = Some(value().parse().expect("a number of events")),
            "--bounded" => options.bounded = true,
            other => panic!("unknown argument: {other}"),
        }
    }
    options
}
