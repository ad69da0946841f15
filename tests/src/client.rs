//! HTTP/1.1, chunks and server-sent events by hand, so that a test sees what a well-behaved client would hide.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

use crate::{request::Request, told::told, within};

/// One connection.
#[derive(Debug)]
pub struct Client {
    socket: TcpStream,
    /// Received, and not used yet.
    received: Vec<u8>,
}

impl Client {
    /// # Panics
    ///
    /// If there is no server.
    pub async fn connect(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).await.expect("the server listens"))
    }

    /// A client whose receive buffer is small: who does not read is soon seen not to.
    ///
    /// # Panics
    ///
    /// If there is no server.
    pub async fn connect_narrow(address: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(8 * 1024).expect("a size of any kind");
        Self::over(socket.connect(address).await.expect("the server listens"))
    }

    /// A client at an address of its own.
    ///
    /// # Panics
    ///
    /// If there is no server, or no such address here.
    pub async fn connect_from(local: SocketAddr, address: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(local).expect("an address of this machine");
        Self::over(socket.connect(address).await.expect("the server listens"))
    }

    fn over(socket: TcpStream) -> Self {
        socket.set_nodelay(true).expect("an open socket");
        Self { socket, received: Vec::new() }
    }

    /// Writes a request, and reads nothing.
    ///
    /// # Panics
    ///
    /// If the connection is gone.
    pub async fn write(&mut self, request: &Request) {
        self.write_bytes(&request.bytes()).await;
    }

    /// Writes these bytes, and reads nothing.
    ///
    /// # Panics
    ///
    /// If the connection is gone.
    pub async fn write_bytes(&mut self, bytes: &[u8]) {
        within("the request is taken", self.socket.write_all(bytes)).await.expect("an open connection");
    }

    /// Writes a request to a server that may close the connection.
    ///
    /// # Errors
    ///
    /// If it has.
    pub async fn try_write(&mut self, request: &Request) -> std::io::Result<()> {
        within("the request is taken", self.socket.write_all(&request.bytes())).await
    }

    /// Sends a request, and reads the head of its response.
    ///
    /// # Panics
    ///
    /// If there is no response.
    pub async fn send(mut self, request: &Request) -> Response {
        // A refusal may come before all was taken, and the connection close.
        let _ = within("the request is taken", self.socket.write_all(&request.bytes())).await;
        self.response().await
    }

    /// Reads the head of a response.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub async fn response(self) -> Response {
        self.answered().await.expect("a response")
    }

    /// Reads the head of a response; `None` where the connection ends instead.
    ///
    /// # Panics
    ///
    /// If it ends within the head.
    pub async fn answered(mut self) -> Option<Response> {
        let status = self.line().await?;
        let status = status.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status line");
        let mut headers = Vec::new();
        loop {
            let line = self.line().await.expect("a whole head");
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut response = Response {
            client: self,
            status,
            headers,
            framing: Framing::UntilClosed,
            body: Vec::new(),
            parsed: 0,
            end: None,
        };
        if response.header("transfer-encoding") == Some("chunked") {
            response.framing = Framing::Chunked;
        } else if let Some(length) = response.header("content-length").and_then(|length| length.parse().ok())
        {
            response.framing = Framing::Length(length);
        }
        Some(response)
    }

    /// All bytes that the server writes until it closes the connection.
    pub async fn raw(mut self) -> Vec<u8> {
        while self.fill().await {}
        self.received
    }

    /// Waits until the server closes the connection, and drops what it says before.
    pub async fn closed(mut self) {
        while self.fill().await {
            self.received.clear();
        }
    }

    /// Goes, in good order: FIN, if everything was read.
    pub fn leave(self) {}

    /// Goes at once: RST.
    ///
    /// # Panics
    ///
    /// If the socket is none.
    pub fn reset(self) {
        self.socket.set_zero_linger().expect("an open socket");
    }

    async fn fill(&mut self) -> bool {
        self.received.reserve(16 * 1024);
        within("the server writes", self.socket.read_buf(&mut self.received)).await.unwrap_or(0) > 0
    }

    async fn line(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.received.windows(2).position(|window| window == b"\r\n") {
                let line = String::from_utf8(self.received[..end].to_vec()).expect("a head is text");
                self.received.drain(..end + 2);
                return Some(line);
            }
            if !self.fill().await {
                return None;
            }
        }
    }

    async fn exactly(&mut self, length: usize) -> Option<Vec<u8>> {
        while self.received.len() < length {
            if !self.fill().await {
                return None;
            }
        }
        Some(self.received.drain(..length).collect())
    }
}

#[derive(Debug)]
enum Framing {
    Chunked,
    Length(usize),
    UntilClosed,
}

/// A response, read as far as a test asks for it.
#[derive(Debug)]
pub struct Response {
    client: Client,
    status: u16,
    headers: Vec<(String, String)>,
    framing: Framing,
    /// All that came of the body.
    body: Vec<u8>,
    /// How much of it was handed out as events.
    parsed: usize,
    end: Option<Item>,
}

/// What an event stream holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// One message: the text of its only `data` line.
    Message(String),
    /// A comment, without its colon.
    Comment(String),
    /// The body ended as it should.
    End,
    /// The connection ended before the body did.
    Cut,
}

