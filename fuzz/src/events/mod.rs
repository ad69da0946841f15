//! Whatever happens in whatever order: each stream is acknowledged, is told of all that it honours and of nothing else,
//! and ends once.

mod client;
mod model;
mod plan;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use http::Request;
use mcp_sub::{Limits, Shutdown, Subscriptions};
use tokio::task::JoinHandle;
use tower_service::Service;

pub use self::plan::Plan;
use self::{
    client::Client,
    model::Published,
    plan::{Listen, Publish, Step},
};
use crate::{
    body::Scripted,
    probe::{Change, Decision, Log, Probe, Seat, UPDATES},
    runtime::{block_on, settle},
};

/// As long as nobody waits for a run that does not end.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// One input of the target `events`.
pub fn run(plan: Plan) {
    block_on(async {
        if plan.declares_all {
            Run::<{ 7 | UPDATES }>::of(plan).await;
        } else {
            Run::<{ 1 | UPDATES }>::of(plan).await;
        }
    });
}

struct Run<const BITS: u8> {
    subscriptions: Subscriptions<Probe<BITS>>,
    log: Arc<Mutex<Log>>,
    clients: Vec<Client>,
    published: Vec<Published>,
    shutdown: Option<JoinHandle<Shutdown>>,
    /// Whether time has passed: then streams may have stalled.
    has_waited: bool,
}

impl<const BITS: u8> Run<BITS> {
    async fn of(plan: Plan) {
        let Plan { slot, holds_empty, keeps_alive, first, others, steps, shuts_down, .. } = plan;
        let log = Arc::<Mutex<Log>>::default();
        let limits =
            Limits::default().with_slot(usize::from(slot % 6)).with_uris(plan::URIS).with_body(1 << 24);
        let subscriptions = Subscriptions::builder(Probe { log: log.clone() })
            .limits(limits)
            .hold_empty(holds_empty)
            .keep_alive(keeps_alive.then_some(Duration::from_secs(15)))
            .build();
        let mut run = Self {
            subscriptions,
            log,
            clients: Vec::new(),
            published: Vec::new(),
            shutdown: None,
            has_waited: false,
        };
        for listen in std::iter::once(&first).chain(others.iter().take(2)) {
            run.open(listen).await;
        }
        for step in steps.into_iter().take(200) {
            run.step(step).await;
        }
        run.end(shuts_down).await;
    }

    async fn open(&mut self, listen: &Listen) {
        let (id, notifications) = (listen.id(), listen.notifications());
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}},"notifications":{notifications}}}}}"#
        );
        let request = Request::post("/mcp")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "subscriptions/listen")
            .extension(Seat { number: self.clients.len(), decision: listen.decision() })
            .body(Scripted::whole(body))
            .expect("it has all its parts");
        let response = self.subscriptions.http().call(request).await.expect("it never fails");
        assert_eq!(response.status(), 200, "{id} {notifications}");
        let mut honoured = listen.requested();
        honoured.lists &= BITS;
        if listen.decision() == Decision::Narrow {
            honoured.lists &= !1;
            honoured.uris.retain(|uri| uri.len() % 2 == 0);
        }
        self.clients.push(Client::new(id, honoured, response.into_body()));
    }

    async fn step(&mut self, step: Step) {
        let count = self.clients.len();
        match step {
            Step::Publish(publish) => {
                for _ in 0..=publish.times % 8 {
                    self.publish(&publish).await;
                }
            }
            Step::Read { stream } => self.clients[usize::from(stream) % count].read(),
            Step::Leave { stream } => self.clients[usize::from(stream) % count].leave(),
            Step::Advance { seconds } => {
                self.has_waited = true;
                tokio::time::advance(Duration::from_secs(seconds.into())).await;
            }
            Step::Shutdown => self.shut_down().await,
        }
        settle().await;
    }

    async fn publish(&mut self, publish: &Publish) {
        let change = Change {
            number: self.published.len(),
            kinds: publish.kinds,
            sends: publish.sends(),
            pauses: publish.pauses,
            then: (usize::from(publish.victim) % self.clients.len(), publish.outcome()),
        };
        let told_before = self.clients.iter().map(|client| client.told.len()).collect();
        let is_late = self.shutdown.is_some();
        let to = publish.to();
        let offered = match &to {
            Some(uri) => self.subscriptions.publish_for(uri, change.clone()),
            None => self.subscriptions.publish(change.clone()),
        };
        let published = Published { change, to, told_before, is_late };
        settle().await;
        if !self.has_waited && !is_late {
            let concerned = |client: &&Client| {
                !client.is_over() && client.ending.is_none() && published.concerns(client, BITS)
            };
            let concerned: Vec<_> = self.clients.iter().filter(concerned).collect();
            assert_eq!(offered, concerned.len(), "an event is offered to those whom it concerns");
            assert!(!concerned.iter().any(|client| client.is_asleep()), "who waits is woken");
        }
        self.published.push(published);
    }

    async fn shut_down(&mut self) {
        if self.shutdown.is_none() {
            let subscriptions = self.subscriptions.clone();
            self.shutdown = Some(tokio::spawn(async move { subscriptions.shutdown(DAY).await }));
            settle().await;
        }
    }

    /// Ends what is still open, and judges all of it.
    async fn end(mut self, shuts_down: bool) {
        if shuts_down {
            self.shut_down().await;
        }
        let Self { subscriptions, log, mut clients, published, shutdown, has_waited } = self;
        drop(subscriptions);
        for client in &mut clients {
            let read = tokio::time::timeout(DAY, client.read_to_the_end());
            read.await.expect("each stream ends, or somebody was not woken");
        }
        if let Some(shutdown) = shutdown {
            let shutdown = shutdown.await.expect("it does not panic");
            assert!(shutdown.cut == 0 || has_waited, "{shutdown:?}");
        }
        settle().await;
        let log = log.lock().expect("no panic in there");
        assert!(log.is_settled() && log.closed.len() == clients.len(), "{log:?}");
        for (seat, client) in clients.iter().enumerate().filter(|(_, client)| !client.has_left()) {
            model::judge(client, seat, &published, &log, BITS);
        }
    }
}
