//! What a run does, as the fuzzer makes it up.

use libfuzzer_sys::arbitrary::{self, Arbitrary};

use crate::{
    json::quoted,
    message::Granted,
    probe::{Decision, LISTS, Outcome, Target},
};

/// One input of the target `events`.
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
#[derive(Arbitrary, Debug)]
pub struct Plan {
    pub(super) declares_all: bool,
    /// Events that fit into a slot.
    pub(super) slot: u8,
    pub(super) holds_empty: bool,
    pub(super) keeps_alive: bool,
    pub(super) first: Listen,
    pub(super) others: Vec<Listen>,
    pub(super) steps: Vec<Step>,
    /// Whether a shutdown ends what is open at last, or the last handle's going away.
    pub(super) shuts_down: bool,
}

#[derive(Arbitrary, Debug)]
pub(super) struct Listen {
    id: Id,
    lists: u8,
    uris: Vec<Name>,
    narrows: bool,
}

#[derive(Arbitrary, Debug)]
enum Id {
    Small(i16),
    Long(i64, u64),
    Text(String),
    Escaped(String),
}

/// What makes a URI.
#[derive(Arbitrary, Debug)]
pub(super) enum Name {
    /// One that other lists are likely to have as well.
    Short(u8),
    Any(String),
}

#[derive(Arbitrary, Debug)]
pub(super) enum Step {
    Publish(Publish),
    Read { stream: u8 },
    Leave { stream: u8 },
    Advance { seconds: u8 },
    Shutdown,
}

#[derive(Arbitrary, Debug)]
pub(super) struct Publish {
    pub(super) kinds: u8,
    /// Published for this URI, or for none.
    to: Option<Name>,
    sends: Vec<Send>,
    pub(super) pauses: bool,
    pub(super) victim: u8,
    then: Then,
    /// How often over.
    pub(super) times: u8,
}

#[derive(Arbitrary, Debug)]
enum Send {
    List(u8),
    Uri(Name),
}

#[derive(Arbitrary, Debug)]
enum Then {
    Continue,
    GoOn,
    Stop(String),
    Fail(String),
    Panic,
}

/// The server's limit for the URIs of one listen.
pub(super) const URIS: usize = 12;
/// Stands in every error of a handler: no client may see it.
pub(super) const SECRET: &str = "the-disk-is-full:";

impl Listen {
    pub(super) fn id(&self) -> String {
        match &self.id {
            Id::Small(number) => number.to_string(),
            Id::Long(high, low) => format!("{}{low}", if *high == 0 { 1 } else { *high }),
            Id::Text(text) => quoted(text),
            Id::Escaped(text) => {
                let units = text.encode_utf16().map(|unit| format!("\\u{unit:04X}"));
                format!("\"{}\"", units.collect::<String>())
            }
        }
    }

    /// With each URI once.
    pub(super) fn requested(&self) -> Granted {
        let mut uris: Vec<String> = Vec::new();
        for uri in self.uris.iter().take(URIS).map(Name::uri) {
            if !uris.contains(&uri) {
                uris.push(uri);
            }
        }
        Granted { lists: self.lists & 7, uris }
    }

    /// As JSON, with whatever occurs twice.
    pub(super) fn notifications(&self) -> String {
        let lists = LISTS
            .iter()
            .enumerate()
            .map(|(index, list)| format!("{}:{}", quoted(list.field), self.lists & (1 << index) != 0));
        let uris: Vec<_> = self.uris.iter().take(URIS).map(|name| quoted(&name.uri())).collect();
        let uris = std::iter::once(format!(r#""resourceSubscriptions":[{}]"#, uris.join(",")));
        format!("{{{}}}", lists.chain(uris).collect::<Vec<_>>().join(","))
    }

    pub(super) fn decision(&self) -> Decision {
        if self.narrows { Decision::Narrow } else { Decision::Accept }
    }
}

impl Name {
    pub(super) fn uri(&self) -> String {
        match self {
            Self::Short(number) => format!("x:{}", number % 8),
            Self::Any(text) => format!("x:{}", text.replace(char::is_control, "")),
        }
    }
}

impl Publish {
    pub(super) fn to(&self) -> Option<String> {
        self.to.as_ref().map(Name::uri)
    }

    pub(super) fn sends(&self) -> Vec<Target> {
        let target = |send: &Send| match send {
            Send::List(index) => Target::List(usize::from(*index) % LISTS.len()),
            Send::Uri(name) => Target::Uri(name.uri()),
        };
        self.sends.iter().take(16).map(target).collect()
    }

    pub(super) fn outcome(&self) -> Outcome {
        match &self.then {
            Then::Continue | Then::GoOn => Outcome::Continue,
            Then::Stop(reason) => Outcome::Stop(format!("{SECRET}{reason}")),
            Then::Fail(error) => Outcome::Fail(format!("{SECRET}{error}")),
            Then::Panic => Outcome::Panic,
        }
    }
}
