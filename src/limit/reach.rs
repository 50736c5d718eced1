//! How an emptied bucket lies: how long until it is full, and how far it may owe, in 24 bits.
//!
//! ```text
//!  23  22 21     18 17          0
//! +------+---------+-------------+
//! | debt | 4^e     | microseconds |
//! +------+---------+-------------+
//! ```

use super::span::SECOND;
use super::token_bucket::TokenBucket;

/// The bits of a reach below its exponent.
const MANTISSA_BITS: u32 = 18;
const EXPONENT_BITS: u32 = 4;
const MAX_EXPONENT: u32 = (1 << EXPONENT_BITS) - 1;
const DEBT_SHIFT: u32 = MANTISSA_BITS + EXPONENT_BITS;
/// The unit of a reach, in nanoseconds.
pub(super) const UNIT: u64 = SECOND / 1_000_000;

/// What an emptied bucket owes beyond empty, rounded up. It is as many refills of any numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Debt {
    None,
    /// The time at which it was empty lies beyond now, by a refill of its own numbers at most.
    Ahead,
    /// A refill, and what the time lies beyond now.
    Refill,
    /// 64 refills, and what the time lies beyond now. It is the longest.
    Refills64,
}

impl Debt {
    /// That of a reservation so far ahead, in doublings of a refill.
    pub(super) const fn of_reservation(ahead: u8) -> Self {
        if ahead == 0 { Self::Refill } else { Self::Refills64 }
    }

    /// What is owed once the time is cut to now.
    pub(super) const fn with_time_cut(self) -> Self {
        match self {
            Self::None => Self::None,
            Self::Ahead => Self::Refill,
            Self::Refill | Self::Refills64 => Self::Refills64,
        }
    }

    /// How much longer a limit waits for it, in nanoseconds.
    pub(super) fn span(self, limit: &TokenBucket) -> u64 {
        match self {
            Self::None | Self::Ahead => 0,
            Self::Refill => limit.refills(0),
            Self::Refills64 => limit.refills(6),
        }
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
        true => (1 << DEBT_SHIFT) - 1,
        // Fits: 18 bits.
        false => exponent << MANTISSA_BITS | mantissa as u32,
    };
    (debt as u32) << DEBT_SHIFT | number
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
    match reach >> DEBT_SHIFT & 3 {
        0 => Debt::None,
        1 => Debt::Ahead,
        2 => Debt::Refill,
        _ => Debt::Refills64,
    }
}
