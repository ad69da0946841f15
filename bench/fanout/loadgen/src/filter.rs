//! What each stream asks for, and which events that makes its own.

use std::str::FromStr;

use bench_trigger::{HOT, URIS, uri};
use serde_json::{Value, json};

#[derive(Clone, Copy, PartialEq)]
pub enum Asked {
    Tools,
    /// The one URI of the trigger `r`.
    Hot,
    /// The URIs of the trigger `u`, dealt over the streams, so that each event concerns exactly one. A stream for which none
    /// is left asks for one that never changes.
    Spread,
}

impl FromStr for Asked {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "tools" => Ok(Self::Tools),
            "hot" => Ok(Self::Hot),
            "spread" => Ok(Self::Spread),
            _ => Err(format!("unknown filter: {text}")),
        }
    }
}

impl Asked {
    /// The command that triggers one event.
    pub fn trigger(self) -> u8 {
        match self {
            Self::Tools => b't',
            Self::Hot => b'r',
            Self::Spread => b'u',
        }
    }

    /// What stream `index` of `streams` asks for.
    pub fn of_stream(self, index: usize, streams: usize) -> Value {
        match self {
            Self::Tools => json!({ "toolsListChanged": true }),
            Self::Hot => json!({ "resourceSubscriptions": [HOT] }),
            Self::Spread if index >= URIS => {
                json!({ "resourceSubscriptions": [format!("bench://cold/{index}")] })
            }
            Self::Spread => {
                let uris: Vec<String> = (index..URIS).step_by(streams).map(uri).collect();
                json!({ "resourceSubscriptions": uris })
            }
        }
    }

    /// How many of `streams` each event concerns.
    pub fn concerned(self, streams: usize) -> usize {
        if self == Self::Spread { 1 } else { streams }
    }

    /// Which event the `nth` notification of stream `index` of `streams` is about, when nothing was merged or lost.
    pub fn event(self, index: usize, streams: usize, nth: usize) -> usize {
        if self != Self::Spread {
            return nth;
        }
        let streams = streams.min(URIS);
        // So many of its URIs come up in each round.
        let per_round = (URIS - index).div_ceil(streams);
        nth / per_round * URIS + index + nth % per_round * streams
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_of_a_spread_concerns_one_stream_in_its_order() {
        for streams in [1, 3, 700, 1000, 1300] {
            let mut owners = vec![None; URIS * 3];
            for index in 0..streams {
                let filter = Asked::Spread.of_stream(index, streams);
                let uris: Vec<&str> = filter["resourceSubscriptions"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|uri| uri.as_str().unwrap())
                    .filter(|uri| !uri.contains("cold"))
                    .collect();
                let events = (0..uris.len() * 3).map(|nth| Asked::Spread.event(index, streams, nth));
                assert!(events.clone().is_sorted(), "{streams} streams: those of {index} come in order");
                for event in events {
                    assert!(uris.contains(&uri(event).as_str()));
                    assert_eq!(owners[event].replace(index), None, "event {event} concerns two streams");
                }
            }
            assert!(owners.iter().all(Option::is_some), "{streams} streams: each event concerns one");
        }
    }
}
