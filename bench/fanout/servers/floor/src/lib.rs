//! What the floors share: reading a listen, and who gets which bytes, encoded when the stream opens.
//!
//! A floor is no MCP server: it checks nothing. It shows what the machine charges for the same bytes on the same sockets.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bench_trigger::Event;
use serde_json::{Value, json};

/// Events that wait for a stream whose socket is full, unless `--buffer` says otherwise; the floors drop what comes then.
pub const BUFFER: usize = 8192;

/// Each event of a stream, as the bytes of its SSE frame.
pub struct Frames {
    pub acknowledgement: Vec<u8>,
    pub tools: Option<Vec<u8>>,
    /// By URI.
    pub resources: HashMap<String, Vec<u8>>,
}

impl Frames {
    /// What the body of a listen asks for; `None` if it is none.
    #[must_use]
    pub fn of_listen(body: &[u8]) -> Option<Self> {
        let request: Value = serde_json::from_slice(body).ok()?;
        let filter = request.pointer("/params/notifications")?;
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": request.get("id")? });
        let frame = |method: &str, mut params: Value| {
            params["_meta"] = meta.clone();
            let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
            format!("data: {message}\n\n").into_bytes()
        };
        let uris = filter.get("resourceSubscriptions").and_then(Value::as_array).into_iter().flatten();
        Some(Self {
            acknowledgement: frame(
                "notifications/subscriptions/acknowledged",
                json!({ "notifications": filter }),
            ),
            tools: (filter.get("toolsListChanged") == Some(&Value::Bool(true)))
                .then(|| frame("notifications/tools/list_changed", json!({}))),
            resources: uris
                .filter_map(Value::as_str)
                .map(|uri| (uri.to_owned(), frame("notifications/resources/updated", json!({ "uri": uri }))))
                .collect(),
        })
    }
}

/// What an event is written to.
pub trait Stream {
    fn frames(&self) -> &Frames;

    /// Sends one of the frames: that of `uri`, or that for tools.
    fn send(&self, uri: Option<&str>);
}

struct Lists<S> {
    next: u64,
    tools: HashMap<u64, Arc<S>>,
    resources: HashMap<String, HashMap<u64, Arc<S>>>,
}

/// All streams, by what they asked for: an event visits those that it concerns.
pub struct Registry<S>(Mutex<Lists<S>>);

impl<S> Default for Registry<S> {
    fn default() -> Self {
        Self(Mutex::new(Lists { next: 0, tools: HashMap::new(), resources: HashMap::new() }))
    }
}

impl<S: Stream> Registry<S> {
    pub fn insert(&self, stream: &Arc<S>) -> u64 {
        let mut lists = lock(&self.0);
        lists.next += 1;
        let key = lists.next;
        if stream.frames().tools.is_some() {
            lists.tools.insert(key, stream.clone());
        }
        for uri in stream.frames().resources.keys() {
            lists.resources.entry(uri.clone()).or_default().insert(key, stream.clone());
        }
        key
    }

    pub fn remove(&self, key: u64, frames: &Frames) {
        let mut lists = lock(&self.0);
        lists.tools.remove(&key);
        for uri in frames.resources.keys() {
            if let Some(streams) = lists.resources.get_mut(uri) {
                streams.remove(&key);
            }
        }
    }

    pub fn publish(&self, event: &Event) {
        let lists = lock(&self.0);
        match event {
            Event::ToolsListChanged => lists.tools.values().for_each(|stream| stream.send(None)),
            Event::ResourceUpdated(uri) => {
                let streams = lists.resources.get(uri).into_iter().flat_map(HashMap::values);
                streams.for_each(|stream| stream.send(Some(uri)));
            }
        }
    }
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
