//! Time in nanoseconds, with the fraction that makes the cost of a token exact.

/// Nanoseconds in a second.
pub const SECOND: u64 = 1_000_000_000;

/// The unit in which the times of overdrawn and emptied buckets are kept: a microsecond.
pub const GRAIN: u64 = 1_000;

/// The bits of a fraction of a nanosecond that can be read without knowing the limit.
pub(super) const FRACTION_BITS: u32 = 22;

/// A span or a point of time: `ns` nanoseconds and `part` parts of one more.
///
/// The limit says how many parts make a nanosecond. A token of three a second costs 333,333,333 ns
/// and one part in three, so sums of tokens are exact and nothing drifts.
#[derive(Clone, Copy, Debug, Default, Hash, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// Whole nanoseconds.
    pub ns: u64,
    /// Parts of the next nanosecond, fewer than the limit has in one: at most 2³⁰.
    pub part: u64,
}

impl Span {
    /// A span of whole nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self { ns, part: 0 }
    }

    /// This time, or `ns` if that is later.
    #[inline(always)]
    pub(super) const fn not_before(self, ns: u64) -> Self {
        if self.ns < ns { Self::from_ns(ns) } else { self }
    }

    /// The span in nanoseconds, rounded up.
    pub const fn ceil(self) -> u64 {
        self.ns + (self.part > 0) as u64
    }
}

/// Rounds a time up to a whole [`GRAIN`].
pub(super) const fn ceil_to_grain(ns: u64) -> u64 {
    ns.div_ceil(GRAIN) * GRAIN
}
