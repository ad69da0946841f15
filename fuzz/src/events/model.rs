//! What each client has to have been told at the end.

use super::client::Client;
use crate::{
    message::Message,
    probe::{Change, LISTS, Log, Outcome, Target, UPDATES},
};

/// A change that was published.
pub(super) struct Published {
    pub(super) change: Change,
    /// For this URI.
    pub(super) to: Option<String>,
    /// How much each client was told before.
    pub(super) told_before: Vec<usize>,
    /// Whether the server had begun to end.
    pub(super) is_late: bool,
}

impl Published {
    /// Whether a stream that can do no more than note it will tell of `target`.
    fn covers(&self, target: &Target, declared: u8) -> bool {
        match target {
            Target::List(index) => self.change.kinds & declared & (1 << index) != 0,
            Target::Uri(uri) => {
                self.change.kinds & declared & UPDATES != 0 && self.to.as_ref().is_none_or(|to| to == uri)
            }
        }
    }

    /// Whether it is offered to the stream of `client` at all.
    pub(super) fn concerns(&self, client: &Client, declared: u8) -> bool {
        let uris = client.honoured.uris.iter().cloned().map(Target::Uri);
        let mut targets = (0..LISTS.len()).map(Target::List).chain(uris);
        targets.any(|target| client.honoured.has(&target) && self.covers(&target, declared))
    }
}

/// Judges all that a client who stayed to the end was told.
pub(super) fn judge(client: &Client, seat: usize, published: &[Published], log: &Log, declared: u8) {
    let handled: Vec<usize> =
        log.handled.iter().filter(|(other, _)| *other == seat).map(|(_, number)| *number).collect();
    assert!(handled.is_sorted(), "events are handled in the order in which they were published");
    let last = handled.last().map(|&number| &published[number].change);
    let outcome = last.and_then(|change| (change.then.0 == seat).then_some(&change.then.1));
    let ending = client.ending.as_ref().expect("there is one");
    let is_stalled = *ending == Message::Failed("stalled".into());
    let ended_itself = match outcome {
        Some(Outcome::Stop(_)) => Some(Message::Completed),
        Some(Outcome::Fail(_)) => Some(Message::Failed("handler_failed".into())),
        Some(Outcome::Panic) => Some(Message::Failed("panicked".into())),
        _ => None,
    };
    match &ended_itself {
        Some(expected) => assert_eq!(ending, expected),
        None => assert!(is_stalled || *ending == Message::Completed, "{ending:?}"),
    }
    for (number, event) in published.iter().enumerate() {
        let was_handled = handled.contains(&number);
        let has_to_be_told = if ended_itself.is_some() {
            handled.last().is_some_and(|&last| number <= last)
        } else {
            !is_stalled && !event.is_late
        };
        if !(was_handled || has_to_be_told && event.concerns(client, declared)) {
            continue;
        }
        for target in &event.change.sends {
            if client.honoured.has(target) && (was_handled || event.covers(target, declared)) {
                let after = &client.told[event.told_before[seat]..];
                assert!(after.contains(target), "the change {number} was lost to {seat}: {target:?}");
            }
        }
    }
    for (position, target) in client.told.iter().enumerate() {
        let is_caused = published.iter().any(|event| {
            event.told_before[seat] <= position
                && (event.change.sends.contains(target) || event.covers(target, declared))
        });
        assert!(is_caused, "nothing has happened to {target:?}");
    }
}
