//! A bucket from which `reserve` took tokens in advance, or which owes what a call cost beyond its estimate: how far it may lie
//! ahead.
//!
//! That is kept in refills of the limit rather than in nanoseconds: so one capacity of debt is one capacity of any numbers, and a
//! debt that other numbers or a clock which went back have made is recognised.

use super::refills::to_code;
use super::span::{FRACTION_BITS, Span};
use super::state::State;
use super::token_bucket::TokenBucket;

/// The state of a bucket that is full at `full_at`, beyond `empty`, at which an empty one is full; at least so far `ahead`.
pub(super) fn reserved(limit: &TokenBucket, full_at: Span, empty: Span, ahead: u8) -> State {
    // Never wraps: a part is below 2^30. A fraction that rounds up to a whole nanosecond is
    // carried.
    let fraction = (full_at.part << FRACTION_BITS).div_ceil(limit.parts);
    State::Reserved {
        full_at: full_at.ns + (fraction >> FRACTION_BITS),
        fraction: (fraction & ((1 << FRACTION_BITS) - 1)) as u32,
        ahead: ahead_for(limit, limit.sub(full_at, empty)).max(ahead),
    }
}

/// When a reservation is full, which is kept as nanoseconds and a fraction.
#[inline(always)]
pub(super) fn full_at(limit: &TokenBucket, full_at: u64, fraction: u32) -> Span {
    // Rounded down, for the fraction was rounded up. Never wraps: 22 bits times at most 2^30.
    let part = (u64::from(fraction) * limit.parts) >> FRACTION_BITS;
    limit.add(Span { ns: full_at, part }, Span::default())
}

/// The code of the fewest refills that reach so far.
fn ahead_for(limit: &TokenBucket, beyond: Span) -> u8 {
    // A refill takes a nanosecond at least.
    to_code(beyond.ceil().div_ceil(limit.full.ceil().max(1)).max(1))
}
