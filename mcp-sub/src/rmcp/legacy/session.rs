//! What the sessions of older revisions are told of.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use ::rmcp::{RoleServer, model::InitializeRequestParams, service::Peer};
use tokio::task::AbortHandle;

use super::super::deliver::deliver;
use crate::{
    ending::CloseReason,
    filter::Honoured,
    outbox::Message,
    registry::EventStream,
    sync::{Mutex, lock},
};

/// By what rmcp keeps once for each connection, session or none: what the client said when it began. Its address.
#[derive(Default)]
pub(in crate::rmcp) struct Sessions(Mutex<HashMap<usize, Session>>);

struct Session {
    /// Held, so that its address is nobody else's.
    _info: Arc<InitializeRequestParams>,
    lists: Option<Running>,
    resources: HashMap<String, Running>,
    listens: Listens,
    /// Looks whether the session is over.
    _watch: Running,
}

/// What the listens of this revision honour that the same connection has.
type Listens = Arc<Mutex<Vec<Arc<Honoured>>>>;

/// A stream that is to be told.
pub(super) struct Telling {
    pub(super) stream: EventStream,
    pub(super) write_timeout: Duration,
}

/// A task, and the stream that it owns and tells. Both end with this.
struct Running {
    task: AbortHandle,
    stream: Weak<EventStream>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // At once, and not when the task is dropped: whoever is told that it ended may subscribe again.
        if let Some(stream) = self.stream.upgrade() {
            stream.abort(CloseReason::Disconnected);
        }
        self.task.abort();
    }
}

impl Sessions {
    pub(super) fn tell_lists(self: &Arc<Self>, peer: &Peer<RoleServer>, telling: Telling) {
        let old =
            self.with_session(peer, |session| session.lists.replace(telling.run(peer, &session.listens)));
        drop(old);
    }

    /// Gives the stream back where the session is told of as many resources as it may be: others may have opened meanwhile.
    pub(super) fn tell_resource(
        self: &Arc<Self>,
        peer: &Peer<RoleServer>,
        uri: String,
        telling: Telling,
        most: usize,
    ) -> Result<(), Telling> {
        let old = self.with_session(peer, |session| {
            let others = session.resources.iter();
            let others = others.filter(|(other, running)| **other != uri && !running.task.is_finished());
            if others.count() >= most {
                return Err(telling);
            }
            let running = telling.run(peer, &session.listens);
            Ok(session.resources.insert(uri, running))
        });
        old.transpose().map(drop)
    }

    /// Whether the session is told of `uri`.
    pub(super) fn tells(&self, peer: &Peer<RoleServer>, uri: &str) -> bool {
        let Some(key) = key(peer) else { return false };
        let sessions = lock(&self.0);
        let running = sessions.get(&key).and_then(|session| session.resources.get(uri));
        running.is_some_and(|running| !running.task.is_finished())
    }

    /// How many resources the session is told of.
    pub(super) fn count(&self, peer: &Peer<RoleServer>) -> usize {
        let Some(key) = key(peer) else { return 0 };
        let over: Vec<_> = {
            let mut sessions = lock(&self.0);
            let Some(session) = sessions.get_mut(&key) else { return 0 };
            session.resources.extract_if(|_, running| running.task.is_finished()).collect()
        };
        drop(over);
        lock(&self.0).get(&key).map_or(0, |session| session.resources.len())
    }

    pub(super) fn forget_resource(&self, peer: &Peer<RoleServer>, uri: &str) {
        let Some(key) = key(peer) else { return };
        let gone = lock(&self.0).get_mut(&key).and_then(|session| session.resources.remove(uri));
        if let Some(stream) = gone.as_ref().and_then(|running| running.stream.upgrade()) {
            stream.abort(CloseReason::Cancelled);
        }
        drop(gone);
    }

    /// A listen of this revision, on a connection that may be a session of an older one too. Until the outcome is dropped,
    /// the session is not told what the listen is told.
    pub(in crate::rmcp) fn listening(
        self: &Arc<Self>,
        peer: &Peer<RoleServer>,
        honoured: &Arc<Honoured>,
    ) -> Option<Listening> {
        let info = peer.peer_info()?;
        if !info.protocol_version.has_initialize() {
            return None;
        }
        let listens = self.with_session(peer, |session| session.listens.clone())?;
        lock(&listens).push(honoured.clone());
        Some(Listening { listens, honoured: honoured.clone() })
    }

    fn with_session<T>(
        self: &Arc<Self>,
        peer: &Peer<RoleServer>,
        act: impl FnOnce(&mut Session) -> T,
    ) -> Option<T> {
        let info = peer.peer_info()?;
        let key = Arc::as_ptr(&info).addr();
        let mut sessions = lock(&self.0);
        let session = sessions.entry(key).or_insert_with(|| Session {
            _info: info,
            lists: None,
            resources: HashMap::new(),
            listens: Listens::default(),
            _watch: watch(key, peer.clone(), Arc::downgrade(self)),
        });
        Some(act(session))
    }

    fn remove(&self, key: usize) {
        let gone = lock(&self.0).remove(&key);
        drop(gone);
    }
}

fn key(peer: &Peer<RoleServer>) -> Option<usize> {
    peer.peer_info().map(|info| Arc::as_ptr(&info).addr())
}

/// A peer says whether it is closed, and not when. It costs a look at an atomic.
const PERIOD: Duration = Duration::from_secs(1);

fn watch(key: usize, peer: Peer<RoleServer>, sessions: Weak<Sessions>) -> Running {
    let task = tokio::spawn(async move {
        while !peer.is_transport_closed() {
            tokio::time::sleep(PERIOD).await;
        }
        if let Some(sessions) = sessions.upgrade() {
            sessions.remove(key);
        }
    });
    Running { task: task.abort_handle(), stream: Weak::new() }
}

impl Telling {
    fn run(self, peer: &Peer<RoleServer>, listens: &Listens) -> Running {
        let Self { stream, write_timeout } = self;
        let (stream, peer, listens) = (Arc::new(stream), peer.clone(), listens.clone());
        let weak = Arc::downgrade(&stream);
        let task = tokio::spawn(async move {
            deliver(&stream, write_timeout, |message, notification| {
                let elsewhere = lock(&listens).iter().any(|honoured| carries(honoured, message));
                (!elsewhere).then(|| {
                    let peer = peer.clone();
                    async move { peer.send_notification(notification).await.is_ok() }
                })
            })
            .await;
        });
        Running { task: task.abort_handle(), stream: weak }
    }
}

fn carries(honoured: &Honoured, message: &Message) -> bool {
    match message {
        Message::ListChanged(kind) => honoured.kinds().contains(*kind),
        Message::Updated(uri) => honoured.position(uri).is_some(),
        Message::Ended(_) => false,
    }
}

pub(in crate::rmcp) struct Listening {
    listens: Listens,
    honoured: Arc<Honoured>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        let mut listens = lock(&self.listens);
        if let Some(own) = listens.iter().position(|honoured| Arc::ptr_eq(honoured, &self.honoured)) {
            listens.swap_remove(own);
        }
    }
}
