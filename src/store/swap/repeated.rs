//! Applies the operation of equal calls, one after the other.

use super::basis::{Basis, BasisState};
use super::key_record::Share;
use crate::limit::{CondensedHits, Decision, Limit, Op, SECOND, StoredState, apply};
use crate::store::request::Request;

/// The largest difference between the clocks of two writers that is tolerated, in seconds.
pub const MAX_CLOCK_SKEW: u64 = 2;

/// What equal calls come to.
pub struct Applied {
    /// The decision on the call that was asked for.
    pub decision: Decision,
    /// The decision on the last one.
    last: Decision,
    /// How many calls there are.
    pub count: u32,
    /// How many are accepted: the first ones.
    pub accepted: u32,
    /// The state after all of them.
    pub after: StoredState,
}

/// Applies the operation of a request as often as `share` says, to `state`, at `now` by the store's clock.
pub fn apply_all(request: &Request<'_>, state: &StoredState, now: u64, share: Share) -> Applied {
    let (first, mut after) = apply_once(request, state, now);
    let (mut decision, mut last) = (first, first);
    let mut accepted = u32::from(first.is_accepted());
    for i in 1..share.count {
        let (next, state) = apply_once(request, &after, now);
        // What changes nothing comes to the same again.
        let is_last = state == after;
        (last, after) = (next, state);
        if i <= share.index {
            decision = next;
        }
        if is_last {
            accepted += if next.is_accepted() { share.count - i } else { 0 };
            break;
        }
        accepted += u32::from(next.is_accepted());
    }
    Applied { decision, last, count: share.count, accepted, after }
}

impl Applied {
    /// The decision, if no call of the batch is accepted: then it rests on what was read alone.
    pub fn denial(&self) -> Option<Decision> {
        (self.accepted == 0).then_some(self.decision)
    }

    /// By what the calls were decided on, for all of them. None if there is no room for that.
    pub fn basis(&self, request: &Request<'_>, state: &StoredState, now: u64) -> Option<Basis> {
        let whole = BasisState::whole(state);
        let condensed = || match (request.limit, state) {
            (Limit::SlidingWindow(window), StoredState::Hits(hits))
                if request.limit.takes(*request.op) && !request.op.settles() =>
            {
                let latest = latest_clock(request.limit, state, now);
                let denied = (!self.last.is_accepted()).then_some(&self.last);
                Some(BasisState::Condensed(CondensedHits::new(window, hits, latest, denied)))
            }
            _ => None,
        };
        Some(Basis { state: whole.or_else(condensed)?, now })
    }
}

/// The decision on a member of a batch with so many calls before it.
pub fn decide_by(basis: &Basis, request: &Request<'_>, index: u32) -> Decision {
    let share = Share { index, count: index + 1 };
    apply_all(request, &basis.state.state(), basis.now, share).decision
}

fn apply_once(request: &Request<'_>, state: &StoredState, now: u64) -> (Decision, StoredState) {
    let Request { limit, op, .. } = *request;
    match request.frozen() {
        // The store has chosen the time.
        Some(_) => apply(limit, state, now, *op),
        None => {
            let latest = match op {
                // Need no limit, so the limit of the call does not say when the state was written.
                Op::Reset | Op::Block { .. } => now,
                _ => latest_clock(limit, state, now),
            };
            let (decision, after) = apply(limit, state, latest, *op);
            (in_time_of(now, decision), after)
        }
    }
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

/// Expresses a decision by another clock in the time of the clock that the store decides by. An accepted call has nothing to wait for.
fn in_time_of(own: u64, decision: Decision) -> Decision {
    let retry_at = if decision.is_accepted() { own } else { decision.retry_at };
    Decision { now: own, retry_at, ..decision }
}

#[cfg(test)]
mod tests;
