//! The server, its clients, and what is done to them in a round.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use mcp_sub::{Limits, Subscriptions};
use mcp_sub_tests::{Client, PATIENCE, Request, Server};

use tokio::task::JoinHandle;

use crate::{
    fault::{Fault, Random},
    seat::{Going, Seat},
    world::{BUSY, Book, Order, Shaky, THINGS, World},
};

const CLIENTS: usize = 40;
const PRINCIPALS: usize = 5;
const SLOT: usize = 8;
/// Things that change seldom, changed in one round: each of them changes once in four rounds, so that nothing which is
/// told of an earlier change can be taken for the news of a later one.
const CHANGES: usize = (THINGS - BUSY) / 4;
/// Changes of busy things in a round.
const NOISE: usize = 60;
/// The same where a client does not read: by then they fill its socket, and its slot.
const NOISE_UNREAD: usize = 300;

pub(crate) struct House {
    pub(crate) book: Arc<Book>,
    pub(crate) subscriptions: Subscriptions<Shaky>,
    world: Arc<World>,
    server: Server,
    seats: Vec<Seat>,
    opened: usize,
}

/// What a round came to.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) times: usize,
    pub(crate) lost: usize,
    pub(crate) disturbed: usize,
}

impl House {
    pub(crate) fn start() -> Self {
        let (world, book) = (Arc::new(World::new()), Arc::new(Book::default()));
        let limits = Limits::default().with_slot(SLOT).with_uri_bytes(1024 * 1024);
        let subscriptions = Subscriptions::builder(Shaky { world: world.clone(), book: book.clone() })
            .principal(|caller| Some(caller.headers().get("x-user")?.to_str().ok()?.to_owned()))
            .limits(limits)
            .build();
        let server = Server::start_narrow(subscriptions.http());
        Self { book, subscriptions, world, server, seats: Vec::new(), opened: 0 }
    }

    pub(crate) async fn round(&mut self, round: usize, faults: &[Fault], random: &mut Random) -> Outcome {
        // Clients come back while everything else goes on.
        while self.seats.len() < CLIENTS {
            let seat = Seat::open(self.opened, self.opened % PRINCIPALS, &self.world, self.server.address());
            self.seats.push(seat);
            self.opened += 1;
        }
        let is_unread = faults.iter().any(|fault| matches!(fault, Fault::Pause));
        let count = if is_unread { NOISE_UNREAD } else { NOISE };
        let noise = make_noise(&self.world, &self.subscriptions, count);
        let mut times = 0;
        let mut faults = faults.iter().map(|fault| (random.below(CHANGES), *fault)).collect::<Vec<_>>();
        for step in 0..CHANGES {
            for (_, fault) in faults.extract_if(.., |(when, _)| *when == step) {
                times += self.inject(fault, round, random).await;
            }
            self.world.change(BUSY + round % 4 * CHANGES + step, &self.subscriptions);
            self.beat(random).await;
        }
        noise.await.unwrap();
        for seat in &self.seats {
            seat.pause.send_replace(false);
        }
        self.book.over.send_replace(round + 1);
        // Whoever was to fail, and was not called since, is called now.
        self.world.change(0, &self.subscriptions);
        let lost = self.settled().await;
        Outcome { times, lost, disturbed: self.clear().await }
    }

    /// Does it to one stream or several. Returns how often.
    async fn inject(&mut self, fault: Fault, round: usize, random: &mut Random) -> usize {
        let (world, book, address) = (&self.world, &self.book, self.server.address());
        match fault {
            Fault::None => return 0,
            Fault::EndAll => {
                let user = random.below(PRINCIPALS);
                for seat in self.seats.iter_mut().filter(|seat| seat.user == user) {
                    if seat.is_acknowledged() {
                        seat.ends(world);
                    } else {
                        // It may be admitted before or after.
                        seat.may_end.push("result");
                    }
                }
                return self.subscriptions.end_all(&user.to_string(), "as told");
            }
            Fault::Burst => {
                for index in 0..SLOT * 10 {
                    world.change(index % BUSY, &self.subscriptions);
                }
                return 1;
            }
            Fault::HalfRequest => half_request(address).await,
            Fault::PanicInSubscribe => panic_in_subscribe(address).await,
            _ => {
                let mut free: Vec<&mut Seat> = self
                    .seats
                    .iter_mut()
                    .filter(|seat| seat.is_acknowledged() && seat.may_end.is_empty() && !seat.has_gone())
                    .collect();
                let count = (1 + random.below(4)).min(free.len());
                for _ in 0..count {
                    let index = random.below(free.len());
                    hit(free.swap_remove(index), fault, round, world, book);
                }
                return count;
            }
        }
        1
    }

