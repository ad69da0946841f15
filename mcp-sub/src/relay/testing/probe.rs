//! One process as the kit needs it: a hub, a relay, and streams that say what they hear.

use std::{fmt, future::poll_fn, sync::Arc, time::Duration};

use super::super::{Attached, Bus, EncodedEvent, EventError, Relay, RelayedHandler};
use crate::{
    AnyNotification, Channel, Filter, Flow, Handles, Inbox, Kinds, ListenRequest, Rejection,
    SubscriptionHandler,
    filter::Honoured,
    hub::{Hub, Next, Registration},
    pending::Entry,
    protocol::filter::RequestedFilter,
};

/// What changed: the tools, or a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Changed {
    pub(super) uri: Option<String>,
    pub(super) number: u64,
}

/// What a stream heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Event(Changed),
    /// The tools, or a URI.
    CatchUp(Vec<String>),
}

pub(super) struct Probe;

impl SubscriptionHandler for Probe {
    type Event = Changed;
    type State = ();
    const DECLARED: Kinds = Kinds::TOOLS_LIST_CHANGED.union(Kinds::RESOURCES_UPDATED);

    fn kinds(event: &Changed) -> Kinds {
        if event.uri.is_some() { Kinds::RESOURCES_UPDATED } else { Kinds::TOOLS_LIST_CHANGED }
    }

    async fn subscribe(
        &self,
        _: &mut Filter<'_, Self>,
        _: &ListenRequest,
        _: &Inbox<Self>,
    ) -> Result<(), Rejection> {
        Ok(())
    }

    async fn handle_event(&self, _: &Changed, _: &mut Channel<'_, AnyNotification>, (): &mut ()) -> Flow {
        Flow::Continue
    }
}

impl Handles<Changed> for Probe {
    type Events = Changed;

    fn into_event(event: Changed) -> Changed {
        event
    }
}

/// The number of an event that cannot be written, and the name of one that cannot be read.
pub(super) const UNWRITABLE: u64 = u64::MAX;
pub(super) const UNREADABLE: &str = "unreadable";

/// Nobody can say what it is.
#[derive(Debug)]
struct Unspeakable;

impl std::error::Error for Unspeakable {}

impl fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("foreign code panics");
    }
}

impl RelayedHandler for Probe {
    fn encode(event: &Changed) -> Result<EncodedEvent<'static>, EventError> {
        if event.number == UNWRITABLE {
            return Err(Unspeakable.into());
        }
        EncodedEvent::of("changed", &(&event.uri, event.number))
    }

    fn decode(encoded: &EncodedEvent<'_>) -> Option<Result<Changed, EventError>> {
        if encoded.name() == UNREADABLE {
            return Some(Err(Unspeakable.into()));
        }
        (encoded.name() == "changed").then(|| {
            let (uri, number) = encoded.value()?;
            Ok(Changed { uri, number })
        })
    }
}

pub(super) struct Replica {
    pub(super) hub: Hub<Probe>,
    pub(super) relay: Attached,
}

impl Replica {
    pub(super) fn new(bus: impl Bus) -> Self {
        let hub = Hub::new();
        let relay = Relay::over(bus).attach(&hub);
        Self { hub, relay }
    }

    pub(super) fn tools(&self, number: u64) -> usize {
        self.hub.publish(Changed { uri: None, number })
    }

    pub(super) fn saved(&self, uri: &str, number: u64) -> usize {
        self.hub.publish_for(uri, Changed { uri: Some(uri.into()), number })
    }

    /// A stream that honours the tools, and these URIs.
    pub(super) fn listen(&self, tools: bool, uris: &[&str]) -> Listener {
        let tools = if tools { Kinds::TOOLS_LIST_CHANGED } else { Kinds::NONE };
        let updates = if uris.is_empty() { Kinds::NONE } else { Kinds::RESOURCES_UPDATED };
        let uris = uris.iter().map(|&uri| uri.into()).collect();
        let honoured = Arc::new(Honoured::new(RequestedFilter { kinds: tools.union(updates), uris }));
        Listener { registration: self.hub.register(honoured.clone(), 4096), honoured }
    }
}

pub(super) struct Listener {
    registration: Registration<Changed>,
    honoured: Arc<Honoured>,
}

impl Listener {
    /// The next one, within a time that is long for whatever carries it.
    pub(super) async fn next(&self) -> Heard {
        let next = tokio::time::timeout(Duration::from_secs(30), self.wait()).await;
        next.expect("a stream heard nothing for 30 seconds")
    }

    /// Nothing for a while.
    pub(super) async fn silence(&self, time: Duration) {
        let heard = tokio::time::timeout(time, self.wait()).await;
        assert!(heard.is_err(), "a stream heard {heard:?}");
    }

    /// The next event. Catch-ups, as after a start, are none.
    pub(super) async fn event(&self) -> Changed {
        loop {
            if let Heard::Event(event) = self.next().await {
                return event;
            }
        }
    }

    /// The next one, whenever it comes.
    pub(super) async fn wait(&self) -> Heard {
        let slot = self.registration.slot();
        let next = loop {
            poll_fn(|cx| slot.poll_ready(cx)).await;
            if let Some(next) = slot.try_next() {
                break next;
            }
        };
        match next {
            Next::Event(published) => Heard::Event(Changed::clone(&published.event)),
            Next::CatchUp(mut missed) => {
                let mut told = Vec::new();
                missed.drain(|entry| {
                    told.push(match entry {
                        Entry::Uri(position) => self.honoured.uris()[position].to_string(),
                        Entry::List(_) => "tools".into(),
                    });
                });
                told.sort();
                Heard::CatchUp(told)
            }
            Next::End(reason) => panic!("nobody ends this stream, and it ended: {reason}"),
        }
    }
}
