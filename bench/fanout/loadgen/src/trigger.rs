//! The server's trigger port.

use std::io;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

pub struct Trigger {
    stream: TcpStream,
    command: u8,
}

impl Trigger {
    pub async fn connect(port: u16, command: u8) -> io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, command })
    }

    pub async fn fire(&mut self, events: usize) -> io::Result<()> {
        self.stream.write_all(&vec![self.command; events]).await
    }

    /// The URIs of a spread begin with the first one again.
    pub async fn restart(&mut self) -> io::Result<()> {
        self.stream.write_all(b"z").await
    }

    /// Waits until all events are published. When the last one was about to be.
    pub async fn published(mut self) -> io::Result<u64> {
        self.stream.write_all(b"b").await?;
        self.stream.read_u64().await
    }
}
