//! A bare tokio loop: one task for each connection; an event is one plain write for each stream, made where it is published,
//! on the ready socket. A stream's task only writes what did not fit.

use std::{
    io::ErrorKind,
    sync::{Arc, Mutex},
};

use bench_floor::{BUFFER, Frames, Registry, lock};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Notify,
};

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
                    x-accel-buffering: no\r\ntransfer-encoding: chunked\r\n\r\n";

/// Bytes that stand for one event in `--buffer`.
const EVENT_BYTES: usize = 256;

struct Stream {
    socket: TcpStream,
    frames: Frames,
    pending: Mutex<Vec<u8>>,
    capacity: usize,
    blocked: Notify,
}

impl bench_floor::Stream for Stream {
    fn frames(&self) -> &Frames {
        &self.frames
    }

    fn send(&self, uri: Option<&str>) {
        match uri {
            Some(uri) => self.write(&self.frames.resources[uri]),
            None => self.write(self.frames.tools.as_deref().unwrap_or_default()),
        }
    }
}

impl Stream {
    fn write(&self, chunk: &[u8]) {
        let mut pending = lock(&self.pending);
        if pending.is_empty() {
            let sent = match self.socket.try_write(chunk) {
                Ok(sent) => sent,
                Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
                Err(_) => return,
            };
            if sent < chunk.len() {
                pending.extend_from_slice(&chunk[sent..]);
                self.blocked.notify_one();
            }
        } else if pending.len() + chunk.len() <= self.capacity {
            pending.extend_from_slice(chunk);
        }
    }

    /// Writes what is pending; false when the connection is gone.
    fn flush(&self) -> bool {
        let mut pending = lock(&self.pending);
        while !pending.is_empty() {
            match self.socket.try_write(&pending) {
                Ok(sent) => drop(pending.drain(..sent)),
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
        true
    }

    async fn flush_all(&self) {
        while !lock(&self.pending).is_empty() {
            if self.socket.writable().await.is_err() || !self.flush() {
                return;
            }
        }
    }
}

fn chunk(frame: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", frame.len()).as_bytes(), frame, b"\r\n"].concat()
}

/// Reads until there is a whole request; `None` if it is no listen.
async fn read_listen(socket: &TcpStream, part: &mut [u8]) -> std::io::Result<Option<Frames>> {
    let mut request = Vec::new();
    loop {
        socket.readable().await?;
        match socket.try_read(part) {
            Ok(0) => return Ok(None),
            Ok(length) => request.extend_from_slice(&part[..length]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
            Err(error) => return Err(error),
        }
        let text = String::from_utf8_lossy(&request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.to_ascii_lowercase().lines().find_map(|line| {
            line.strip_prefix("content-length:").and_then(|length| length.trim().parse::<usize>().ok())
        });
        if body.len() >= length.unwrap_or(0) {
            return Ok(Frames::of_listen(body.as_bytes()));
        }
    }
}

async fn connection(
    socket: TcpStream,
    registry: Arc<Registry<Stream>>,
    capacity: usize,
) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let mut part = [0; 4096];
    let Some(mut frames) = read_listen(&socket, &mut part).await? else { return Ok(()) };
    frames.tools.iter_mut().chain(frames.resources.values_mut()).for_each(|frame| *frame = chunk(frame));
    let response = [HEAD.as_bytes(), &chunk(&frames.acknowledgement)].concat();
    let stream =
        Arc::new(Stream { socket, frames, pending: Mutex::default(), capacity, blocked: Notify::new() });
    stream.write(&response);
    let key = registry.insert(&stream);
    loop {
        tokio::select! {
            () = stream.blocked.notified() => stream.flush_all().await,
            ready = stream.socket.readable() => match stream.socket.try_read(&mut part) {
                Err(error) if ready.is_ok() && error.kind() == ErrorKind::WouldBlock => {}
                Ok(length) if length > 0 => {}
                _ => break,
            }
        }
    }
    registry.remove(key, &stream.frames);
    Ok(())
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let options = bench_trigger::options();
    let capacity = options.buffer.unwrap_or(BUFFER) * EVENT_BYTES;
    let registry = Arc::<Registry<Stream>>::default();
    let listener = TcpListener::bind(options.mcp).await?;
    let publisher = registry.clone();
    tokio::spawn(bench_trigger::serve(options.trigger, async move |event| publisher.publish(&event)));
    loop {
        let (socket, _) = listener.accept().await?;
        tokio::spawn(connection(socket, registry.clone(), capacity));
    }
}
