//! How a token bucket decides: the generic cell rate algorithm (GCRA, [ITU-T I.371]).
//!
//! A bucket is kept as the time at which it is full again. A token costs a fixed span of time, so a
//! call that takes `n` tokens moves that time ahead:
//!
//! ```text
//! full_at' = max(full_at, now) + n * interval
//! accepted   if full_at' <= now + capacity * interval
//! ```
//!
//! Waiting lets the time come nearer; no clean-up ever runs. `check` may move it beyond that limit
//! (a debt), and so may `reserve`, which tells the caller how long to wait.
//!
//! [ITU-T I.371]: https://www.itu.int/rec/T-REC-I.371

use super::algorithm::WordAlgorithm;
use super::block;
use super::decision::{Available, Decision};
use super::kept::Kept;
use super::op::Op;
use super::reserved::reserved;
use super::span::{Span, ceil_to_grain};
use super::state::State;
use super::token_bucket::TokenBucket;
use bucket::{Bucket, latest, overdrawn_until};

pub use bucket::earliest_write;

mod bucket;
mod settle;

impl WordAlgorithm for TokenBucket {
    #[inline(always)]
    fn apply<R: Kept>(&self, state: State, now: u64, op: &Op) -> (R, State) {
        // The usual case has a path of its own, in which the compiler knows the operation and the
        // kind of state, and that no time is from the future.
        if let (&Op::Take { cost }, State::Filling { full_at }) = (op, state) {
            let latest = latest(self, now);
            if full_at <= latest {
                let bucket = Bucket::at(self, State::Filling { full_at }, now, latest);
                let (decision, after) = take(&bucket, cost);
                return (R::of(decision), after);
            }
        }
        let (decision, after) = apply_any(self, state, now, op);
        (R::of(decision), after)
    }

    #[inline(always)]
    fn is_from_future(&self, state: State, now: u64) -> bool {
        match state {
            State::Filling { full_at } => full_at > latest(self, now),
            other => earliest_write(self, other) > now,
        }
    }

    #[cold]
    fn inherited_state(&self, expires_at: u64, now: u64) -> State {
        let empty = self.add(Span::from_ns(now), self.full);
        State::Filling { full_at: Span::from_ns(expires_at).min(empty) }
    }

    #[cold]
    fn takes(&self, op: Op) -> bool {
        match op {
            Op::Take { cost } | Op::Reserve { cost, .. } => (1..=self.capacity).contains(&cost),
            Op::TakeUpTo { .. } | Op::Lease { .. } => op.needs() <= self.capacity,
            Op::Check | Op::Settle { .. } | Op::Start { .. } => true,
            Op::Peek { .. } | Op::Refund { .. } | Op::GiveBack { .. } => false,
            Op::Reset | Op::Block { .. } => false,
        }
    }
}

/// Applies a refund to a state that is no block. Its last number is how many nanoseconds stay charged, for they are held.
pub fn refund_above(
    limit: &TokenBucket,
    state: State,
    now: u64,
    refund: (u64, Option<u64>, u64),
) -> (Decision, State) {
    settle::refund(&Bucket::as_stored(limit, state, now), refund)
}

#[inline(never)]
fn apply_any(limit: &TokenBucket, state: State, now: u64, op: &Op) -> (Decision, State) {
    let op = *op;
    if let Some(decided) = block::decide(state, now, op, limit.capacity) {
        return decided;
    }
    let bucket = match op.settles() {
        true => Bucket::as_stored(limit, state, now),
        false => Bucket::new(limit, state, now),
    };
    match op {
        Op::Take { cost } => take(&bucket, cost),
        Op::TakeUpTo { most, least, leave } => take_up_to(&bucket, most, least, leave),
        Op::Peek { cost } => (peek(&bucket, cost), state),
        Op::Check => check(&bucket),
        Op::Reserve { cost, max_wait } => reserve(&bucket, cost, max_wait),
        Op::Refund { cost, expiry } => settle::refund(&bucket, (cost, expiry, 0)),
        Op::Settle { cost, .. } => settle::settle(&bucket, cost),
        // A block was decided on above.
        Op::Reset | Op::Block { .. } => {
            (Bucket::new(limit, State::FULL, now).accept(), State::FULL)
        }
        Op::Start { missing } => start(&bucket, missing),
        // Only a state on a server is leased: see `apply_leased`.
        Op::Lease { .. } | Op::GiveBack { .. } => bucket.deny(now),
    }
}