impl Response {
    /// The status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The only header of this name, in lower case.
    ///
    /// # Panics
    ///
    /// If there are several.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(other, _)| other == name);
        let value = values.next();
        assert!(values.next().is_none(), "{name} occurs twice: {:?}", self.headers);
        value.map(|(_, value)| &**value)
    }

    /// The body so far, without its chunks.
    #[must_use]
    pub fn received(&self) -> &[u8] {
        &self.body
    }

    /// Reads on; `false` at the end.
    pub async fn more(&mut self) -> bool {
        if self.end.is_some() {
            return false;
        }
        let read = match self.framing {
            Framing::Chunked => self.chunk().await,
            Framing::Length(0) => Err(Item::End),
            Framing::Length(length) => {
                self.framing = Framing::Length(0);
                self.client.exactly(length).await.ok_or(Item::Cut)
            }
            Framing::UntilClosed if self.client.received.is_empty() && !self.client.fill().await => {
                Err(Item::End)
            }
            Framing::UntilClosed => Ok(std::mem::take(&mut self.client.received)),
        };
        match read {
            Ok(bytes) => self.body.extend(bytes),
            Err(end) => self.end = Some(end),
        }
        self.end.is_none()
    }

    async fn chunk(&mut self) -> Result<Vec<u8>, Item> {
        let size = self.client.line().await.ok_or(Item::Cut)?;
        let size =
            usize::from_str_radix(size.split(';').next().unwrap_or_default(), 16).expect("a chunk's size");
        let chunk = self.client.exactly(size).await.ok_or(Item::Cut)?;
        assert_eq!(self.client.line().await.ok_or(Item::Cut)?, "", "a chunk ends with its line");
        if size == 0 { Err(Item::End) } else { Ok(chunk) }
    }

    /// The whole body.
    ///
    /// # Panics
    ///
    /// If the connection ends before.
    pub async fn bytes(&mut self) -> &[u8] {
        while self.more().await {}
        assert_eq!(self.end, Some(Item::End), "the body ends as it should");
        &self.body
    }

    /// The whole body, as JSON.
    ///
    /// # Panics
    ///
    /// If it is none.
    pub async fn json(&mut self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{}", self.status);
        serde_json::from_slice(self.bytes().await).expect("JSON")
    }

    /// The next thing in an event stream.
    ///
    /// # Panics
    ///
    /// If the server writes what this crate never writes: fields other than one `data` line in an event.
    pub async fn item(&mut self) -> Item {
        within("a whole event", self.whole_item()).await
    }

    async fn whole_item(&mut self) -> Item {
        loop {
            let rest = &self.body[self.parsed..];
            if let Some(end) = rest.windows(2).position(|window| window == b"\n\n") {
                let event = String::from_utf8(rest[..end].to_vec()).expect("events are UTF-8");
                self.parsed += end + 2;
                assert!(!event.contains(['\n', '\r']), "an event is one line: {event:?}");
                if let Some(comment) = event.strip_prefix(':') {
                    return Item::Comment(comment.to_owned());
                }
                let data = event.strip_prefix("data: ").unwrap_or_else(|| panic!("no data line: {event:?}"));
                return Item::Message(data.to_owned());
            }
            if !self.more().await {
                assert_eq!(self.parsed, self.body.len(), "the stream ends with a whole event");
                return self.end.clone().expect("it ended");
            }
        }
    }

    /// The next message as it is; `None` at the proper end.
    ///
    /// # Panics
    ///
    /// If the connection was cut.
    pub async fn text(&mut self) -> Option<String> {
        loop {
            match self.item().await {
                Item::Message(text) => return Some(text),
                Item::Comment(_) => {}
                Item::End => return None,
                Item::Cut => panic!("the connection was cut after {:?}", String::from_utf8_lossy(&self.body)),
            }
        }
    }

    /// The next message.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub async fn frame(&mut self) -> Value {
        let text = self.text().await.expect("one more message");
        serde_json::from_str(&text).expect("a message is JSON")
    }

    /// All messages to the proper end.
    ///
    /// # Panics
    ///
    /// If the connection was cut.
    pub async fn rest(&mut self) -> Vec<Value> {
        let mut rest = Vec::new();
        while let Some(text) = self.text().await {
            rest.push(serde_json::from_str(&text).expect("a message is JSON"));
        }
        rest
    }

    /// The acknowledgement, which has to be next: what it says is honoured.
    ///
    /// # Panics
    ///
    /// If something else is next.
    pub async fn acknowledged(&mut self) -> Value {
        let mut frame = self.frame().await;
        assert_eq!(frame["method"], "notifications/subscriptions/acknowledged", "{frame}");
        frame["params"]["notifications"].take()
    }

    /// The next message in short: what a notification tells of, or how the stream ends.
    ///
    /// # Panics
    ///
    /// If the next message is none of these.
    pub async fn told(&mut self) -> String {
        told(&self.frame().await)
    }

    /// The connection, for a next request.
    ///
    /// # Panics
    ///
    /// If the server wrote more than its response.
    pub async fn into_client(mut self) -> Client {
        self.bytes().await;
        assert!(self.client.received.is_empty(), "nothing comes after the end");
        self.client
    }

    /// Waits until the server closes the connection, whatever it says before.
    pub async fn closed(self) {
        self.client.closed().await;
    }

    /// Goes: FIN.
    pub fn leave(self) {
        self.client.leave();
    }

    /// Goes at once: RST.
    pub fn reset(self) {
        self.client.reset();
    }
}
