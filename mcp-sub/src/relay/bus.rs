//! What carries messages between processes, as far as a relay needs to know.

use std::{error::Error, future::Future};

use bytes::Bytes;

/// Why a bus did not take a message.
pub type BusError = Box<dyn Error + Send + Sync>;

/// Brings messages to all processes that are joined: a broker's client. Write one to join hubs through something else
/// than NATS, and let it run `relay::testing::contract` (feature `relay-testing`).
///
/// Messages may be lost, come twice or come late: the relay notices, and tells streams that they may have missed
/// something. What a bus has to promise:
///
/// - Messages of one sender come in the order in which they were sent, whatever their topics. One that does not costs
///   catch-ups, no changes.
/// - What is sent to [`Topic::EVERYONE`] comes to every receiver, that of the sender included: a relay knows by this echo
///   what has reached the broker.
/// - Messages of 512 KiB are taken. A larger one may be refused: its event becomes a catch-up.
/// - Nothing grows without bound: a sender waits, and a receiver that is too slow loses messages.
pub trait Bus: Send + 'static {
    /// The half that sends.
    type Sender: BusSender;
    /// The half that receives.
    type Receiver: BusReceiver;

    /// The two halves. The receiver gets what is for [`Topic::EVERYONE`], and the topics that it is told to follow.
    ///
    /// # Errors
    ///
    /// If the broker cannot be asked for messages. It is tried again.
    fn open(&mut self) -> impl Future<Output = Result<(Self::Sender, Self::Receiver), BusError>> + Send;
}

/// The half of a [`Bus`] that sends.
pub trait BusSender: Send + 'static {
    /// Gives one message to the broker. Waits while that takes none.
    ///
    /// # Errors
    ///
    /// If the broker does not get this message, or may not. The relay says so to the others when it can.
    ///
    /// # Cancel safety
    ///
    /// Dropped only with the whole bus.
    fn send(&mut self, topic: Topic, message: Bytes) -> impl Future<Output = Result<(), BusError>> + Send;

    /// Waits until nothing of what was sent is held here.
    ///
    /// # Errors
    ///
    /// If that cannot be.
    fn flush(&mut self) -> impl Future<Output = Result<(), BusError>> + Send;
}

/// The half of a [`Bus`] that receives.
pub trait BusReceiver: Send + 'static {
    /// From now on, messages of the topics in `more` are wanted too, and those in `less` no more. What comes for others is
    /// ignored, so a bus that cannot choose does nothing.
    ///
    /// # Errors
    ///
    /// If the broker cannot be asked. It is tried again, with all of it.
    fn follow(&mut self, more: &[Topic], less: &[Topic])
    -> impl Future<Output = Result<(), BusError>> + Send;

    /// Waits for what comes next.
    ///
    /// # Cancel safety
    ///
    /// Dropped at any time: nothing may be lost by that.
    fn receive(&mut self) -> impl Future<Output = Received> + Send;
}

/// What comes out of a bus.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Received {
    /// A message, as it was sent.
    Message(Bytes),
    /// Messages may have been lost: the connection was, and is there again.
    Gap,
    /// Nothing will come any more.
    Closed,
}

/// Who has to hear of a message. Events for one URI that can lead to `resources_updated` alone have the topic of that
/// URI, one of [`COUNT`](Self::COUNT); all else is for everyone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Topic(u16);

impl Topic {
    /// What every process has to hear of.
    pub const EVERYONE: Self = Self(0);
    /// How many topics there are for URIs.
    pub const COUNT: u16 = 4096;

    /// 0 for everyone, 1 to [`COUNT`](Self::COUNT) for URIs: for a subject, a channel or a partition.
    #[must_use]
    pub const fn index(self) -> u16 {
        self.0
    }

    /// The topic at an index, if there is one.
    #[must_use]
    pub const fn at(index: u16) -> Option<Self> {
        if index <= Self::COUNT { Some(Self(index)) } else { None }
    }

    /// The topic of a URI. The same in every process and every version.
    #[must_use]
    pub fn of(uri: &str) -> Self {
        // FNV-1a, folded.
        let hash = uri.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let folded = (hash ^ (hash >> 32)) % u64::from(Self::COUNT);
        Self(1 + u16::try_from(folded).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_has_the_same_topic_for_ever() {
        assert_eq!(Topic::of("file:///a"), Topic::of("file:///a"));
        let used: std::collections::HashSet<_> = (0..10_000).map(|i| Topic::of(&format!("x:{i}"))).collect();
        assert!(used.len() > 3500, "spread evenly: {}", used.len());
        assert!(used.iter().all(|topic| *topic != Topic::EVERYONE && Topic::at(topic.index()).is_some()));
        // A change here makes replicas of two versions deaf to each other.
        assert_eq!(Topic::of("file:///a").index(), 1223);
    }
}
