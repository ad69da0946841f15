//! What can go wrong, and the chance that decides.

#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    None,
    /// The client leaves in good order.
    Leave,
    /// The client's connection is reset.
    Reset,
    /// The client stops reading until the end of the round.
    Pause,
    /// A method waits until the end of the round.
    Wait,
    /// A method fails.
    Fail,
    /// A method panics.
    Panic,
    /// A stream is ended by its handle.
    EndByHandle,
    /// All streams of a principal are ended.
    EndAll,
    /// Far more events at once than a slot holds.
    Burst,
    /// Somebody sends half a request, and leaves.
    HalfRequest,
    /// Somebody listens, and `subscribe` panics.
    PanicInSubscribe,
}

impl Fault {
    pub(crate) const ALL: [Self; 12] = [
        Self::None,
        Self::Leave,
        Self::Reset,
        Self::Pause,
        Self::Wait,
        Self::Fail,
        Self::Panic,
        Self::EndByHandle,
        Self::EndAll,
        Self::Burst,
        Self::HalfRequest,
        Self::PanicInSubscribe,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Leave => "a client leaves (FIN)",
            Self::Reset => "a connection is reset (RST)",
            Self::Pause => "a client stops reading",
            Self::Wait => "a method waits",
            Self::Fail => "a method fails",
            Self::Panic => "a method panics",
            Self::EndByHandle => "ended by its handle",
            Self::EndAll => "a principal's streams are ended",
            Self::Burst => "a burst overflows the slots",
            Self::HalfRequest => "half a request",
            Self::PanicInSubscribe => "`subscribe` panics",
        }
    }
}

/// Splitmix64: the same numbers for the same seed, on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("it is below a usize")
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