#[inline(always)]
fn take(bucket: &Bucket<'_>, cost: u64) -> (Decision, State) {
    if cost == 0 {
        return (bucket.accept(), bucket.state);
    }
    if cost > bucket.limit.capacity {
        return bucket.deny(Decision::NEVER);
    }
    let full_at = bucket.limit.add(bucket.full_at, bucket.limit.cost_in_time(cost));
    if full_at > bucket.latest {
        return bucket.deny(bucket.affordable_at(full_at));
    }
    bucket.accept_until(full_at, cost)
}

#[inline(never)]
fn take_up_to(bucket: &Bucket<'_>, most: u64, least: u64, leave: u64) -> (Decision, State) {
    let there = bucket.limit.tokens_in(bucket.available()).saturating_sub(leave);
    let cost = most.min(there).max(least);
    match take(bucket, cost.saturating_add(leave)) {
        (needed, _) if needed.is_accepted() => take(bucket, cost),
        denied => denied,
    }
}

/// The answer of `take`, with the level that the bucket keeps.
fn peek(bucket: &Bucket<'_>, cost: u64) -> Decision {
    let Decision { verdict, retry_at, .. } = take(bucket, cost).0;
    Decision { verdict, retry_at, ..bucket.accept() }
}

#[inline(never)]
fn check(bucket: &Bucket<'_>) -> (Decision, State) {
    let full_at = bucket.limit.add(bucket.full_at, bucket.limit.interval);
    if full_at <= bucket.latest {
        return bucket.accept_until(full_at, 1);
    }
    // A denied check charges what is forgiven after a refill. On top of what is not, it charges nothing.
    if bucket.has_lasting_debt() {
        return bucket.deny(bucket.affordable_at(full_at));
    }
    // All is forgiven one full refill after this check. Both numbers are rounded up, against
    // the caller.
    let forgiven_at = ceil_to_grain(bucket.latest.ceil());
    let state = overdrawn_until(full_at, forgiven_at);
    bucket.deny_charged(state)
}

#[inline(never)]
fn reserve(bucket: &Bucket<'_>, cost: u64, max_wait: u64) -> (Decision, State) {
    if cost == 0 {
        return (bucket.accept(), bucket.state);
    }
    if cost > bucket.limit.capacity {
        return bucket.deny(Decision::NEVER);
    }
    let full_at = bucket.limit.add(bucket.full_at, bucket.limit.cost_in_time(cost));
    if full_at <= bucket.latest {
        return bucket.accept_until(full_at, cost);
    }
    let affordable_at = bucket.affordable_at(full_at);
    let wait = affordable_at - bucket.now;
    let max_wait = max_wait.min(bucket.longest_debt());
    if wait > max_wait {
        return bucket.deny(bucket.now + wait - max_wait);
    }
    // What denied checks owe beyond that is forgiven: the bucket is empty when the caller has waited.
    let full_at = full_at.min(bucket.limit.add(Span::from_ns(affordable_at), bucket.limit.full));
    let decision = Decision {
        expires_at: full_at.ceil(),
        available: Available::NOTHING,
        taken: cost,
        wait,
        ..bucket.accept()
    };
    let reserved = || reserved(bucket.limit, full_at, bucket.latest, bucket.ahead().unwrap_or(0));
    (decision, bucket.charged_until(full_at).unwrap_or_else(reserved))
}

#[inline(never)]
fn start(bucket: &Bucket<'_>, missing: u64) -> (Decision, State) {
    let now = Span::from_ns(bucket.now);
    if bucket.state.expires_at() > bucket.now {
        return bucket.deny(bucket.state.expires_at());
    }
    bucket.accept_until(bucket.limit.add(now, Span::from_ns(missing)).min(bucket.latest), 0)
}

#[cfg(test)]
mod tests;
