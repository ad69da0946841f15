//! NATS as a bus (feature `nats`).

use std::{
    collections::HashMap,
    future::poll_fn,
    pin::Pin,
    sync::{Arc, atomic::Ordering::Relaxed},
    task::{Context, Poll},
    time::Duration,
};

use async_nats::{Client, Statistics, Subscriber, connection::State};
use bytes::Bytes;
use futures_util::{
    Stream, StreamExt,
    stream::{SelectAll, TakeUntil},
};
use tokio::{
    sync::oneshot,
    task::unconstrained,
    time::{Interval, MissedTickBehavior, interval, sleep},
};

use super::{
    Bus, BusError, BusReceiver, BusSender, Received, Relay, Topic,
    envelope::{Origin, order},
};

/// How soon a new connection is noticed.
const NOTICE: Duration = Duration::from_millis(100);
/// How soon it is noticed that there is a connection to send on.
const RETRY: Duration = Duration::from_millis(20);

/// A NATS server or cluster, as a [`Bus`]: see [`Relay::nats`].
#[derive(Clone, Debug)]
pub struct Nats {
    client: Client,
    subject: Arc<str>,
}

impl Relay<Nats> {
    /// Over core NATS. Messages go to `SUBJECT.all` and `SUBJECT.uri.1` to `SUBJECT.uri.4096`: the client may publish and
    /// subscribe to these, and nobody else should. The server filters: a process subscribes to the topics of its streams'
    /// URIs only.
    ///
    /// The client is yours: it reconnects by itself, has the TLS and credentials that it was given, and may be shared. Its
    /// `subscription_capacity` is how many messages of one subject wait here. It must have its echo, which is on unless
    /// `no_echo` was called. Every process that is to be joined uses the same subject, and another one for each tenant
    /// keeps tenants apart.
    ///
    /// While there is no connection, events wait in the relay. A new connection is a gap, and so is what the client drops
    /// for want of room.
    ///
    /// ```no_run
    /// # use mcp_sub::{ListChanges, Subscriptions, relay::Relay};
    /// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    /// let client = async_nats::ConnectOptions::new()
    ///     .name("files")
    ///     .retry_on_initial_connect()
    ///     .connect("nats://nats.internal:4222")
    ///     .await?;
    /// let subscriptions = Subscriptions::builder(ListChanges::new().tools()).build();
    /// let relay = Relay::nats(client, "files.events").attach(subscriptions.hub());
    /// # drop(relay);
    /// # Ok(())
    /// # }
    /// ```
    pub fn nats(client: Client, subject: impl Into<String>) -> Self {
        Self::over(Nats::new(client, subject))
    }
}

impl Nats {
    /// As by [`Relay::nats`], for whoever wants the bus itself.
    pub fn new(client: Client, subject: impl Into<String>) -> Self {
        Self { client, subject: subject.into().into() }
    }

    fn subject(&self, topic: Topic) -> String {
        match topic {
            Topic::EVERYONE => format!("{}.all", self.subject),
            topic => format!("{}.uri.{}", self.subject, topic.index()),
        }
    }
}

impl Bus for Nats {
    type Sender = NatsSender;
    type Receiver = NatsReceiver;

    async fn open(&mut self) -> Result<(NatsSender, NatsReceiver), BusError> {
        let statistics = self.client.statistics();
        // Before the subscription, so that a connection that is lost meanwhile is noticed.
        let connects = statistics.connects.load(Relaxed);
        let mut check = interval(NOTICE);
        check.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut receiver = NatsReceiver {
            nats: self.clone(),
            streams: SelectAll::new(),
            stops: HashMap::new(),
            held: Vec::new(),
            ready: Vec::new(),
            statistics,
            connects,
            check,
        };
        receiver.follow(&[Topic::EVERYONE], &[]).await?;
        Ok((NatsSender(self.clone()), receiver))
    }
}

/// The half that sends.
#[derive(Debug)]
pub struct NatsSender(Nats);

impl BusSender for NatsSender {
    async fn send(&mut self, topic: Topic, message: Bytes) -> Result<(), BusError> {
        let Self(nats) = self;
        // The client would take it, and lose it with its process.
        while nats.client.connection_state() != State::Connected {
            sleep(RETRY).await;
        }
        nats.client.publish(nats.subject(topic), message).await.map_err(Into::into)
    }