    /// Time passes: until somebody whom nothing was done to has heard of the last change, or for a moment, if nobody is.
    async fn beat(&self, random: &mut Random) {
        let free: Vec<&Seat> = self
            .seats
            .iter()
            .filter(|seat| {
                seat.is_acknowledged() && seat.may_end.is_empty() && !seat.has_gone() && !*seat.pause.borrow()
            })
            .collect();
        let start = Instant::now();
        while let Some(seat) = free.get(random.below(free.len().max(1)))
            && seat.behind(&self.world) > BUSY
            && start.elapsed() < PATIENCE
        {
            tokio::task::yield_now().await;
        }
    }

    /// Waits until everyone has read everything. Returns how much was not read, if that does not happen.
    async fn settled(&self) -> usize {
        let start = Instant::now();
        loop {
            let there = self.seats.iter().filter(|seat| !seat.has_gone());
            let lost = there.map(|seat| seat.behind(&self.world)).sum();
            if lost == 0 || start.elapsed() > PATIENCE {
                return lost;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Takes away those that have ended or gone. Returns how many of them should not have.
    async fn clear(&mut self) -> usize {
        let is_open = |number| self.book.open.lock().unwrap().contains_key(&number);
        for seat in self.seats.iter().filter(|seat| seat.has_gone() || seat.ending().is_some()) {
            mcp_sub_tests::eventually("it is closed", || !is_open(seat.number)).await;
        }
        let mut disturbed = 0;
        self.seats.retain(|seat| {
            disturbed += usize::from(seat.ending().is_some_and(|ending| !seat.may_end.contains(&ending)));
            !seat.has_gone() && seat.ending().is_none()
        });
        disturbed
    }
}

fn hit(seat: &mut Seat, fault: Fault, round: usize, world: &World, book: &Book) {
    let order = |order| _ = book.orders.lock().unwrap().insert(seat.number, order);
    match fault {
        Fault::Leave => seat.go(Going::Leave),
        Fault::Reset => seat.go(Going::Reset),
        Fault::Pause => _ = seat.pause.send_replace(true),
        Fault::Wait => order(Order::Wait(round)),
        Fault::Fail => {
            order(Order::Fail);
            (seat.may_end, seat.must_end) = (vec!["handler_failed"], true);
        }
        Fault::Panic => {
            order(Order::Panic);
            (seat.may_end, seat.must_end) = (vec!["panicked"], true);
        }
        Fault::EndByHandle => {
            seat.ends(world);
            let handle = book.open.lock().unwrap().get(&seat.number).cloned();
            handle.expect("it is open").end("as told");
        }
        Fault::None | Fault::EndAll | Fault::Burst | Fault::HalfRequest | Fault::PanicInSubscribe => {
            unreachable!("that hits nobody alone")
        }
    }
}

async fn half_request(address: SocketAddr) {
    let bytes = Request::listen("1", "{}").bytes();
    let mut client = Client::connect(address).await;
    client.write_bytes(&bytes[..bytes.len() / 2]).await;
    client.leave();
}

async fn panic_in_subscribe(address: SocketAddr) {
    let request = Request::listen("1", r#"{"toolsListChanged":true}"#).header("x-panic", "yes");
    assert_eq!(Client::connect(address).await.send(&request).await.status(), 500);
}

/// Busy things change so often, in a thread of its own.
fn make_noise(world: &Arc<World>, subscriptions: &Subscriptions<Shaky>, count: usize) -> JoinHandle<()> {
    let (world, subscriptions) = (world.clone(), subscriptions.clone());
    tokio::task::spawn_blocking(move || {
        for index in 0..count {
            world.change(index % BUSY, &subscriptions);
            // Its pace, so that readers read one change at a time.
            std::thread::sleep(Duration::from_micros(300));
        }
    })
}
