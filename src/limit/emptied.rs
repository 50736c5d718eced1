//! A bucket that was found emptier than its limit allows: kept by two times, which limits of any length share.
//!
//! The price is a form of its own, in which times are whole nanoseconds, rounded up. It buys two things: a shorter interval holds from
//! the first call on, and a longer one, of workers that still have or already have it, finds no token there that was given out.
//!
//! An operator has shortened the interval, old and new workers run side by side, or a clock went back. Tried instead: to cut the
//! time at which the bucket is full. Then each call of the shorter limit, also a denied one, gave the longer limit nearly its whole
//! capacity again. With nothing cut the shorter limit stayed empty for the longer one's refill.
//!
//! So the bucket has a time `at` which it was empty, by any numbers, and the time at which it is full by those that made it. A limit
//! finds it full one refill after `at`, or at that other time if it is earlier:
//!
//! ```text
//! full_at = min(at + debt + capacity * interval, at + reach)
//! ```
//!
//! Tokens that were reserved or charged beyond empty may move `at` one refill beyond now, and the state says so: then a cut to now adds
//! a refill to the debt. What other numbers find beyond their own refill becomes a debt of as many refills of any numbers ([`Debt`]): the
//! longer limit finds all that it reserved, and the shorter one waits for as many refills of its own. Tried instead: to forget it. Then each call of the shorter limit let the longer one reserve
//! anew.
//!
//! A call that takes tokens moves both times by its own cost. It moves `at` no further than now, so that the bucket is empty at most,
//! by whatever numbers, unless its own limit takes in advance.
//!
//! Each call rounds the reach up, against the caller, by less than a fifty-thousandth. Many calls under a large capacity may add
//! that up until the first of the two times holds: then the bucket is what it would be if it had been empty when the numbers changed.

use super::reach::{Debt, debt_of, from_reach, to_reach};
use super::span::{Span, ceil_to_grain};
use super::state::State;
use super::token_bucket::TokenBucket;

/// The state of a bucket that is empty at `at`, owes this, and is full at `full_at`.
pub(super) fn emptied(at: u64, debt: Debt, full_at: u64) -> State {
    let at = ceil_to_grain(at);
    State::Emptied { at, reach: to_reach(full_at.saturating_sub(at), debt) }
}

/// When a limit finds the bucket full.
pub(super) fn full_at(limit: &TokenBucket, at: u64, reach: u32) -> Span {
    let last = Span::from_ns(at.saturating_add(from_reach(reach)));
    let paid = at.saturating_add(debt_of(reach).span(limit));
    limit.add(Span::from_ns(paid), limit.full).min(last)
}

/// The bucket after a call that has moved the time at which its limit finds it full from `before`, which is not before `now`, to
/// `after`.
pub(super) fn charged(
    limit: &TokenBucket,
    (at, reach): (u64, u32),
    now: u64,
    (before, after): (Span, Span),
) -> State {
    let cost = limit.sub(after, before).ceil();
    let full_at = at.saturating_add(from_reach(reach)).max(now).saturating_add(cost);
    let debt = debt_of(reach);
    let empty_at = limit.sub(after, limit.full).ceil().saturating_sub(debt.span(limit));
    let not_beyond_now = at.saturating_add(cost).min(at.max(now));
    let after = empty_at.max(not_beyond_now);
    let is_ahead = after > now && (debt.is_ahead || after > at);
    emptied(after, Debt { is_ahead, ..debt }, full_at)
}

/// The bucket once a call has given back so much time: full if that is all of it. The limit found it full at `before`, which is not
/// before `now`.
///
/// The time at which it was empty moves only if the limit would get less than half of that back otherwise. If it moved each time, a
/// shorter limit would find its whole bucket again for each token of a longer one.
pub(super) fn given_back(
    limit: &TokenBucket,
    (at, reach): (u64, u32),
    now: u64,
    before: Span,
    (back, kept_back): (Span, Span),
) -> State {
    let full_at = at.saturating_add(from_reach(reach)).saturating_sub(back.ns) + kept_back.ns;
    if full_at <= now {
        return State::FULL;
    }
    let wanted = limit.sub(before, back).ceil().max(now);
    let is_enough = full_at.saturating_sub(wanted) <= back.ns / 2;
    let at = if is_enough { at.min(full_at) } else { at.saturating_sub(back.ns) };
    let debt = debt_of(reach);
    emptied(at, Debt { is_ahead: debt.is_ahead && at > now, ..debt }, full_at)
}

#[cfg(test)]
mod tests;
