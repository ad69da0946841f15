//! What the client was told, and whether it may be so.

use std::collections::HashMap;

use super::{
    inner::NOTIFICATION,
    said::{Said, meaning},
};
use crate::{
    json,
    message::{self, Message},
};

/// From this place in the output on, a stream that was cancelled says nothing more; up to `to`, nobody of its id does.
#[derive(Debug)]
pub(super) struct Silence {
    pub(super) id: String,
    pub(super) from: usize,
    pub(super) to: usize,
}

#[derive(Debug, Default)]
struct Heard {
    is_open: bool,
    /// Where its acknowledgement was.
    since: usize,
    is_ending: bool,
    acknowledged: usize,
    answered: usize,
}

/// Judges whole lines. `is_all`: everything was answered that was asked.
pub(super) fn judge(output: &str, said: &Said, silences: &[Silence], twice: bool, is_all: bool) {
    let mut heard: HashMap<String, Heard> = HashMap::new();
    let mut anonymous = 0;
    let mut at = 0;
    for line in output.split_inclusive('\n') {
        let (start, text) = (at, line.trim_end_matches('\n'));
        at += line.len();
        assert!(!text.contains(['\r', '\0']), "{text}");
        if text == NOTIFICATION {
            continue;
        }
        let members = json::members(json::whole(text.as_bytes()).expect("JSON")).expect("an object");
        assert!(!json::is_ambiguous(&members), "{text}");
        let Some(id) = subject(&members) else {
            assert!(json::only(&members, "error").is_some(), "{text}");
            anonymous += 1;
            continue;
        };
        if twice && id.starts_with(r#""mcp-sub-"#) {
            continue;
        }
        let name = meaning(id);
        let due = said.by_id.get(&name).unwrap_or_else(|| panic!("nobody asked: {text}"));
        let one = heard.entry(name.clone()).or_default();
        for silence in silences.iter().filter(|silence| silence.id == name && silence.from <= start) {
            one.is_open &= one.since >= silence.from;
            assert!(start >= silence.to || is_answer(&members), "it was cancelled: {text}");
        }
        one.take(start, text, id, due.cancels);
    }
    for (id, due) in &said.by_id {
        let one = heard.remove(id).unwrap_or_default();
        assert!(one.answered <= due.most && one.acknowledged <= due.listens, "{id}: {one:?} of {due:?}");
        if is_all {
            assert!(one.answered + due.cancels >= due.least, "{id}: {one:?} of {due:?}");
            assert!(!one.is_open || due.cancels > 0, "{id} has no ending");
        }
    }
    assert!(anonymous <= said.anonymous.most, "{anonymous} of {:?}", said.anonymous);
    assert!(!is_all || anonymous >= said.anonymous.least, "{anonymous} of {:?}", said.anonymous);
}

/// The id that a message is about: `None`, of none that could be read.
fn subject<'a>(members: &[json::Member<'a>]) -> Option<&'a str> {
    json::only(members, "id").or_else(|| {
        let params = json::members(json::only(members, "params")?)?;
        json::only(&params, "requestId").or_else(|| subscription_id(&params))
    })
}

fn subscription_id<'a>(params: &[json::Member<'a>]) -> Option<&'a str> {
    json::only(&json::members(json::only(params, "_meta")?)?, message::SUBSCRIPTION_ID)
}

/// Whether it is no word of a stream: what was asked in one line may be answered though it was cancelled in the next.
fn is_answer(members: &[json::Member<'_>]) -> bool {
    json::only(members, "error").is_some()
        || json::only(members, "result").is_some_and(|result| {
            json::members(result).is_none_or(|result| subscription_id(&result).is_none())
        })
}

impl Heard {
    fn take(&mut self, start: usize, text: &str, id: &str, cancels: usize) {
        let members = json::members(text).expect("an object");
        if json::only(&members, "method").and_then(json::string).as_deref() == Some("notifications/cancelled")
        {
            assert!(self.is_open && !self.is_ending, "{text}");
            self.is_ending = true;
            return;
        }
        let is_failure = json::only(&members, "error")
            .and_then(json::members)
            .and_then(|error| json::only(&error, "data").and_then(json::members))
            .is_some_and(|data| json::only(&data, "reason").is_some());
        if is_answer(&members) && !(is_failure && self.is_open) {
            assert!(!self.is_ending, "{text}");
            self.answered += 1;
            return;
        }
        match message::read(text, id) {
            Message::Acknowledged(_) => {
                assert!(!self.is_open || cancels > 0, "it is open: {text}");
                (self.is_open, self.since, self.is_ending) = (true, start, false);
                self.acknowledged += 1;
            }
            Message::Told(_) => assert!(self.is_open && !self.is_ending, "it is not open: {text}"),
            Message::Completed | Message::Failed(_) => {
                assert!(std::mem::take(&mut self.is_open), "it is not open: {text}");
                self.is_ending = false;
                self.answered += 1;
            }
        }
    }
}
