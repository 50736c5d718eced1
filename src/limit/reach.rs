//! A span of time in 24 bits, rounded up: microseconds as 18 bits, and the exponent of a power of two.

use super::span::SECOND;

/// The bits of a reach below its exponent.
pub(super) const MANTISSA_BITS: u32 = 18;
/// The largest exponent: more microseconds than any sum of times has.
const MAX_EXPONENT: u32 = 35;
/// The unit of a reach, in nanoseconds.
pub(super) const UNIT: u64 = SECOND / 1_000_000;

/// A span of nanoseconds as microseconds, rounded up to 18 bits and the exponent of a power of two above them.
pub(super) fn to_reach(ns: u64) -> u32 {
    let (mut mantissa, mut exponent) = (ns.div_ceil(UNIT), 0);
    while mantissa >> MANTISSA_BITS != 0 {
        mantissa = mantissa.div_ceil(2);
        exponent += 1;
    }
    // Fits: 64 bits have at most 46 more than the mantissa.
    exponent << MANTISSA_BITS | mantissa as u32
}

/// The nanoseconds of a reach.
pub(super) const fn from_reach(reach: u32) -> u64 {
    let mantissa = (reach & ((1 << MANTISSA_BITS) - 1)) as u64;
    let exponent = reach >> MANTISSA_BITS;
    let exponent = if exponent < MAX_EXPONENT { exponent } else { MAX_EXPONENT };
    // Never shifts out: 18 bits and 35.
    (mantissa << exponent).saturating_mul(UNIT)
}