    async fn flush(&mut self) -> Result<(), BusError> {
        self.0.client.flush().await.map_err(Into::into)
    }
}

/// The half that receives.
///
/// The client has a queue for each subject, and so loses the order across them. But it fills them in order: what was sent
/// before a message is in its queue before that message is in another. So all queues are emptied, and once again for what
/// came meanwhile; then everything before what came first is there, and is sorted.
#[derive(Debug)]
pub struct NatsReceiver {
    nats: Nats,
    streams: SelectAll<TakeUntil<Subscriber, oneshot::Receiver<()>>>,
    /// Dropped, each ends its stream.
    stops: HashMap<Topic, oneshot::Sender<()>>,
    /// What may come after something that is not here yet.
    held: Vec<Keyed>,
    /// What is in order, the last one first.
    ready: Vec<Keyed>,
    statistics: Arc<Statistics>,
    connects: u64,
    check: Interval,
}

/// A message, with what sorts it.
type Keyed = (Option<(Origin, u64)>, Bytes);

impl BusReceiver for NatsReceiver {
    async fn follow(&mut self, more: &[Topic], less: &[Topic]) -> Result<(), BusError> {
        for topic in less {
            self.stops.remove(topic);
        }
        for topic in more {
            let subscriber = self.nats.client.subscribe(self.nats.subject(*topic)).await?;
            let (stop, stopped) = oneshot::channel();
            self.streams.push(subscriber.take_until(stopped));
            self.stops.insert(*topic, stop);
        }
        Ok(())
    }

    async fn receive(&mut self) -> Received {
        loop {
            if let Some((_, message)) = self.ready.pop() {
                return Received::Message(message);
            }
            let connects = self.statistics.connects.load(Relaxed);
            // The first connection is none that was lost.
            if std::mem::replace(&mut self.connects, connects) != connects && connects > 1 {
                return Received::Gap;
            }
            let Self { streams, held, ready, check, .. } = self;
            // A budget would end a turn before the queues are empty.
            let batch = unconstrained(poll_fn(|cx| poll_batch(streams, held, ready, cx)));
            tokio::select! {
                is_open = batch => if !is_open {
                    return Received::Closed;
                },
                _ = check.tick() => {}
            }
        }
    }
}

/// Fills `ready`. Returns whether more can come.
fn poll_batch<S: Stream<Item = async_nats::Message> + Unpin>(
    streams: &mut SelectAll<S>,
    held: &mut Vec<Keyed>,
    ready: &mut Vec<Keyed>,
    cx: &mut Context<'_>,
) -> Poll<bool> {
    let is_open = empty(streams, held, cx);
    if held.is_empty() {
        return if is_open { Poll::Pending } else { Poll::Ready(false) };
    }
    let mut complete = HashMap::<Origin, u64>::new();
    for (origin, sequence) in held.iter().filter_map(|(key, _)| *key) {
        let last = complete.entry(origin).or_default();
        *last = sequence.max(*last);
    }
    // One queue has its own order.
    if streams.len() > 1 {
        empty(streams, held, cx);
        held.sort_by_key(|(key, _)| *key);
    }
    let is_complete = |(key, _): &Keyed| {
        key.is_none_or(|(origin, sequence)| {
            complete.get(&origin).is_some_and(|complete| sequence <= *complete)
        })
    };
    let (complete, incomplete) = held.drain(..).partition(is_complete);
    (*ready, *held) = (complete, incomplete);
    ready.reverse();
    Poll::Ready(true)
}

/// Takes all that is there. Returns whether more can come.
fn empty<S: Stream<Item = async_nats::Message> + Unpin>(
    streams: &mut SelectAll<S>,
    held: &mut Vec<Keyed>,
    cx: &mut Context<'_>,
) -> bool {
    loop {
        match Pin::new(&mut *streams).poll_next(cx) {
            Poll::Ready(Some(message)) => held.push((order(&message.payload), message.payload)),
            Poll::Ready(None) => return false,
            Poll::Pending => return true,
        }
    }
}
