//! What the client has said, read without the library: what it has to be told for it.

use std::collections::HashMap;

use super::plan::LINE;
use crate::{
    json,
    request::received::{get, is_unambiguous, readable},
};

/// The server's limit, in bytes.
pub(super) const ID_BYTES: usize = 64;

/// How many answers there may be at least and at most.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Due {
    pub(super) least: usize,
    pub(super) most: usize,
    pub(super) listens: usize,
    pub(super) cancels: usize,
}

#[derive(Debug, Default)]
pub(super) struct Said {
    /// By ids that mean the same.
    pub(super) by_id: HashMap<String, Due>,
    /// Errors whose request has no id that can be read.
    pub(super) anonymous: Due,
}

/// One text for each meaning of an id.
pub(super) fn meaning(token: &str) -> String {
    match json::string(token) {
        Some(text) => format!("text {text}"),
        None if token == "-0" => "0".into(),
        None => token.into(),
    }
}

/// The id and the method of a request that everybody reads in the same way.
pub(super) fn request(line: &str) -> Option<(&str, String)> {
    let message = readable(line).filter(|_| is_unambiguous(line))?;
    let id = get(&message, "id").filter(|token| is_id(token))?;
    Some((id, json::string(get(&message, "method")?)?))
}

fn is_id(token: &str) -> bool {
    (json::string(token).is_some() || json::is_integer(token)) && token.len() <= ID_BYTES
}

impl Said {
    /// `answers_twice`: the inner server does, to `server/discover`.
    pub(super) fn of(input: &[u8], answers_twice: bool) -> Self {
        let mut said = Self::default();
        for line in input.split(|&byte| byte == b'\n') {
            said.add(line, answers_twice);
        }
        said
    }

    fn add(&mut self, line: &[u8], answers_twice: bool) {
        let refused = Due { least: 1, most: 1, ..Due::default() };
        if line.len() > LINE {
            return self.anonymous.add(refused);
        }
        if line.trim_ascii().is_empty() {
            return;
        }
        let Some(json) = json::whole(line) else { return self.anonymous.add(refused) };
        self.add_cancels(json);
        let perhaps = Due { least: 0, ..refused };
        let message = json::members(json).unwrap_or_default();
        let mut ids = message.iter().filter(|member| member.name.as_deref() == Some("id"));
        let (id, other) = (ids.next(), ids.next());
        match id.filter(|id| other.is_none() && is_id(id.value) && readable(json).is_some()) {
            None => self.anonymous.add(perhaps),
            Some(id) => {
                let mut due = perhaps;
                if let Some((_, method)) = request(json) {
                    // It may be that `subscribe` never decides, and its connection ends first.
                    due.least = usize::from(!json.contains(r#""decision":5"#));
                    due.listens = usize::from(method == "subscriptions/listen");
                    due.most += usize::from(answers_twice && method == "server/discover");
                }
                self.by_id.entry(meaning(id.value)).or_default().add(due);
            }
        }
    }

    /// Whatever some reader may take for one.
    fn add_cancels(&mut self, json: &str) {
        for params in json::members(json).unwrap_or_default() {
            for member in json::members(params.value).unwrap_or_default() {
                if member.name.as_deref() == Some("requestId") {
                    self.by_id.entry(meaning(member.value)).or_default().cancels += 1;
                }
            }
        }
    }
}

impl Due {
    fn add(&mut self, other: Self) {
        self.least += other.least;
        self.most += other.most;
        self.listens += other.listens;
        self.cancels += other.cancels;
    }
}
