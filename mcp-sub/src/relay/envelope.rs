//! A message between processes: whose it is, which one before it belongs to the same topic, and what it says.
//!
//! The head has fixed places, so that a receiver finds out what is none of its business without reading the rest.

use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize};

use super::{EncodedEvent, Topic};
use crate::kind::Kinds;

const MAGIC: [u8; 3] = *b"mcs";
const VERSION: u8 = 1;
const HEAD: usize = 3 + 1 + 16 + 8 + 8 + 4 + 2 + 1;

/// One relay, from its attaching to its end.
pub(super) type Origin = u128;

/// What stands before every message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) origin: Origin,
    /// Counts the messages of this origin, from 1.
    pub(super) sequence: u64,
    /// That of the message before, of the same origin and topic; 0 if there is none.
    pub(super) previous: u64,
    /// How long before this one that was sent.
    pub(super) previous_age: Duration,
    pub(super) topic: Topic,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body<'a> {
    Event { kinds: Kinds, uri: Option<&'a str>, event: EncodedEvent<'a> },
    Beacon(Beacon),
    Missed(MissedEvents),
}

/// What an origin has sent, so that the others know what they have lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Beacon {
    /// Whether the others are to say the same of themselves.
    pub(super) hello: bool,
    /// Whether nothing comes after it.
    pub(super) goodbye: bool,
    /// The last message of each topic: its index, the sequence, and how many milliseconds ago it was sent.
    pub(super) last: Vec<(u16, u64, u64)>,
}

/// What was published and could not be sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MissedEvents {
    kinds: u8,
    /// `None`: any.
    uris: Option<Vec<String>>,
}

impl MissedEvents {
    /// Without `RESOURCES_UPDATED` where the URIs are known.
    pub(super) fn new(kinds: Kinds, uris: Option<Vec<String>>) -> Self {
        Self { kinds: bits(kinds), uris }
    }

    pub(super) fn kinds(&self) -> Kinds {
        of_bits(self.kinds)
    }

    pub(super) fn uris(&self) -> Option<&[String]> {
        self.uris.as_deref()
    }
}

/// What cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// Of another version, or of a kind that this one does not know.
    Unknown,
    Damaged,
}

/// Whose message this is, and which: what brings messages of several topics into order.
#[cfg(any(test, feature = "nats"))]
pub(super) fn order(message: &[u8]) -> Option<(Origin, u64)> {
    head(message).ok().map(|(head, ..)| (head.origin, head.sequence))
}

pub(super) fn write(head: &Head, body: &Body<'_>) -> Bytes {
    let mut out = BytesMut::with_capacity(HEAD + 128);
    out.put_slice(&MAGIC);
    out.put_u8(VERSION);
    out.put_u128(head.origin);
    out.put_u64(head.sequence);
    out.put_u64(head.previous);
    out.put_u32(u32::try_from(head.previous_age.as_millis()).unwrap_or(u32::MAX));
    out.put_u16(head.topic.index());
    match body {
        Body::Event { kinds, uri, event } => {
            out.put_u8(b'e');
            out.put_u8(bits(*kinds));
            out.put_u8(uri.is_some().into());
            put_text(&mut out, uri.unwrap_or_default());
            put_text(&mut out, event.name());
            put_text(&mut out, event.json());
        }
        Body::Beacon(beacon) => {
            out.put_u8(b'b');
            put_json(&mut out, &(beacon.hello, beacon.goodbye, &beacon.last));
        }
        Body::Missed(missed) => {
            out.put_u8(b'm');
            put_json(&mut out, &(missed.kinds, &missed.uris));
        }
    }
    out.freeze()
}

pub(super) fn read(message: &[u8]) -> Result<(Head, Body<'_>), Unreadable> {
    let (head, tag, mut rest) = head(message)?;
    let body = match tag {
        b'e' => {
            let kinds = of_bits(take::<1>(&mut rest)?[0]);
            let has_uri = take::<1>(&mut rest)?[0] != 0;
            let uri = take_text(&mut rest)?;
            let (name, json) = (take_text(&mut rest)?, take_text(&mut rest)?);
            Body::Event { kinds, uri: has_uri.then_some(uri), event: EncodedEvent::new(name, json) }
        }
        b'b' => {
            let (hello, goodbye, last) = take_json(rest)?;
            Body::Beacon(Beacon { hello, goodbye, last })
        }
        b'm' => {
            let (kinds, uris) = take_json(rest)?;
            Body::Missed(MissedEvents { kinds, uris })
        }
        _ => return Err(Unreadable::Unknown),
    };
    Ok((head, body))
}

