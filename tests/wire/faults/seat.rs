//! One client, which opens one stream and reads it until it ends or the client goes.

use std::{
    net::SocketAddr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use mcp_sub_tests::{Client, Item, Request, Response};
use serde_json::Value;
use tokio::sync::{oneshot, watch};

use crate::world::{BUSY, THINGS, World};

/// How a client goes.
pub(crate) enum Going {
    Leave,
    Reset,
}

pub(crate) struct Seat {
    pub(crate) number: usize,
    pub(crate) user: usize,
    pub(crate) pause: watch::Sender<bool>,
    seen: Arc<Seen>,
    going: Option<oneshot::Sender<Going>>,
    /// How it may end, after what was done to it.
    pub(crate) may_end: Vec<&'static str>,
    /// Whether what was done to it has to end it.
    pub(crate) must_end: bool,
    /// What it has to have read before its result, of the things that change seldom.
    due: Option<Vec<u64>>,
}

/// What a client has read.
#[derive(Default)]
struct Seen {
    versions: [AtomicU64; THINGS],
    acknowledged: AtomicBool,
    ending: OnceLock<String>,
}

impl Seat {
    pub(crate) fn open(number: usize, user: usize, world: &Arc<World>, address: SocketAddr) -> Self {
        let (pause, paused) = watch::channel(false);
        let (going, gone) = oneshot::channel();
        let seen = Arc::new(Seen::default());
        let request =
            Request::listen(&number.to_string(), &world.filter()).header("x-user", &user.to_string());
        let reader = Reader { world: world.clone(), seen: seen.clone() };
        tokio::spawn(async move {
            let stream = Client::connect_narrow(address).await.send(&request).await;
            assert_eq!(stream.status(), 200);
            reader.read(stream, paused, gone).await;
        });
        let going = Some(going);
        Self { number, user, pause, seen, going, may_end: Vec::new(), must_end: false, due: None }
    }

    pub(crate) fn is_acknowledged(&self) -> bool {
        self.seen.acknowledged.load(Ordering::SeqCst)
    }

    pub(crate) fn ending(&self) -> Option<&str> {
        self.seen.ending.get().map(String::as_str)
    }

    pub(crate) fn has_gone(&self) -> bool {
        self.going.is_none()
    }

    pub(crate) fn go(&mut self, going: Going) {
        if let Some(sender) = self.going.take() {
            // It may have ended already.
            sender.send(going).ok();
        }
    }

    /// It ends in good order: what has changed until now is told before.
    pub(crate) fn ends(&mut self, world: &World) {
        self.may_end.push("result");
        self.must_end = true;
        self.due.get_or_insert_with(|| (BUSY..THINGS).map(|thing| world.version(thing)).collect());
    }

    /// How many things it has read an older version of than it should have.
    pub(crate) fn behind(&self, world: &World) -> usize {
        let seen = |thing: usize| self.seen.versions[thing].load(Ordering::SeqCst);
        match (self.ending(), &self.due) {
            (Some("result"), Some(due)) => {
                (BUSY..THINGS).zip(due).filter(|&(thing, &due)| seen(thing) < due).count()
            }
            (Some(_), _) => 0,
            // It is not over yet with what it is to be told.
            (None, _) if self.must_end => 1,
            (None, _) if !self.is_acknowledged() => THINGS,
            (None, _) => (0..THINGS).filter(|&thing| seen(thing) < world.version(thing)).count(),
        }
    }
}

struct Reader {
    world: Arc<World>,
    seen: Arc<Seen>,
}

impl Reader {
    async fn read(
        &self,
        mut stream: Response,
        mut paused: watch::Receiver<bool>,
        mut gone: oneshot::Receiver<Going>,
    ) {
        loop {
            let next = async {
                paused.wait_for(|paused| !paused).await.ok();
                stream.item().await
            };
            tokio::select! {
                going = &mut gone => return match going {
                    Ok(Going::Reset) => stream.reset(),
                    Ok(Going::Leave) | Err(_) => stream.leave(),
                },
                item = next => match item {
                    Item::Message(text) => self.take(&text),
                    Item::Comment(_) => {}
                    Item::End => return,
                    Item::Cut => return self.ended("cut"),
                },
            }
        }
    }

    fn take(&self, text: &str) {
        let frame: Value = serde_json::from_str(text).expect("a message is JSON");
        if let Some(thing) = World::thing(&frame) {
            assert!(self.seen.acknowledged.load(Ordering::SeqCst), "the acknowledgement is first");
            self.reads(thing);
        } else if frame["method"] == "notifications/subscriptions/acknowledged" {
            // It lists what there is, as of now.
            (0..THINGS).for_each(|thing| self.reads(thing));
            self.seen.acknowledged.store(true, Ordering::SeqCst);
        } else if frame["result"].is_object() {
            self.ended("result");
        } else {
            self.ended(frame["error"]["data"]["reason"].as_str().expect("nothing else is sent"));
        }
    }

    fn reads(&self, thing: usize) {
        self.seen.versions[thing].store(self.world.version(thing), Ordering::SeqCst);
    }

    fn ended(&self, how: &str) {
        assert_eq!(self.seen.ending.set(how.into()), Ok(()), "it ends once");
    }
}
