//! The server behind: what goes to it, and what it says.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    io,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::{BufMut, Bytes, BytesMut};
use http::StatusCode;
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::{mpsc, oneshot},
    task::JoinSet,
    time::{Instant, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::{
    answer,
    lines::{Line, Lines},
    writer::Outgoing,
};
use crate::{
    kind::Kinds,
    protocol::{
        error::{Error, code},
        id::RequestId,
        object::Object,
        request::Request,
    },
    rejection::Rejection,
    subscriptions::Capabilities,
    sync::{Mutex, lock},
    transport::{
        merge::{self, Merged, Merger},
        race::{Raced, race},
    },
};

/// A line of the inner server's that is longer is not held, and so is no answer to `server/discover`.
const LINE: usize = 4 * 1024 * 1024;

/// How many answers to `server/discover` are waited for.
const WAITING: usize = 1024;

/// What waits for a response, by its id.
type Waits = Arc<Mutex<HashMap<RequestId, Waiting>>>;

enum Waiting {
    /// The client does: its answer is merged with what it is told.
    Client(Capabilities),
    /// We do, in the name of a caller.
    Us(oneshot::Sender<Box<RawValue>>),
}

/// The connection to the inner server. Its tasks end with it.
pub(super) struct Inner {
    tasks: JoinSet<()>,
    asker: Asker,
}

/// Sends to the inner server.
#[derive(Clone)]
pub(super) struct Asker {
    lines: mpsc::Sender<Bytes>,
    waits: Waits,
    merger: Merger,
    /// Of our own requests: nobody can guess their ids.
    key: u64,
    asked: Arc<AtomicU64>,
    /// Told when the inner server takes no more, or says no more.
    gone: CancellationToken,
}

impl Inner {
    pub(super) fn connect<I>(io: I, out: mpsc::Sender<Outgoing>) -> Self
    where
        I: AsyncRead + AsyncWrite + Send + 'static,
    {
        let (output, input) = tokio::io::split(io);
        let (lines, queue) = mpsc::channel(1);
        let asker = Asker {
            lines,
            waits: Waits::default(),
            merger: Merger::new(),
            key: RandomState::new().hash_one("discover"),
            asked: Arc::default(),
            gone: CancellationToken::new(),
        };
        let mut tasks = JoinSet::new();
        let gone = asker.gone.clone();
        tasks.spawn(async move {
            if let Err(error) = send(input, queue).await {
                tracing::debug!(%error, "the inner server takes no more");
                gone.cancel();
            }
        });
        let guard = asker.gone.clone().drop_guard();
        let (waits, merger) = (asker.waits.clone(), asker.merger.clone());
        tasks.spawn(async move {
            let _gone = guard;
            if let Err(error) = forward(output, &waits, &merger, out).await {
                tracing::error!(%error, "the inner server cannot be read");
            }
        });
        Self { tasks, asker }
    }

    pub(super) fn asker(&self) -> &Asker {
        &self.asker
    }

    /// Told when the inner server takes no more, or says no more.
    pub(super) fn gone(&self) -> &CancellationToken {
        &self.asker.gone
    }

    /// Tells the inner server that there is no more, and waits until it has answered.
    pub(super) async fn finish(self, deadline: Instant) {
        let Self { mut tasks, asker, .. } = self;
        // The last to have its input, once no listen asks any more.
        drop(asker);
        let finished = async { while tasks.join_next().await.is_some() {} };
        if timeout_at(deadline, finished).await.is_err() {
            tracing::warn!("the inner server does not end, and is waited for no longer");
        }
    }
}

impl Asker {
    /// Passes a line on, as it came.
    pub(super) async fn pass(&self, line: Bytes) {
        // Without an inner server the connection ends.
        let _ = self.lines.send(line).await;
    }

    /// Passes the client's own `server/discover` on; the answer will have what this caller is told.
    pub(super) async fn discover(
        &self,
        line: Bytes,
        id: &RequestId,
        told: Capabilities,
    ) -> Result<(), Error> {
        self.wait(id.clone(), Waiting::Client(told))?;
        self.pass(line).await;
        Ok(())
    }

    /// Nobody waits for that answer any more.
    pub(super) fn forget(&self, id: &RequestId) {
        lock(&self.waits).remove(id);
    }

    /// What the inner server can carry, for the caller in whose name `question` is.
    pub(super) async fn carried(
        self,
        question: Question,
        told: Capabilities,
        within: Duration,
    ) -> Result<Kinds, Rejection> {
        let Question { id, line } = question;
        let refuse = |status, error| Rejection::from_error(status, error);
        let (sender, answer) = oneshot::channel();
        self.wait(id, Waiting::Us(sender)).map_err(|error| refuse(StatusCode::SERVICE_UNAVAILABLE, error))?;
        let asked = async {
            self.pass(line).await;
            answer.await.ok()
        };
        // One that goes may have answered before.
        let asked = async {
            match race(asked, self.gone.cancelled()).await {
                Raced::First(response) => response,
                Raced::Second(()) => None,
            }
        };
        let Ok(response) = timeout(within, asked).await else {
            let error = Error::new(code::INTERNAL_ERROR, "the inner server's answer does not come");
            return Err(refuse(StatusCode::GATEWAY_TIMEOUT, error));
        };
        let carried = self.merger.carried(response.as_deref(), told);
        carried.map_err(|error| refuse(StatusCode::BAD_GATEWAY, error.unwrap_or_else(merge::unknown)))
    }

    /// A `server/discover` of our own, in the name of the caller of `request`.
    pub(super) fn question(&self, request: &Request<'_>) -> Question {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let id = format!("\"mcp-sub-{:016x}-{number}\"", self.key);
        let line = merge::ask(&id, request).into();
        Question { id: RequestId::ours(id), line }
    }

    fn wait(&self, id: RequestId, waiting: Waiting) -> Result<(), Error> {
        let mut waits = lock(&self.waits);
        if waits.len() >= WAITING {
            let message = format!("the inner server owes {WAITING} answers to `server/discover`");
            return Err(Error::at_limit("inner", message));
        }
        waits.insert(id, waiting);
        Ok(())
    }
}

/// A request of our own.
pub(super) struct Question {
    id: RequestId,
    line: Bytes,
}

/// Writes what is passed on, until nobody is left who could.
async fn send(input: impl AsyncWrite, mut lines: mpsc::Receiver<Bytes>) -> io::Result<()> {
    let mut input = pin!(input);
    while let Some(line) = lines.recv().await {
        input.write_all(&line).await?;
        input.write_all(b"\n").await?;
        input.flush().await?;
    }
    input.shutdown().await
}

/// Gives the client what the inner server says, until it says no more.
async fn forward(
    output: impl AsyncRead,
    waits: &Waits,
    merger: &Merger,
    out: mpsc::Sender<Outgoing>,
) -> io::Result<()> {
    let output = pin!(output);
    let mut lines = Lines::new(output, LINE);
    while let Some(line) = lines.next().await? {
        let line = match line {
            Line::Whole(line) => line,
            Line::Long => {
                let (pieces, receiver) = mpsc::channel(1);
                if out.send(Outgoing::Long(receiver)).await.is_err() {
                    return Ok(());
                }
                while let Some(piece) = lines.piece().await? {
                    if pieces.send(piece).await.is_err() {
                        return Ok(());
                    }
                }
                continue;
            }
        };
        if let Some(lines) = answered(line, waits, merger)
            && out.send(Outgoing::Lines(lines)).await.is_err()
        {
            return Ok(());
        }
    }
    Ok(())
}

/// What the client gets of a line: nothing, if it is the answer to a question of ours.
fn answered(line: Bytes, waits: &Waits, merger: &Merger) -> Option<Bytes> {
    match waiting(&line, waits) {
        Some((_, Waiting::Us(answer), response)) => {
            // Who asked may be gone.
            let _ = answer.send(response.to_owned());
            return None;
        }
        Some((id, Waiting::Client(told), response)) => {
            if let Some(Merged { result, .. }) = merger.merge(response, told) {
                return Some(answer::result(&id, &result));
            }
        }
        None => {}
    }
    let mut lines = BytesMut::from(line);
    lines.put_u8(b'\n');
    Some(lines.freeze())
}

/// Who waits for this line, if it is a response that anyone waits for.
fn waiting<'l>(line: &'l [u8], waits: &Waits) -> Option<(RequestId, Waiting, &'l RawValue)> {
    // By far the most frequent case is not even read.
    if lock(waits).is_empty() {
        return None;
    }
    let response: &RawValue = serde_json::from_slice(line).ok()?;
    let object = Object::of(response)?;
    if object.get("method").is_some() {
        return None;
    }
    let id = RequestId::of(object.get("id")?, usize::MAX)?;
    let (id, waiting) = lock(waits).remove_entry(&id)?;
    Some((id, waiting, response))
}
