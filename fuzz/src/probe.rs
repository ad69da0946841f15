//! A handler that does as it is told, and writes down what it did.

use std::sync::{Arc, Mutex};

use mcp_sub::{
    AnyNotification, Channel, CloseReason, Declares, Filter, Flow, Handles, Inbox, Kinds, ListenRequest,
    Notification, Rejection, SubscriptionHandler,
};

use crate::runtime::AsTold;

/// What the protocol says of a list, written down once more.
pub(crate) struct List {
    pub(crate) field: &'static str,
    pub(crate) method: &'static str,
    pub(crate) kind: Kinds,
}

pub(crate) const LISTS: [List; 3] = [
    List {
        field: "toolsListChanged",
        method: "notifications/tools/list_changed",
        kind: Kinds::TOOLS_LIST_CHANGED,
    },
    List {
        field: "promptsListChanged",
        method: "notifications/prompts/list_changed",
        kind: Kinds::PROMPTS_LIST_CHANGED,
    },
    List {
        field: "resourcesListChanged",
        method: "notifications/resources/list_changed",
        kind: Kinds::RESOURCES_LIST_CHANGED,
    },
];

/// The bit of updates, beside those of [`LISTS`].
pub(crate) const UPDATES: u8 = 1 << LISTS.len();

/// The set of these bits.
pub(crate) const fn kinds(bits: u8) -> Kinds {
    let mut kinds = if bits & UPDATES == 0 { Kinds::NONE } else { Kinds::RESOURCES_UPDATED };
    let mut index = 0;
    while index < LISTS.len() {
        if bits & (1 << index) != 0 {
            kinds = kinds.union(LISTS[index].kind);
        }
        index += 1;
    }
    kinds
}

/// What can be told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    /// An index into [`LISTS`].
    List(usize),
    Uri(String),
}

/// An event, and what its method is to do.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) number: usize,
    /// What its method declares, as bits.
    pub(crate) kinds: u8,
    pub(crate) sends: Vec<Target>,
    /// Whether the method waits before it sends.
    pub(crate) pauses: bool,
    /// For the stream with this seat alone; the others go on.
    pub(crate) then: (usize, Outcome),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    Continue,
    Stop(String),
    Fail(String),
    Panic,
}

/// An extension of a listen: who it is, and how it is decided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seat {
    pub(crate) number: usize,
    pub(crate) decision: Decision,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Decision {
    Accept,
    /// Declines tools, and URIs of an odd number of bytes.
    Narrow,
    Unauthorized,
    Invalid,
    Panic,
    Never,
}

impl Decision {
    pub(crate) const ALL: [Self; 6] =
        [Self::Accept, Self::Narrow, Self::Unauthorized, Self::Invalid, Self::Panic, Self::Never];
}

/// What happened, by seat.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) accepted: Vec<usize>,
    /// By the numbers of events.
    pub(crate) handled: Vec<(usize, usize)>,
    pub(crate) closed: Vec<(usize, CloseReason)>,
}

impl Log {
    /// Whether each accepted subscription was closed, once.
    pub(crate) fn is_settled(&self) -> bool {
        let mut closed: Vec<_> = self.closed.iter().map(|(seat, _)| *seat).collect();
        let mut accepted = self.accepted.clone();
        closed.sort_unstable();
        accepted.sort_unstable();
        closed == accepted
    }
}

/// Declares the kinds of `BITS`, and tries to send whatever an event says.
pub(crate) struct Probe<const BITS: u8> {
    pub(crate) log: Arc<Mutex<Log>>,
}

impl<const BITS: u8> Probe<BITS> {
    fn log(&self, write: impl FnOnce(&mut Log)) {
        write(&mut self.log.lock().expect("no panic in there"));
    }
}

impl<const BITS: u8, N: Notification> Declares<N> for Probe<BITS> {}

impl<const BITS: u8> SubscriptionHandler for Probe<BITS> {
    type Event = Change;
    type State = usize;
    const DECLARED: Kinds = kinds(BITS);

    fn kinds(event: &Change) -> Kinds {
        kinds(event.kinds)
    }

    async fn subscribe(
        &self,
        filter: &mut Filter<'_, Self>,
        request: &ListenRequest,
        _: &Inbox<Self>,
    ) -> Result<usize, Rejection> {
        let seat = request.extension::<Seat>().expect("each request has one");
        // Where many share a channel, each says it itself.
        let told = request.meta().get("decision").and_then(serde_json::Value::as_u64);
        let told = told.and_then(|told| Decision::ALL.get(usize::try_from(told).ok()?)).copied();
        match told.unwrap_or(seat.decision) {
            Decision::Accept => {}
            Decision::Narrow => {
                filter.decline::<mcp_sub::ToolsListChanged>();
                filter.retain_resources(|uri| uri.len() % 2 == 0);
            }
            Decision::Unauthorized => return Err(Rejection::unauthorized().challenge("Bearer")),
            Decision::Invalid => return Err(Rejection::invalid("as told")),
            Decision::Panic => std::panic::panic_any(AsTold),
            Decision::Never => std::future::pending().await,
        }
        self.log(|log| log.accepted.push(seat.number));
        Ok(seat.number)
    }

    async fn handle_event(
        &self,
        event: &Change,
        channel: &mut Channel<'_, AnyNotification>,
        seat: &mut usize,
    ) -> Flow {
        if event.pauses {
            tokio::task::yield_now().await;
        }
        for target in &event.sends {
            match target {
                Target::List(0) => channel.tools_list_changed(),
                Target::List(1) => channel.prompts_list_changed(),
                Target::List(_) => channel.resources_list_changed(),
                Target::Uri(uri) => channel.resources_updated(uri),
            }
        }
        self.log(|log| log.handled.push((*seat, event.number)));
        match &event.then {
            (victim, outcome) if victim == seat => match outcome {
                Outcome::Continue => Flow::Continue,
                Outcome::Stop(reason) => Flow::stop(reason.clone()),
                Outcome::Fail(error) => Flow::fail(error),
                Outcome::Panic => std::panic::panic_any(AsTold),
            },
            _ => Flow::Continue,
        }
    }

    async fn handle_close(&self, reason: CloseReason, seat: usize) {
        self.log(|log| log.closed.push((seat, reason)));
    }
}

impl<const BITS: u8> Handles<Change> for Probe<BITS> {
    type Events = Change;

    fn into_event(event: Change) -> Change {
        event
    }
}
