//! Time in nanoseconds, with the fraction that makes a token's worth exact.

/// Nanoseconds in a second.
pub const SECOND: u64 = 1_000_000_000;

/// The longest a bucket may take to fill: four years, in nanoseconds.
pub const MAX_REFILL: u64 = 4 * 31_557_600 * SECOND;

/// The latest time a clock may show: 4·10⁹ seconds, the year 2096 of the Unix epoch.
///
/// Every sum below adds at most a refill and a debt to it, 4.3·10¹⁸ in all, so no sum
/// of times can wrap a `u64`, and every such sum fits the 62 bits of a shared-memory
/// slot.
pub const MAX_NOW: u64 = 4_000_000_000 * SECOND;

/// The grain of what is kept of a bucket that is overdrawn: 500 nanoseconds.
pub const GRAIN: u64 = 500;

/// A span or a point of time: `ns` nanoseconds and `part` parts of one more.
///
/// How many parts make a nanosecond is the limit's affair: three tokens a second are
/// 333,333,333 ns and one part in three. So a sum of tokens is exact, however many
/// there are, and nothing drifts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
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

    /// The span in nanoseconds, rounded up.
    pub const fn ceil(self) -> u64 {
        self.ns + (self.part > 0) as u64
    }
}

/// Rounds a time up to a whole [`GRAIN`].
pub(super) const fn ceil_to_grain(ns: u64) -> u64 {
    ns.div_ceil(GRAIN) * GRAIN
}

/// The bits of a fraction of a nanosecond that no limit's parts are needed to read.
pub(super) const FRACTION_BITS: u32 = 24;
