//! One connection: what its client says, and who is to answer.

use std::{future::Future, io, pin::pin, time::Duration};

use bytes::Bytes;
use http::{Extensions, HeaderMap};
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
    time::{Instant, sleep, timeout_at},
};

use super::{
    answer,
    inner::Inner,
    lines::{Line, Lines},
    listens::Listens,
    writer::{self, Outgoing},
};
use crate::{
    caller::Caller,
    ending::CloseReason,
    handler::SubscriptionHandler,
    kind::Kinds,
    protocol::{
        CANCELLED, DISCOVER, LISTEN, REMOVED, VERSION,
        error::Error,
        id::RequestId,
        request::{Message, Notification, Request, names_version, syntax},
    },
    rejection::Rejection,
    subscriptions::Subscriptions,
    transport::{
        discover,
        listen::Admitted,
        race::{Raced, race},
    },
};

/// The longest line where nothing else is set: a listen with its URIs, or any call of an inner server.
const LINE: usize = 1024 * 1024;
const LINE_OVER: usize = 16 * 1024 * 1024;

/// As good as for ever, and as far as a clock can tell.
const EVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Serves until the input ends, or `signal` comes, or the client takes nothing any more.
pub(super) async fn run<H, R, W, I>(
    subscriptions: Subscriptions<H>,
    extensions: Extensions,
    (reader, writer): (R, W),
    inner: Option<I>,
    signal: impl Future,
) -> io::Result<()>
where
    H: SubscriptionHandler,
    R: AsyncRead,
    W: AsyncWrite,
    I: AsyncRead + AsyncWrite + Send + 'static,
{
    let limits = subscriptions.settings().limits.clone();
    let (reader, writer) = (pin!(reader), pin!(writer));
    let (out, queue) = mpsc::channel(writer::QUEUE);
    let inner = inner.map(|io| Inner::connect(io, out.clone()));
    let limit = limits.body.unwrap_or(if inner.is_some() { LINE_OVER } else { LINE });
    let mut lines = Lines::new(reader, limit);
    let drain = limits.drain.min(EVER);
    // The last tenth is for the `handle_close` of those that have to be cut.
    let patience = drain / 10 * 9;
    let mut connection = Connection { subscriptions, extensions, listens: Listens::new(), inner, out };
    let mut writing = pin!(writer::write(writer, queue));
    let reading = async {
        let gone = connection.inner.as_ref().map(|inner| inner.gone().clone());
        let gone = async {
            match gone {
                Some(gone) => gone.cancelled().await,
                None => std::future::pending().await,
            }
        };
        match race(signal, race(gone, connection.read(&mut lines, patience))).await {
            Raced::Second(Raced::Second(read)) => (CloseReason::Disconnected, read),
            // The server ends, or the one behind it has.
            _ => (CloseReason::Shutdown, Ok(Over::Said)),
        }
    };
    let ended = race(writing.as_mut(), reading).await;
    let now = Instant::now();
    let (mut cut, mut deadline) = (now + patience, now + drain);
    let Connection { mut listens, inner, out, .. } = connection;
    let outcome = match ended {
        Raced::First(written) => written,
        Raced::Second((reason, read)) => {
            if let Ok(Over::Stuck) = read {
                (cut, deadline) = (now, now + drain / 10);
            }
            let read = read.map(|_| ());
            let finishing = async {
                listens.end(&reason, cut).await;
                if let Some(inner) = inner {
                    inner.finish(cut).await;
                }
                // The last one that could say something.
                drop(out);
                std::future::pending::<()>().await;
            };
            match timeout_at(cut, race(writing.as_mut(), finishing)).await {
                Ok(Raced::First(written)) => written.and(read),
                _ => read,
            }
        }
    };
    listens.close(deadline).await;
    outcome.or_else(|error| if has_left(&error) { Ok(()) } else { Err(error) })
}

/// A client that has left is no error.
fn has_left(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected)
}

/// How the reading came to its end.
enum Over {
    /// There is nothing more to read.
    Said,
    /// There is nothing more to come, and what came before is not taken: by the client, or by the inner server.
    Stuck,
}

struct Connection<H: SubscriptionHandler> {
    subscriptions: Subscriptions<H>,
    extensions: Extensions,
    listens: Listens,
    inner: Option<Inner>,
    out: mpsc::Sender<Outgoing>,
}

impl<H: SubscriptionHandler> Connection<H> {
    /// Takes what comes, until nothing more does. After the end of the input each line may wait for `patience`.
    async fn read<R: AsyncRead>(&mut self, lines: &mut Lines<'_, R>, patience: Duration) -> io::Result<Over> {
        let limit = lines.limit();
        while let Some(line) = lines.next().await? {
            let given_up = async {
                lines.ended().await;
                sleep(patience).await;
            };
            if let Raced::Second(()) = race(self.serve(line, limit), given_up).await {
                tracing::warn!("the client has left, and what it has said last is taken by nobody");
                return Ok(Over::Stuck);
            }
        }
        Ok(Over::Said)
    }

