//! An outbox, between the stream's methods, its transport, and whoever ends it or asks how far it is.

use loom::thread;

use super::*;
use crate::{
    kind::Kinds,
    models::{HOUR, explore, frames, honoured, names},
};

fn outbox(windows: Windows) -> Arc<Outbox> {
    Arc::new(Outbox::new(frames(), honoured(&["x:a"]), windows))
}

/// Takes what is there, twice at most, so that a taker meets whatever goes on at any point of it.
fn take(outbox: &Outbox, taken: &mut Vec<String>) {
    for _ in 0..2 {
        if let Taken::Frames(frames) = outbox.take() {
            taken.extend(names(&frames));
        }
    }
}

fn take_all(outbox: &Outbox, taken: &mut Vec<String>) {
    while let Taken::Frames(frames) = outbox.take() {
        taken.extend(names(&frames));
    }
}

#[test]
fn what_is_added_while_frames_are_taken_is_taken_once_and_before_the_ending() {
    explore(|| {
        let outbox = outbox(Windows::default());
        let adding = thread::spawn({
            let outbox = outbox.clone();
            move || {
                outbox.add_list(0);
                outbox.add_uri("x:a");
                outbox.end(Last::Completed);
                outbox.add_list(0);
            }
        });
        let mut taken = Vec::new();
        take(&outbox, &mut taken);
        adding.join().unwrap();
        take_all(&outbox, &mut taken);
        assert_eq!(taken, ["ack", "tools", "x:a", "result"]);
        assert_eq!((outbox.take(), outbox.is_finished()), (Taken::End, true));
        assert_eq!(outbox.counters().counts().notifications, 2);
    });
}

#[test]
fn there_is_one_ending_and_nothing_after_it() {
    explore(|| {
        let outbox = outbox(Windows::default());
        let completing = thread::spawn({
            let outbox = outbox.clone();
            move || outbox.end(Last::Completed)
        });
        let failing = thread::spawn({
            let outbox = outbox.clone();
            move || {
                outbox.add_list(0);
                outbox.end(Last::Failed(Failure::Stalled));
            }
        });
        let mut taken = Vec::new();
        take(&outbox, &mut taken);
        completing.join().unwrap();
        failing.join().unwrap();
        take_all(&outbox, &mut taken);
        let ending = taken.pop().unwrap();
        assert!(["result", "stalled"].contains(&&*ending), "{taken:?}, {ending}");
        assert!(taken == ["ack"] || taken == ["ack", "tools"], "{taken:?}");
        assert_eq!(outbox.take(), Taken::End);
    });
}

#[test]
fn what_a_window_holds_goes_out_before_the_ending_whoever_looks_meanwhile() {
    explore(|| {
        let mut windows = Windows::default();
        windows.set(Kinds::TOOLS_LIST_CHANGED, HOUR);
        let outbox = outbox(windows);
        let mut taken = Vec::new();
        outbox.add_list(0);
        take_all(&outbox, &mut taken);
        let adding = thread::spawn({
            let outbox = outbox.clone();
            move || {
                outbox.add_list(0);
                outbox.add_list(0);
                outbox.end(Last::Failed(Failure::Expired));
            }
        });
        let looking = thread::spawn({
            let outbox = outbox.clone();
            move || outbox.is_empty()
        });
        take(&outbox, &mut taken);
        adding.join().unwrap();
        looking.join().unwrap();
        take_all(&outbox, &mut taken);
        assert_eq!(taken, ["ack", "tools", "tools", "expired"]);
        let counts = outbox.counters().counts();
        assert_eq!((counts.notifications, counts.merged), (2, 1));
    });
}
