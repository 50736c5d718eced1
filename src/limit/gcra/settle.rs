//! Settles a call: what it did not need goes back, what it needed beyond its estimate is charged.
//!
//! It moves the bucket by its own cost, and leaves the form of the state as it is: other numbers may have made it.

use super::bucket::{Bucket, overdrawn_until};
use crate::decision::{Decision, Verdict};
use crate::emptied;
use crate::reserved::reserved;
use crate::span::{GRAIN, Span};
use crate::state::State;

#[inline(never)]
pub(super) fn refund(
    bucket: &Bucket<'_>,
    (cost, expiry, held): (u64, Option<u64>, u64),
) -> (Decision, State) {
    let cost = bucket.limit.cost_in_time(cost);
    let still_missing = expiry.map(|time| Span::from_ns(time.saturating_sub(bucket.now)));
    if still_missing == Some(Span::default()) {
        return (Decision { verdict: Verdict::Denied, ..bucket.accept() }, bucket.state);
    }
    let floor = Span::from_ns(bucket.now);
    // An expiry is rounded up, so less than a nanosecond is kept back.
    let (back, kept_back) = match still_missing {
        Some(missing) if missing < cost => (missing, Span::from_ns(1)),
        _ => (cost, Span::default()),
    };
    let used = bucket.limit.sub(bucket.full_at, bucket.limit.add(floor, Span::from_ns(held)));
    if held > 0 && used == Span::default() {
        return (bucket.accept(), bucket.state);
    }
    let back = if held > 0 { back.min(used) } else { back };
    let full_at = if bucket.limit.add(floor, back) >= bucket.full_at {
        floor
    } else {
        bucket.limit.add(bucket.limit.sub(bucket.full_at, back), kept_back)
    };
    let state = match bucket.state {
        State::Emptied { at, reach } => {
            let Bucket { limit, now, full_at, .. } = *bucket;
            emptied::given_back(limit, (at, reach), now, full_at, (back, kept_back))
        }
        _ if full_at == floor => State::FULL,
        State::Reserved { ahead, .. } => reserved(bucket.limit, full_at, full_at, ahead),
        State::Overdrawn { forgiven_at, .. }
            if full_at.ceil().saturating_add(GRAIN) > forgiven_at =>
        {
            overdrawn_until(full_at, forgiven_at)
        }
        _ => State::Filling { full_at },
    };
    (Bucket::at(bucket.limit, state, bucket.now, bucket.latest).accept(), state)
}

#[inline(never)]
pub(super) fn settle(bucket: &Bucket<'_>, cost: u64) -> (Decision, State) {
    let (before, empty) = match bucket.state {
        // A bucket of other numbers may be empty at a later time.
        State::Filling { .. } => (bucket.full_at, bucket.full_at.max(bucket.latest)),
        // What denied checks owe is forgiven, this is not: it is empty, and owes this alone.
        State::Overdrawn { forgiven_at, .. } if forgiven_at > bucket.now => {
            let empty = Span::from_ns(forgiven_at).max(bucket.latest);
            (empty, empty)
        }
        _ => (bucket.full_at, bucket.latest),
    };
    // What is beyond one capacity below empty is forgotten.
    let furthest = bucket.limit.add(empty, bucket.limit.full).max(before);
    let full_at = bucket.limit.add(before, bucket.limit.cost_in_time(cost)).min(furthest);
    if full_at == before {
        return (bucket.accept(), bucket.state);
    }
    let settled = || match bucket.state {
        State::Reserved { ahead, .. } => reserved(bucket.limit, full_at, empty, ahead),
        _ if full_at > empty => reserved(bucket.limit, full_at, empty, 0),
        _ => State::Filling { full_at },
    };
    let state = bucket.charged_until(full_at).unwrap_or_else(settled);
    (Bucket::at(bucket.limit, state, bucket.now, bucket.latest).accept(), state)
}