fn head(message: &[u8]) -> Result<(Head, u8, &[u8]), Unreadable> {
    let mut rest = message;
    if take::<3>(&mut rest)? != MAGIC {
        return Err(Unreadable::Damaged);
    }
    if take::<1>(&mut rest)? != [VERSION] {
        return Err(Unreadable::Unknown);
    }
    let origin = u128::from_be_bytes(take(&mut rest)?);
    let sequence = u64::from_be_bytes(take(&mut rest)?);
    let previous = u64::from_be_bytes(take(&mut rest)?);
    let previous_age = Duration::from_millis(u32::from_be_bytes(take(&mut rest)?).into());
    let topic = Topic::at(u16::from_be_bytes(take(&mut rest)?)).ok_or(Unreadable::Unknown)?;
    let [tag] = take(&mut rest)?;
    if previous >= sequence {
        return Err(Unreadable::Damaged);
    }
    Ok((Head { origin, sequence, previous, previous_age, topic }, tag, rest))
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Unreadable> {
    let (taken, left) = rest.split_first_chunk().ok_or(Unreadable::Damaged)?;
    *rest = left;
    Ok(*taken)
}

fn put_text(out: &mut BytesMut, text: &str) {
    // Longer than that, no bus takes it.
    out.put_u32(u32::try_from(text.len()).unwrap_or(u32::MAX));
    out.put_slice(text.as_bytes());
}

fn take_text<'a>(rest: &mut &'a [u8]) -> Result<&'a str, Unreadable> {
    let length = u32::from_be_bytes(take(rest)?);
    let length = usize::try_from(length).map_err(|_| Unreadable::Damaged)?;
    let (text, left) = rest.split_at_checked(length).ok_or(Unreadable::Damaged)?;
    *rest = left;
    str::from_utf8(text).map_err(|_| Unreadable::Damaged)
}

fn put_json(out: &mut BytesMut, value: &impl Serialize) {
    // Numbers, strings and lists of them: that cannot fail.
    out.put_slice(&serde_json::to_vec(value).unwrap_or_default());
}

fn take_json<'a, T: Deserialize<'a>>(rest: &'a [u8]) -> Result<T, Unreadable> {
    serde_json::from_slice(rest).map_err(|_| Unreadable::Damaged)
}

/// On the wire, a kind is the bit of its place in the table, which is never given to another one.
fn bits(kinds: Kinds) -> u8 {
    kinds.indices().fold(0, |bits, index| bits | (1 << index))
}

/// Kinds that this version does not know are not in it.
fn of_bits(bits: u8) -> Kinds {
    Kinds::ALL
        .indices()
        .filter(|index| bits & (1 << index) != 0)
        .map(Kinds::at)
        .fold(Kinds::NONE, Kinds::union)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn some_head() -> Head {
        Head {
            origin: 7,
            sequence: 12,
            previous: 11,
            previous_age: Duration::from_millis(3),
            topic: Topic::of("x:a"),
        }
    }

    fn bodies() -> [Body<'static>; 4] {
        let kinds = Kinds::RESOURCES_UPDATED.union(Kinds::TOOLS_LIST_CHANGED);
        let event = EncodedEvent::new("saved", "{\"uri\":\"x:a\"}");
        [
            Body::Event { kinds, uri: Some("x:a"), event: event.clone() },
            Body::Event { kinds, uri: None, event },
            Body::Beacon(Beacon { hello: true, goodbye: false, last: vec![(3, 4, 5)] }),
            Body::Missed(MissedEvents::new(kinds, Some(vec!["x:a".into()]))),
        ]
    }

    #[test]
    fn what_is_written_is_read() {
        for body in bodies() {
            let message = write(&some_head(), &body);
            assert_eq!(read(&message), Ok((some_head(), body)));
            assert_eq!(order(&message), Some((7, 12)));
        }
    }

    #[test]
    fn another_version_is_unknown_and_not_damaged() {
        let mut message = write(&some_head(), &bodies()[0]).to_vec();
        message[3] = VERSION + 1;
        assert_eq!(read(&message), Err(Unreadable::Unknown));
        message[3] = VERSION;
        message[HEAD - 1] = b'z';
        assert_eq!(read(&message), Err(Unreadable::Unknown));
    }

    #[test]
    fn what_is_cut_short_is_damaged() {
        for body in bodies() {
            let message = write(&some_head(), &body);
            for length in 0..message.len() {
                assert_eq!(read(&message[..length]), Err(Unreadable::Damaged), "{length} of {body:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), valid in any::<bool>()) {
            if valid {
                let head = write(&some_head(), &bodies()[0]);
                for (byte, from) in bytes.iter_mut().zip(&head[..HEAD]) {
                    *byte = *from;
                }
            }
            let _ = read(&bytes);
        }
    }
}
