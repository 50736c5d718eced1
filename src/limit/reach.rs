//! How an emptied bucket lies: how long until it is full, and how far it may owe, in 30 bits.
//!
//! ```text
//!  29     23  22    21  18 17           0
//! +---------+-------+-----+--------------+
//! | refills | ahead | 4^e | microseconds |
//! +---------+-------+-----+--------------+
//! ```

use super::refills::MOST_REFILLS;
use super::span::SECOND;
use super::token_bucket::TokenBucket;

/// The bits of a reach below its exponent.
const MANTISSA_BITS: u32 = 18;
const EXPONENT_BITS: u32 = 4;
const MAX_EXPONENT: u32 = (1 << EXPONENT_BITS) - 1;
const AHEAD_SHIFT: u32 = MANTISSA_BITS + EXPONENT_BITS;
const REFILLS_SHIFT: u32 = AHEAD_SHIFT + 1;
/// The unit of a reach, in nanoseconds.
pub(super) const UNIT: u64 = SECOND / 1_000_000;

/// What an emptied bucket owes beyond empty, rounded up. It is as many refills of any numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Debt {
    /// The code of the refills.
    pub refills: u8,
    /// Whether the time at which it was empty lies beyond the clock that wrote it, by a refill of its own numbers at most.
    pub is_ahead: bool,
}

impl Debt {
    /// So many refills, by their code.
    pub(super) fn of(refills: u8) -> Self {
        Self { refills: refills.min(MOST_REFILLS), is_ahead: false }
    }

    /// What is owed once the time is cut to now.
    pub(super) fn with_time_cut(self) -> Self {
        // The next code stands for one refill more at least.
        Self::of(self.refills + u8::from(self.is_ahead))
    }

    /// How much longer a limit waits for it, in nanoseconds.
    pub(super) fn span(self, limit: &TokenBucket) -> u64 {
        limit.refills(self.refills)
    }
}

/// A span of nanoseconds, rounded up to microseconds of 18 bits and the exponent of a power of four above them, and a debt. A span of
/// more than eight years is taken for eight.
pub(super) fn to_reach(ns: u64, debt: Debt) -> u32 {
    let (mut mantissa, mut exponent) = (ns.div_ceil(UNIT), 0);
    while mantissa >> MANTISSA_BITS != 0 {
        mantissa = mantissa.div_ceil(4);
        exponent += 1;
    }
    let number = match exponent > MAX_EXPONENT {
        true => (1 << AHEAD_SHIFT) - 1,
        // Fits: 18 bits.
        false => exponent << MANTISSA_BITS | mantissa as u32,
    };
    u32::from(debt.refills) << REFILLS_SHIFT | u32::from(debt.is_ahead) << AHEAD_SHIFT | number
}

/// The nanoseconds of a reach.
pub(super) const fn from_reach(reach: u32) -> u64 {
    let mantissa = (reach & ((1 << MANTISSA_BITS) - 1)) as u64;
    let exponent = reach >> MANTISSA_BITS & MAX_EXPONENT;
    // Never wraps: 18 bits and 30, times a thousand.
    (mantissa << (2 * exponent)) * UNIT
}

/// The debt in a reach.
pub(super) const fn debt_of(reach: u32) -> Debt {
    let refills = (reach >> REFILLS_SHIFT & MOST_REFILLS as u32) as u8;
    Debt { refills, is_ahead: reach >> AHEAD_SHIFT & 1 > 0 }
}
