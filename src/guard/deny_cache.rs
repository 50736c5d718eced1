//! Answers calls by denials of the store that this host remembers, and notes them.

use super::denials::KnownDenial;
use super::host::Host;
use crate::clock::frozen;
use crate::limit::{Decision, Limit, Op, Span, State, apply};
use crate::store::Request;

/// A denial that is known without asking: the bucket cannot hold the cost yet, or is blocked.
pub fn known_denial(host: &Host, request: &Request<'_>, now: u64) -> Option<Decision> {
    let Request { key, limit, op: &op, .. } = *request;
    // Denials are kept by this host's clock, which says nothing about the frozen one of a test.
    if frozen().is_some() || !asks_for_tokens(op) {
        return None;
    }
    match (host.known_denial(key, now)?, op) {
        (KnownDenial::BlockedUntil(until), _) => {
            Some(apply(limit, &State::blocked(until, now).into(), now, op).0)
        }
        // What is further away than a refill was noted by other numbers, or is owed: the store knows.
        (KnownDenial::FullAt(full_at), Op::Take { cost: 1.. } | Op::TakeUpTo { .. })
            if full_at.saturating_sub(now) <= refill_time(limit) =>
        {
            let state = State::Filling { full_at: Span::from_ns(full_at) };
            let (decision, _) = apply(limit, &state.into(), now, op);
            (!decision.is_accepted() && decision.retry_at != Decision::NEVER).then_some(decision)
        }
        _ => None,
    }
}

/// Notes what the store decided on a call that was sent at `sent`, if that is a denial that need not be asked for again.
pub fn note_denial(host: &Host, request: &Request<'_>, decision: Decision, sent: u64) {
    let Request { key, limit, op: &op, .. } = *request;
    if frozen().is_some() || decision.is_accepted() && !decision.is_blocked() {
        return;
    }
    // The server decided after the call was sent, so a time counted from `sent` is never too late.
    let denial = match op {
        _ if decision.is_blocked() => {
            Some(KnownDenial::BlockedUntil(sent + (decision.expires_at - decision.now)))
        }
        Op::Take { .. } | Op::TakeUpTo { .. } => {
            full_in(limit, op.needs(), decision).map(|full_in| KnownDenial::FullAt(sent + full_in))
        }
        _ => None,
    };
    if let Some(denial) = denial {
        host.note_denial(key, denial, sent);
    }
}

/// How long a bucket of this limit takes to fill, in nanoseconds; zero of a window, which does not.
fn refill_time(limit: &Limit) -> u64 {
    match limit {
        Limit::TokenBucket(bucket) => bucket.refill_time().ceil(),
        _ => 0,
    }
}

/// Whether the answer to an operation says if there are tokens.
const fn asks_for_tokens(op: Op) -> bool {
    match op {
        Op::Take { .. } | Op::TakeUpTo { .. } | Op::Peek { .. } => true,
        Op::Check | Op::Reserve { .. } | Op::Lease { .. } => true,
        Op::Refund { .. } | Op::GiveBack { .. } | Op::Settle { .. } => false,
        Op::Reset | Op::Block { .. } | Op::Start { .. } => false,
    }
}

/// The time until the bucket is full that denied a call of this cost, in nanoseconds. None if that is not
/// known.
fn full_in(limit: &Limit, cost: u64, decision: Decision) -> Option<u64> {
    // Other algorithms do not refill gradually, so the time at which they are full does not say what
    // a raised limit would allow before.
    let Limit::TokenBucket(bucket) = limit else { return None };
    if decision.retry_at == Decision::NEVER {
        return None;
    }
    // Rounded down: a denial that ends too early costs one call more.
    let missing = (decision.retry_at - decision.now).saturating_sub(1);
    let full = missing + bucket.refill_time().ns;
    let full_in = full.saturating_sub(bucket.cost_in_time(cost).ceil());
    // The debt of an overdrawn bucket is forgiven all at once, so its denial ends differently and is
    // not remembered.
    let known = decision.now + full_in;
    (decision.expires_at.abs_diff(known) <= 4).then_some(full_in)
}

#[cfg(test)]
mod tests;
