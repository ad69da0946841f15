//! A client whose messages are lines, so that a test sees each of them.

use std::{collections::HashMap, io};

use mcp_sub::{SubscriptionHandler, Subscriptions, stdio::Stdio};
use serde_json::{Value, value::RawValue};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::oneshot,
    task::JoinHandle,
};

use crate::{request::message, told::told, within};

/// One connection, and the server at its other end.
#[derive(Debug)]
pub struct Lines {
    writer: Option<OwnedWriteHalf>,
    reader: BufReader<OwnedReadHalf>,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<io::Result<()>>,
}

impl Lines {
    /// A client of these subscriptions alone.
    #[must_use]
    pub fn connect<H: SubscriptionHandler>(subscriptions: &Subscriptions<H>) -> Self {
        Self::to(|reader, writer| subscriptions.stdio(reader, writer))
    }

    /// A client of whatever serves its channel.
    ///
    /// # Panics
    ///
    /// If the machine has no socket left.
    pub fn to<H, I>(
        server: impl FnOnce(OwnedReadHalf, OwnedWriteHalf) -> Stdio<H, OwnedReadHalf, OwnedWriteHalf, I>,
    ) -> Self
    where
        H: SubscriptionHandler,
        I: AsyncRead + AsyncWrite + Send + 'static,
    {
        let (ours, servers) = UnixStream::pair().expect("a pair of sockets");
        let (reader, writer) = servers.into_split();
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(server(reader, writer).until(stopped));
        let (reader, writer) = ours.into_split();
        Self { writer: Some(writer), reader: BufReader::new(reader), stop: Some(stop), serving }
    }

    /// # Panics
    ///
    /// If the server takes no more.
    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let writer = self.writer.as_mut().expect("the input is open");
        within("the line is taken", writer.write_all(bytes.as_ref())).await.expect("an open connection");
    }

    /// Writes these messages at once.
    ///
    /// # Panics
    ///
    /// If the server takes no more.
    pub async fn send<M: AsRef<str>>(&mut self, messages: &[M]) {
        let lines: String = messages.iter().flat_map(|message| [message.as_ref(), "\n"]).collect();
        self.write(lines).await;
    }

    /// Writes a listen; `id` and `notifications` are JSON.
    ///
    /// # Panics
    ///
    /// If the server takes no more.
    pub async fn listen(&mut self, id: &str, notifications: &str) {
        self.send(&[listen(id, notifications)]).await;
    }

    /// Writes a listen, and reads its acknowledgement, which has to come next.
    ///
    /// # Panics
    ///
    /// If something else comes.
    pub async fn listening(&mut self, id: &str, notifications: &str) -> Value {
        self.listen(id, notifications).await;
        let text = self.text().await.expect("an acknowledgement");
        let mut message = parsed(&text);
        assert_eq!(message["method"], "notifications/subscriptions/acknowledged", "{message}");
        assert_eq!(tag(&text), id);
        message["params"]["notifications"].take()
    }

    /// The next line; `None` where there is no more.
    ///
    /// # Panics
    ///
    /// If none comes.
    pub async fn text(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = within("a line comes", self.reader.read_line(&mut line)).await.expect("text");
        assert!(read == 0 || line.ends_with('\n'), "half a line: {line}");
        (read != 0).then(|| line.trim_end_matches('\n').to_owned())
    }

    /// The next message.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub async fn message(&mut self) -> Value {
        parsed(&self.text().await.expect("one more message"))
    }

    /// The next message of a stream: its id, as JSON, and what it tells.
    ///
    /// # Panics
    ///
    /// If something else comes.
    pub async fn told(&mut self) -> (String, String) {
        let text = self.text().await.expect("one more message");
        (tag(&text), told(&parsed(&text)))
    }

    /// All messages up to the end.
    ///
    /// # Panics
    ///
    /// If it does not come.
    pub async fn rest(&mut self) -> Vec<Value> {
        let mut rest = Vec::new();
        while let Some(text) = self.text().await {
            rest.push(parsed(&text));
        }
        rest
    }

    /// Ends the input, as a client does that wants no more.
    pub fn end_input(&mut self) {
        self.writer = None;
    }

    /// Tells the server to stop.
    pub fn stop(&mut self) {
        self.stop = None;
    }

    /// Leaves without a word, and waits until the server knows.
    ///
    /// # Errors
    ///
    /// The server's.
    ///
    /// # Panics
    ///
    /// If it does not end.
    pub async fn leave(self) -> io::Result<()> {
        let Self { writer, reader, serving, stop } = self;
        drop((writer, reader));
        let ended = within("the server ends", serving).await.expect("no panic");
        drop(stop);
        ended
    }

    /// Waits until the server has ended.
    ///
    /// # Errors
    ///
    /// The server's.
    ///
    /// # Panics
    ///
    /// If it does not.
    pub async fn ended(self) -> io::Result<()> {
        within("the server ends", self.serving).await.expect("no panic")
    }
}

/// The message of a listen.
fn listen(id: &str, notifications: &str) -> String {
    message(id, "subscriptions/listen", &format!(r#""notifications":{notifications}"#))
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The stream that a message belongs to: the token as it was written.
fn tag(text: &str) -> String {
    let member = |json: &RawValue, name: &str| {
        let members: HashMap<String, Box<RawValue>> = serde_json::from_str(json.get()).expect("an object");
        members.get(name).cloned()
    };
    let message: Box<RawValue> = serde_json::from_str(text).expect("JSON");
    let id = member(&message, "id").or_else(|| {
        let meta = member(&member(&message, "params")?, "_meta")?;
        member(&meta, "io.modelcontextprotocol/subscriptionId")
    });
    id.unwrap_or_else(|| panic!("no id: {text}")).get().to_owned()
}
