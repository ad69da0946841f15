//! What is measured: for each case the options of the server and of the load generator.

use std::str::FromStr;

use crate::options::Options;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Case {
    /// The next event when all streams have the last.
    Lockstep,
    /// The same for one URI that all ask for.
    Hot,
    /// Each event concerns one stream.
    Spread,
    /// All events at once, with room for all of them.
    Burst,
    /// The same with as much room as there is by default.
    Defaults,
    /// A few streams that read, and many events.
    Control,
    /// The same, and one more that stops reading.
    Stalled,
    /// Lockstep, with as many streams as the machine holds.
    Growth,
}

/// Streams that read beside the stalled one.
pub const READERS: usize = 10;

/// What holds every event of a burst.
const ROOM: &str = "262144";

/// Arguments of the server and of the load generator.
pub type Arguments = (Vec<String>, Vec<String>);

impl Case {
    pub const ALL: [Self; 8] = [
        Self::Lockstep,
        Self::Hot,
        Self::Spread,
        Self::Burst,
        Self::Defaults,
        Self::Control,
        Self::Stalled,
        Self::Growth,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Lockstep => "lockstep",
            Self::Hot => "hot",
            Self::Spread => "spread",
            Self::Burst => "burst",
            Self::Defaults => "defaults",
            Self::Control => "control",
            Self::Stalled => "stalled",
            Self::Growth => "growth",
        }
    }

    /// With how many streams it is measured.
    pub fn sizes(self, options: &Options) -> Vec<usize> {
        match self {
            Self::Lockstep | Self::Hot | Self::Spread | Self::Burst => options.streams.clone(),
            Self::Defaults => options.streams.iter().min().copied().into_iter().collect(),
            Self::Control | Self::Stalled => vec![READERS],
            Self::Growth => options.growth.clone(),
        }
    }

    pub fn arguments(self, streams: usize, effort: f64) -> Arguments {
        let events = |count: usize, least: usize| scaled(count, effort).max(least);
        // So many deliveries, whatever the number of streams.
        let deliveries = |count: usize| events(count / streams, 10);
        let warm_up = (20_000 / streams).clamp(3, 2000);
        let (server, load) = match self {
            Self::Lockstep | Self::Growth => (String::new(), format!("--events {}", deliveries(200_000))),
            Self::Hot => (String::new(), format!("--events {} --filter hot", deliveries(200_000))),
            Self::Spread => {
                (String::new(), format!("--events {} --filter spread --max-seconds 5", events(20_000, 100)))
            }
            Self::Burst => (format!("--buffer {ROOM}"), format!("--events {} --burst", deliveries(200_000))),
            Self::Defaults => (String::new(), "--events 2000 --burst".to_owned()),
            Self::Control => {
                ("--bounded".to_owned(), format!("--events {} --max-seconds 120", events(100_000, 1000)))
            }
            Self::Stalled => (
                "--bounded".to_owned(),
                format!("--events {} --max-seconds 120 --stall 1", events(100_000, 1000)),
            ),
        };
        // A round of a spread has 1,000 events.
        let warm_up = if self == Self::Spread { 1000 } else { warm_up };
        let words = |text: String| text.split_ascii_whitespace().map(str::to_owned).collect();
        (words(server), words(format!("--streams {streams} --warm-up {warm_up} {load}")))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of events")]
fn scaled(count: usize, effort: f64) -> usize {
    (count as f64 * effort) as usize
}

impl FromStr for Case {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|case| case.name() == text).ok_or_else(|| "no such case".to_owned())
    }
}
