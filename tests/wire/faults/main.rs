//! Many clients, over real sockets, while faults are injected in random order: who is hit ends as it should, and nobody
//! else notices.
//!
//! What changes has a version, and a client that is told of a change reads it, as a real one would list again. So a
//! change is lost where, at the end of a round, a stream that lives has read an older version than the last one.
//!
//! A process of its own, since its panics are part of the plan. `MCP_SUB_FAULTS` is the number of rounds, and
//! `MCP_SUB_FAULTS_SEED` what decides the faults and their victims; see CONTRIBUTING.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

mod fault;
mod house;
mod seat;
mod world;

use std::{collections::BTreeMap, sync::atomic::Ordering};

use mcp_sub_tests::PATIENCE;

use self::{
    fault::{Fault, Random},
    house::House,
};

/// So that a run in passing says something, and costs little.
const ROUNDS: usize = 15;
const SEED: u64 = 20_260_728;

/// What rounds with one fault came to.
#[derive(Default)]
struct Row {
    rounds: usize,
    times: usize,
    lost: usize,
    disturbed: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promises_4_5_and_6_hold_whatever_fails_and_whoever_leaves() {
    say_nothing_of_panics_as_told();
    let rounds = number_of("MCP_SUB_FAULTS").map_or(ROUNDS, |rounds| usize::try_from(rounds).unwrap());
    let seed = number_of("MCP_SUB_FAULTS_SEED").unwrap_or(SEED);
    let mut random = Random::new(seed);
    let mut house = House::start();
    let mut table: BTreeMap<&str, Row> = BTreeMap::new();
    for round in 0..rounds {
        // Each in turn, so that none is left out; and now and then several of them at once.
        let first = Fault::ALL[round % Fault::ALL.len()];
        let (name, faults) = if round > Fault::ALL.len() && random.below(4) == 0 {
            let others = [random.pick(&Fault::ALL), random.pick(&Fault::ALL)];
            ("three of these at once", vec![first, others[0], others[1]])
        } else {
            (first.name(), vec![first])
        };
        let outcome = house.round(round, &faults, &mut random).await;
        let row = table.entry(name).or_default();
        row.rounds += 1;
        row.times += outcome.times;
        row.lost += outcome.lost;
        row.disturbed += outcome.disturbed;
    }

    println!("{rounds} rounds of the seed {seed}:");
    println!(
        "{:<34} {:>6} {:>6} {:>13} {:>17}",
        "fault", "rounds", "times", "lost changes", "others disturbed"
    );
    for (name, Row { rounds, times, lost, disturbed }) in &table {
        println!("{name:<34} {rounds:>6} {times:>6} {lost:>13} {disturbed:>17}");
    }

    let shutdown = house.subscriptions.shutdown(PATIENCE).await;
    let (stats, book) = (house.subscriptions.stats(), &house.book);
    let (accepted, closed) = (book.accepted.load(Ordering::SeqCst), book.closed.load(Ordering::SeqCst));
    println!("accepted {accepted}, closed {closed}; {shutdown:?}; {stats:?}");
    assert!(table.values().all(|row| row.lost == 0), "changes were lost");
    assert!(table.values().all(|row| row.disturbed == 0), "streams were disturbed that no fault hit");
    assert_eq!((closed, shutdown.cut), (accepted, 0), "each that was accepted is closed once");
    assert_eq!((stats.opened, stats.open), (accepted as u64, 0));
    assert_eq!(stats.closed.values().sum::<u64>(), stats.opened, "{stats:?}");
    assert!(rounds < 8 || stats.catch_ups > 0, "no slot ever overflowed: {stats:?}");
}

fn number_of(variable: &str) -> Option<u64> {
    let number = std::env::var(variable).ok()?;
    Some(number.parse().unwrap_or_else(|_| panic!("{variable} is a number")))
}

/// The payload of a panic that belongs to the plan.
struct AsTold;

/// The panics of the plan are not printed: they would be all that there is to read.
fn say_nothing_of_panics_as_told() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !info.payload().is::<AsTold>() {
            others(info);
        }
    }));
}