    async fn serve(&mut self, line: Line, limit: usize) {
        let out = self.out.clone();
        // Who takes no answers is asked no questions: else listens would pile up, whose endings nobody takes.
        let Ok(place) = out.reserve().await else { return };
        let answer = match line {
            Line::Whole(line) => self.take(line).await,
            Line::Long => Some(answer::refusal(&self.subscriptions, None, too_long(limit))),
        };
        if let Some(answer) = answer {
            place.send(Outgoing::Lines(answer));
        }
    }

    /// Takes one line. Returns what is to be answered at once.
    async fn take(&mut self, line: Bytes) -> Option<Bytes> {
        if line.trim_ascii().is_empty() {
            return None;
        }
        let json = match syntax(&line) {
            Ok(json) => json,
            Err(error) => return Some(answer::error(None, &error)),
        };
        let is_ours = self.inner.is_none() || names_version(json);
        match Message::of(json, self.subscriptions.settings().limits.id_bytes) {
            Ok(Message::Notification(notification)) => {
                if !self.cancel(&notification) {
                    self.pass(line).await;
                }
                None
            }
            Ok(Message::Request(request)) if is_ours || request.method == LISTEN => {
                let (id, answered) = (request.id.clone(), self.answer(&line, &request).await);
                answered.unwrap_or_else(|rejection| {
                    Some(answer::refusal(&self.subscriptions, Some(&id), rejection))
                })
            }
            Err(malformed) if is_ours => Some(answer::error(malformed.id.as_ref(), &malformed.error)),
            Ok(Message::Unanswerable(malformed)) if is_ours => {
                tracing::debug!(message = malformed.error.message, "a message is ignored");
                None
            }
            _ => {
                self.pass(line).await;
                None
            }
        }
    }

    /// Gives it to the inner server, if there is one.
    async fn pass(&self, line: Bytes) {
        if let Some(inner) = &self.inner {
            inner.asker().pass(line).await;
        }
    }

    /// Whether this cancels a stream. What does not is no error: it may come late.
    fn cancel(&self, notification: &Notification<'_>) -> bool {
        if notification.method != CANCELLED {
            return false;
        }
        let id = notification.params.as_ref().and_then(|params| params.get("requestId"));
        let Some(id) = id.and_then(|id| RequestId::of(id, usize::MAX)) else { return false };
        if let Some(inner) = &self.inner {
            inner.asker().forget(&id);
        }
        self.listens.cancel(&id)
    }

    /// Answers a request of this revision; `None`: somebody else will.
    async fn answer(&mut self, line: &Bytes, request: &Request<'_>) -> Result<Option<Bytes>, Rejection> {
        let Self { subscriptions, extensions, listens, inner, out } = self;
        let meta = check(request).map_err(bad_request)?;
        if listens.contains(&request.id) {
            tracing::warn!(id = %request.id, "a request has the id of an open subscription, and is refused");
            return Err(bad_request(Error::invalid_request("a subscription that is open has this `id`")));
        }
        if REMOVED.contains(&&*request.method) {
            return Err(bad_request(Error::method_not_found(&request.method)));
        }
        if inner.is_some() && request.method != LISTEN && request.method != DISCOVER {
            self.pass(line.clone()).await;
            return Ok(None);
        }
        let caller = Caller::new(HeaderMap::new(), extensions.clone(), meta);
        // A listen is admitted first: from then on it can be ended, whatever was said of its caller before.
        let admitted = (request.method == LISTEN)
            .then(|| Admitted::of(subscriptions, &caller, request))
            .transpose()?
            .map(|admitted| admitted.of_connection(listens.closing()));
        let told = subscriptions.capabilities(&caller)?;
        let Some(admitted) = admitted else {
            let Some(inner) = inner else {
                let result =
                    discover::answer(subscriptions.settings(), told, request).map_err(bad_request)?;
                return Ok(Some(answer::result(&request.id, &result.to_string())));
            };
            inner.asker().discover(line.clone(), &request.id, told).await.map_err(bad_request)?;
            return Ok(None);
        };
        let framing = answer::framing(subscriptions.settings());
        // Before the next line is read, so that nothing is lost that it causes.
        let registered = admitted.register(subscriptions, caller, framing, told.kinds);
        let within = subscriptions.settings().limits.subscribe_timeout;
        let question = inner.as_ref().map(|inner| (inner.asker().clone(), inner.asker().question(request)));
        let carried = async move {
            match question {
                Some((inner, question)) => inner.carried(question, told, within).await,
                None => Ok(Kinds::ALL),
            }
        };
        listens.spawn(subscriptions, registered, carried, out.clone());
        Ok(None)
    }
}

fn too_long(limit: usize) -> Rejection {
    let error = Error::invalid_request(format!("the line has more than {limit} bytes"));
    Rejection::from_error(http::StatusCode::PAYLOAD_TOO_LARGE, error.with_data(json!({ "limit": "body" })))
}

fn bad_request(error: Error) -> Rejection {
    Rejection::from_error(http::StatusCode::BAD_REQUEST, error)
}

/// What every request has to get right before its method matters. Returns `_meta`.
fn check(request: &Request<'_>) -> Result<Map<String, Value>, Error> {
    match request.version() {
        None if request.method == "initialize" => Err(request.handshake()),
        Some(version) if version != VERSION => Err(Error::unsupported_version(Some(&version))),
        _ => request.check_meta(),
    }
}
