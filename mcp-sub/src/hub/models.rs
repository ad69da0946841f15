//! A registration that is narrowed and dropped while others publish.

use loom::thread;

use super::*;
use crate::{
    models::{Event, Probe, explore, honoured},
    pending::Entry,
};

/// The URIs of what the slot has to tell, which honours only `left`.
fn told(slot: &Slot<Event>, left: &Honoured) -> Vec<String> {
    let mut told = Vec::new();
    while let Some(next) = slot.try_next() {
        match next {
            Next::Event(published) => {
                // As the stream does.
                if left.concerned(published.kinds, published.uri.as_deref()) {
                    told.push(published.uri.as_deref().unwrap().into());
                }
            }
            Next::CatchUp(mut missed) => missed.drain(|entry| match entry {
                Entry::Uri(position) => told.push(left.uris()[position].to_string()),
                Entry::List(_) => told.push("tools".into()),
            }),
            Next::End(_) => unreachable!("nobody ends it"),
        }
    }
    told
}

fn narrowing_loses_nothing(capacity: usize) {
    explore(move || {
        let hub = Hub::<Probe>::new();
        let registration = hub.register(honoured(&["x:a", "x:b"]), capacity);
        let publishing = thread::spawn({
            let hub = hub.clone();
            move || {
                hub.publish_for("x:a", Event::Saved("x:a"));
                hub.publish_for("x:b", Event::Saved("x:b"));
            }
        });
        let left = honoured(&["x:b"]);
        registration.narrow(left.clone());
        publishing.join().unwrap();
        assert_eq!(told(registration.slot(), &left), ["x:b"]);
    });
}

#[test]
fn narrowing_loses_nothing_that_is_still_honoured() {
    narrowing_loses_nothing(2);
}

#[test]
fn narrowing_loses_nothing_that_did_not_fit() {
    narrowing_loses_nothing(1);
    narrowing_loses_nothing(0);
}

#[test]
fn a_registration_that_is_gone_holds_no_event() {
    explore(|| {
        let hub = Hub::<Probe>::new();
        let registration = hub.register(honoured(&[]), 2);
        let slot = registration.slot().clone();
        let publishing = thread::spawn({
            let hub = hub.clone();
            move || hub.publish(Event::Tools)
        });
        drop(registration);
        publishing.join().unwrap();
        assert!(matches!(slot.try_next(), Some(Next::End(_))));
        assert_eq!(hub.publish(Event::Tools), 0);
    });
}
