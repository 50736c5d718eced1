//! Decides though the clocks of a state's writers differ.

use crate::clock::frozen;
use crate::limit::{Decision, Limit, Op, SECOND, StoredState, apply};
use crate::store::request::Request;

/// The largest difference between the clocks of two writers that is tolerated, in seconds.
pub const MAX_CLOCK_SKEW: u64 = 2;

/// Applies the operation of a request to `state`, at `now` by the store's clock.
pub fn decide(request: &Request<'_>, state: &StoredState, now: u64) -> (Decision, StoredState) {
    let Request { limit, op, .. } = *request;
    if frozen().is_some() {
        // The store has chosen the time.
        return apply(limit, state, now, *op);
    }
    let latest = match op {
        // Need no limit, so the limit of the call does not say when the state was written.
        Op::Reset | Op::Block { .. } => now,
        _ => latest_clock(limit, state, now),
    };
    let (decision, after) = apply(limit, state, latest, *op);
    (in_time_of(now, decision), after)
}

/// The later of the clock that the store decides by and the clock that wrote the state.
///
/// A state from slightly in the future was written by a clock that is ahead; deciding by the slower clock
/// would shorten a debt. A state from further ahead than [`MAX_CLOCK_SKEW`] was written before a clock was
/// set back.
pub fn latest_clock(limit: &Limit, state: &StoredState, own: u64) -> u64 {
    let earliest_write = limit.earliest_write(state);
    let is_skew = earliest_write > own && earliest_write - own <= MAX_CLOCK_SKEW * SECOND;
    if is_skew { earliest_write } else { own }
}

/// Expresses a decision by another clock in the time of the clock that the store decides by.
fn in_time_of(own: u64, decision: Decision) -> Decision {
    let has_to_wait = !decision.is_accepted() || decision.retry_at > decision.now;
    let retry_at = if has_to_wait { decision.retry_at } else { own };
    Decision { now: own, retry_at, ..decision }
}

#[cfg(test)]
mod tests;
