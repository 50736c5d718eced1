//! The ranges of limits and times.

use super::span::SECOND;

/// The largest capacity of a token bucket: 2³¹ − 1.
pub const MAX_CAPACITY: u32 = i32::MAX as u32;

/// The highest refill rate: 10⁹ tokens a second.
pub const MAX_RATE: f64 = 1e9;

/// The most hits of a window. The number must fit the 24 bits of a shared-memory slot, and a window
/// with all bits set would be a claim.
pub const MAX_HITS: u32 = (1 << 24) - 2;

/// The most hits of a sliding window. Each of them is remembered.
pub const MAX_SLIDING_HITS: u32 = 1_024;
/// The most permits of a limit of how many run at once.
pub const MAX_PERMITS: u32 = 1_024;

/// The longest time a bucket may take to fill: four years, in nanoseconds.
pub const MAX_REFILL: u64 = 4 * 31_557_600 * SECOND;

/// The longest block: four years, in nanoseconds.
pub const MAX_BLOCK: u64 = MAX_REFILL;

/// The furthest that a reservation may lie ahead, in nanoseconds: more than the longest debt.
pub(super) const LONGEST_AHEAD: u64 = 1 << 57;

/// The longest debt that `reserve` or `check` can make, in nanoseconds: the longest refill.
pub(super) const MAX_DEBT: u64 = MAX_REFILL;

/// The latest time a clock may show: 4·10⁹ seconds, the year 2096 of the Unix epoch.
///
/// A sum of times adds at most a refill and a debt to it, 4.3·10¹⁸ in all. So no sum of times can
/// wrap a `u64`, and each fits the 62 bits of a shared-memory slot.
pub const MAX_NOW: u64 = 4_000_000_000 * SECOND;

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/api.md gives them.
    #[test]
    fn ranges_are_those_of_the_documents() {
        assert_eq!((MAX_CAPACITY, MAX_HITS), (2_147_483_647, 16_777_214));
        assert_eq!((MAX_REFILL, MAX_BLOCK), (126_230_400 * SECOND, 126_230_400 * SECOND));
        assert_eq!(MAX_NOW, 4_000_000_000_000_000_000);
    }
}
