//! How long a block was asked for, as it is kept: in whole seconds.

use super::bounds::MAX_BLOCK;
use super::span::SECOND;

/// The longest time until the end of a block for which so much was asked.
pub fn longest(asked: u32) -> u64 {
    (u64::from(asked) * SECOND).min(MAX_BLOCK)
}

/// A time in seconds, rounded up to what 13 bits and the exponent of a power of two can hold: by less than a four-thousandth.
pub fn whole_seconds(ns: u64) -> u32 {
    let seconds = ns.div_ceil(SECOND);
    let step = (seconds.max(1).ilog2().saturating_sub(12)) as u64;
    // Fits: a block of four years has 27 bits.
    (seconds.div_ceil(1 << step) << step) as u32
}
