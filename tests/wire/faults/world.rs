//! What changes, and the handler that tells of it and fails when it is told to.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use mcp_sub::{
    AnyNotification, Channel, CloseReason, Filter, Flow, Handles, Inbox, Kinds, ListenRequest, Missed,
    Rejection, SubscriptionHandle, SubscriptionHandler, Subscriptions,
};
use serde_json::Value;
use tokio::sync::watch;

use crate::AsTold;

/// The lists of tools and of resources, and resources, of which the first few change all the time.
pub(crate) const THINGS: usize = 2 + 4 + 24;
/// The things that change all the time: of these only the last change counts.
pub(crate) const BUSY: usize = 6;
/// Long enough that a client which does not read soon fills its socket.
const URI_LENGTH: usize = 8_000;

pub(crate) struct World {
    /// How often each thing has changed: what there is to read.
    versions: [AtomicU64; THINGS],
    uris: Vec<Arc<str>>,
}

impl World {
    pub(crate) fn new() -> Self {
        let uri = |thing| format!("x:{thing}/{}", "x".repeat(URI_LENGTH)).into();
        Self { versions: [const { AtomicU64::new(0) }; THINGS], uris: (2..THINGS).map(uri).collect() }
    }

    /// What a client asks for who wants to hear of everything.
    pub(crate) fn filter(&self) -> String {
        serde_json::json!({
            "toolsListChanged": true,
            "resourcesListChanged": true,
            "resourceSubscriptions": self.uris.iter().map(|uri| &**uri).collect::<Vec<_>>(),
        })
        .to_string()
    }

    pub(crate) fn version(&self, thing: usize) -> u64 {
        self.versions[thing].load(Ordering::SeqCst)
    }

    /// First the change, then the event.
    pub(crate) fn change(&self, thing: usize, subscriptions: &Subscriptions<Shaky>) {
        self.versions[thing].fetch_add(1, Ordering::SeqCst);
        match self.uri(thing) {
            Some(uri) => subscriptions.publish_for(uri, Changed(thing)),
            None => subscriptions.publish(Changed(thing)),
        };
    }

    fn uri(&self, thing: usize) -> Option<&str> {
        Some(self.uris.get(thing.checked_sub(2)?)?)
    }

    /// What a notification tells of.
    pub(crate) fn thing(frame: &Value) -> Option<usize> {
        match frame["method"].as_str()? {
            "notifications/tools/list_changed" => Some(0),
            "notifications/resources/list_changed" => Some(1),
            "notifications/resources/updated" => {
                frame["params"]["uri"].as_str()?.strip_prefix("x:")?.split('/').next()?.parse().ok()
            }
            _ => None,
        }
    }
}

/// A thing changed.
pub(crate) struct Changed(usize);

/// What the next method of one stream is to do.
#[derive(Clone, Copy)]
pub(crate) enum Order {
    Fail,
    Panic,
    /// Wait until this round is over.
    Wait(usize),
}

/// Who was accepted, and who was closed.
#[derive(Default)]
pub(crate) struct Book {
    pub(crate) accepted: AtomicUsize,
    pub(crate) closed: AtomicUsize,
    pub(crate) open: Mutex<HashMap<usize, SubscriptionHandle>>,
    pub(crate) orders: Mutex<HashMap<usize, Order>>,
    /// How many rounds are over.
    pub(crate) over: watch::Sender<usize>,
}

pub(crate) struct Shaky {
    pub(crate) world: Arc<World>,
    pub(crate) book: Arc<Book>,
}

impl Shaky {
    async fn obey(&self, number: usize) -> Flow {
        let order = self.book.orders.lock().unwrap().remove(&number);
        match order {
            None => {}
            Some(Order::Fail) => return Flow::fail("as told"),
            Some(Order::Panic) => std::panic::panic_any(AsTold),
            Some(Order::Wait(round)) => {
                self.book.over.subscribe().wait_for(|over| *over > round).await.expect("it is there");
            }
        }
        Flow::Continue
    }
}

impl SubscriptionHandler for Shaky {
    type Event = Changed;
    /// The number of the stream.
    type State = usize;
    const DECLARED: Kinds =
        Kinds::TOOLS_LIST_CHANGED.union(Kinds::RESOURCES_LIST_CHANGED).union(Kinds::RESOURCES_UPDATED);

    fn kinds(Changed(thing): &Changed) -> Kinds {
        match thing {
            0 => Kinds::TOOLS_LIST_CHANGED,
            1 => Kinds::RESOURCES_LIST_CHANGED,
            _ => Kinds::RESOURCES_UPDATED,
        }
    }

    async fn subscribe(
        &self,
        _: &mut Filter<'_, Self>,
        request: &ListenRequest,
        _: &Inbox<Self>,
    ) -> Result<usize, Rejection> {
        if request.headers().contains_key("x-panic") {
            std::panic::panic_any(AsTold);
        }
        let number = request.id().as_json().parse().map_err(Rejection::failed)?;
        let before = self.book.open.lock().unwrap().insert(number, request.handle());
        assert!(before.is_none(), "{number} is opened once");
        self.book.accepted.fetch_add(1, Ordering::SeqCst);
        Ok(number)
    }

    async fn handle_event(
        &self,
        Changed(thing): &Changed,
        channel: &mut Channel<'_, AnyNotification>,
        number: &mut usize,
    ) -> Flow {
        match (thing, self.world.uri(*thing)) {
            (_, Some(uri)) => channel.resources_updated(uri),
            (0, None) => channel.tools_list_changed(),
            (_, None) => channel.resources_list_changed(),
        }
        self.obey(*number).await
    }

    async fn handle_lagged(
        &self,
        missed: &Missed<'_>,
        channel: &mut Channel<'_, AnyNotification>,
        number: &mut usize,
    ) -> Flow {
        channel.catch_up(missed);
        self.obey(*number).await
    }

    async fn handle_close(&self, _: CloseReason, number: usize) {
        let open = self.book.open.lock().unwrap().remove(&number);
        assert!(open.is_some(), "{number} is closed once");
        self.book.closed.fetch_add(1, Ordering::SeqCst);
    }
}

impl Handles<Changed> for Shaky {
    type Events = Changed;
    fn into_event(event: Changed) -> Changed {
        event
    }
}
