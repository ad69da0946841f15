//! The clients: streams that are spread over the replicas as by a load balancer, and what each of them knows.
//!
//! There is one truth, a version of each thing. A change raises it and is then published. Who is told of a thing reads it, and
//! so knows the version of that moment: as a client lists or reads again.

use std::{
    array,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::cluster::{REPLICAS, lock};

pub(crate) const STREAMS: usize = 300;
/// The list of tools, and the resources `x:1` and so on.
pub(crate) const THINGS: usize = 40;
/// Each stream asks for the tools and for so many resources.
const PER_STREAM: usize = 6;
/// A stream that is silent for that long is taken for dead. Keep-alives come every 15 s.
const SILENCE: Duration = Duration::from_secs(40);

pub(crate) type Http = Client<HttpConnector, Full<Bytes>>;

pub(crate) struct World {
    http: Http,
    ports: [u16; REPLICAS],
    truth: [AtomicU64; THINGS],
    streams: Vec<Mutex<Stream>>,
    notifications: AtomicU64,
    random: AtomicU64,
}

struct Stream {
    /// The replica that it is open at, if it is.
    at: Option<usize>,
    things: Vec<usize>,
    known: [u64; THINGS],
    /// Notifications of each thing since it was opened.
    told: [u64; THINGS],
}

/// What has to be told of: the URI, or nothing for the list of tools.
fn uri(thing: usize) -> Option<String> {
    (thing > 0).then(|| format!("x:{thing}"))
}

impl World {
    pub(crate) fn new(ports: [u16; REPLICAS], seed: u64) -> Arc<Self> {
        let stream = |index: usize| {
            let resources = (0..PER_STREAM).map(|n| 1 + (index * 7 + n * 5) % (THINGS - 1));
            let things = [0].into_iter().chain(resources).collect();
            Mutex::new(Stream { at: None, things, known: [0; THINGS], told: [0; THINGS] })
        };
        let world = Arc::new(Self {
            http: Client::builder(TokioExecutor::new()).build_http(),
            ports,
            truth: array::from_fn(|_| AtomicU64::new(0)),
            streams: (0..STREAMS).map(stream).collect(),
            notifications: AtomicU64::new(0),
            random: AtomicU64::new(seed | 1),
        });
        for index in 0..STREAMS {
            tokio::spawn(world.clone().keep_open(index));
        }
        world
    }

    /// Any number below `bound`.
    pub(crate) fn random(&self, bound: usize) -> usize {
        let mut random = self.random.load(SeqCst);
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        self.random.store(random, SeqCst);
        usize::try_from(random % (bound as u64)).unwrap_or_default()
    }

    pub(crate) fn notifications(&self) -> u64 {
        self.notifications.load(SeqCst)
    }

    /// How many streams are open, and how many of these know all that there is to know.
    pub(crate) fn open_and_current(&self) -> (usize, usize) {
        let streams = self.streams.iter().map(lock);
        streams.filter(|stream| stream.at.is_some()).fold((0, 0), |(open, current), stream| {
            let knows = |&thing: &usize| stream.known[thing] == self.truth[thing].load(SeqCst);
            (open + 1, current + usize::from(stream.things.iter().all(knows)))
        })
    }

    /// How often each stream that asks for `thing` was told of it.
    pub(crate) fn told(&self, thing: usize) -> Vec<u64> {
        let streams = self.streams.iter().map(lock);
        streams.filter(|stream| stream.things.contains(&thing)).map(|stream| stream.told[thing]).collect()
    }

    /// Changes a thing, at some replica; at another one if that cannot be reached.
    pub(crate) async fn change(&self, thing: usize) {
        self.truth[thing].fetch_add(1, SeqCst);
        let query = uri(thing).map_or_else(String::new, |uri| format!("?uri={uri}"));
        loop {
            let port = self.ports[self.random(REPLICAS)];
            let request = Request::post(format!("http://127.0.0.1:{port}/change{query}"));
            let Ok(request) = request.body(Full::default()) else { return };
            let changed = timeout(Duration::from_secs(2), self.http.request(request)).await;
            if matches!(changed, Ok(Ok(response)) if response.status().is_success()) {
                return;
            }
            sleep(Duration::from_millis(10)).await;
        }
    }

    async fn keep_open(self: Arc<Self>, index: usize) {
        loop {
            let replica = self.random(REPLICAS);
            if let Some(mut response) = self.listen(index, self.ports[replica]).await {
                self.hear(index, replica, &mut response).await;
                lock(&self.streams[index]).at = None;
            }
            sleep(Duration::from_millis(200)).await;
        }
    }

    async fn listen(&self, index: usize, port: u16) -> Option<Response<Incoming>> {
        let uris: Vec<_> = lock(&self.streams[index]).things.iter().filter_map(|&thing| uri(thing)).collect();
        let prefix = "io.modelcontextprotocol/";
        let meta = json!({
            format!("{prefix}protocolVersion"): "2026-07-28",
            format!("{prefix}clientCapabilities"): {},
            format!("{prefix}clientInfo"): { "name": "cluster", "version": "1.0.0" },
        });
        let body = json!({
            "jsonrpc": "2.0",
            "id": index,
            "method": "subscriptions/listen",
            "params": {
                "_meta": meta,
                "notifications": { "toolsListChanged": true, "resourceSubscriptions": uris },
            },
        });
        let request = Request::builder()
            .method(Method::POST)
            .uri(format!("http://127.0.0.1:{port}/mcp"))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "subscriptions/listen")
            .body(Full::from(body.to_string()))
            .ok()?;
        let response = timeout(Duration::from_secs(5), self.http.request(request)).await.ok()?.ok()?;
        response.status().is_success().then_some(response)
    }

    /// Until the stream ends.
    async fn hear(&self, index: usize, replica: usize, response: &mut Response<Incoming>) {
        let mut text = Vec::new();
        while let Ok(Some(Ok(frame))) = timeout(SILENCE, response.frame()).await {
            text.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
            while let Some(end) = text.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = text.drain(..=end).collect();
                let Some(json) = line.strip_prefix(b"data: ") else { continue };
                let message: Value = serde_json::from_slice(json).unwrap_or_default();
                self.told_of(index, replica, &message);
            }
        }
    }

    fn told_of(&self, index: usize, replica: usize, message: &Value) {
        let mut stream = lock(&self.streams[index]);
        let uri = message["params"]["uri"].as_str();
        let thing = match message["method"].as_str() {
            // Who has just begun to listen reads everything.
            Some("notifications/subscriptions/acknowledged") => {
                stream.at = Some(replica);
                stream.known = array::from_fn(|thing| self.truth[thing].load(SeqCst));
                stream.told = [0; THINGS];
                return;
            }
            Some("notifications/tools/list_changed") => 0,
            Some("notifications/resources/updated") => {
                let thing = uri.and_then(|uri| uri.strip_prefix("x:")).and_then(|thing| thing.parse().ok());
                thing.filter(|thing| *thing < THINGS).unwrap_or_default()
            }
            _ => return,
        };
        self.notifications.fetch_add(1, SeqCst);
        stream.told[thing] += 1;
        stream.known[thing] = self.truth[thing].load(SeqCst);
    }
}
