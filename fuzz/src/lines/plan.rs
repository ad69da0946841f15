//! What a client says and when it reads, as the fuzzer makes it up.

use libfuzzer_sys::arbitrary::{self, Arbitrary};

use crate::json::quoted;

/// One input of the target `lines`.
#[derive(Arbitrary, Debug)]
pub struct Plan {
    pub(super) declares_all: bool,
    pub(super) holds_empty: bool,
    pub(super) says_cancelled: bool,
    /// `None`: there is no inner server.
    pub(super) inner: Option<Inner>,
    /// In pieces of how many bytes the server reads.
    pub(super) chunk: u8,
    pub(super) steps: Vec<Step>,
    pub(super) end: End,
}

/// How the inner server answers `server/discover`. All else it answers, unless it has ended.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
pub(super) enum Inner {
    AllFamilies,
    ToolsAlone,
    NoSuchMethod,
    Refuses,
    /// With a notification before, and another answer after.
    Twice,
    Never,
    /// In the middle of its answer, it ends.
    Dies,
    /// It reads nothing.
    Sleeps,
}

#[derive(Arbitrary, Debug)]
pub(super) enum Step {
    Listen(Listen),
    Cancel {
        id: u8,
    },
    Discover {
        id: u8,
    },
    Call {
        id: u8,
        is_modern: bool,
    },
    /// A listen or a cancel with something done to its bytes.
    Bent {
        cancels: bool,
        id: u8,
        at: u16,
        bytes: u8,
        piece: Vec<u8>,
    },
    /// Whatever it is, with its newlines.
    Bytes(Vec<u8>),
    Line(Vec<u8>),
    TooLong,
    Publish {
        kinds: u8,
        pauses: bool,
        stops: bool,
    },
    Read {
        bytes: u16,
    },
    ReadAll,
    Advance {
        seconds: u8,
    },
}

#[derive(Arbitrary, Debug)]
pub(super) struct Listen {
    id: u8,
    lists: u8,
    uris: Vec<String>,
    decision: u8,
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    /// Of the input, and all is read.
    Input,
    /// Of the input, and nothing more is read.
    Unread,
    Signal,
    /// The future is dropped.
    Dropped,
    /// Writing fails.
    Closed,
    /// Reading fails.
    Broken,
}

/// Few, so that they come again: of either type, and two that mean the same.
const IDS: [&str; 6] = ["1", r#""1""#, r#""A""#, r#""\u0041""#, r#""""#, "123456789012345678901"];
const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
/// A line of the client's that is longer is refused.
pub(super) const LINE: usize = 4096;

pub(super) fn id(number: u8) -> &'static str {
    IDS[usize::from(number) % IDS.len()]
}

impl Listen {
    fn line(&self) -> String {
        let flag = |bit: u8| self.lists & (1 << bit) != 0;
        let uris: Vec<_> = self
            .uris
            .iter()
            .take(4)
            .map(|uri| quoted(&format!("x:{}", uri.replace(char::is_control, ""))))
            .collect();
        let notifications = format!(
            r#"{{"toolsListChanged":{},"promptsListChanged":{},"resourcesListChanged":{},"resourceSubscriptions":[{}]}}"#,
            flag(0),
            flag(1),
            flag(2),
            uris.join(",")
        );
        request(
            id(self.id),
            "subscriptions/listen",
            &format!(r#","decision":{}"#, self.decision % 6),
            &format!(r#","notifications":{notifications}"#),
        )
    }
}

fn request(id: &str, method: &str, meta: &str, members: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"_meta":{{{META}{meta}}}{members}}}}}"#
    )
}

fn cancel(number: u8) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}}"#,
        id(number)
    )
}

impl Step {
    /// What the client writes, if it writes.
    pub(super) fn written(&self) -> Option<Vec<u8>> {
        let line = |text: String| Some((text + "\n").into_bytes());
        match self {
            Self::Listen(listen) => line(listen.line()),
            Self::Cancel { id } => line(cancel(*id)),
            Self::Discover { id: number } => line(request(id(*number), "server/discover", "", "")),
            Self::Call { id: number, is_modern: true } => {
                line(request(id(*number), "tools/call", "", r#","name":"x""#))
            }
            Self::Call { id: number, .. } => {
                line(format!(r#"{{"jsonrpc":"2.0","id":{},"method":"tools/call"}}"#, id(*number)))
            }
            Self::Bent { cancels, id: number, at, bytes, piece } => {
                let text = if *cancels {
                    cancel(*number)
                } else {
                    let listen = Listen { id: *number, lists: 7, uris: vec!["a".into()], decision: 0 };
                    listen.line()
                };
                let mut text = text.into_bytes();
                let start = usize::from(*at) % text.len();
                let end = (start + usize::from(bytes % 64)).min(text.len());
                text.splice(start..end, piece.iter().take(64).copied());
                text.push(b'\n');
                Some(text)
            }
            Self::Bytes(bytes) => Some(bytes.clone()),
            Self::Line(bytes) => Some([bytes, &b"\n"[..]].concat()),
            Self::TooLong => line("x".repeat(LINE + 1)),
            _ => None,
        }
    }
}
