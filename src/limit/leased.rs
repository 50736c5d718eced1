//! Tokens or hits that hosts have taken ahead, as the state on a server counts them.
//!
//! A host takes a batch ahead and hands it out by itself (`guard/leases.rs`), so what it still holds was charged, but is used by no
//! call. The state knows how much that is, beside a name that it got with its first batch:
//!
//! * A refund gives back no more than calls have used: what is held stays charged.
//! * A host that comes back names the state that it took from. What was reset, blocked or has expired since is another state: it knows
//!   nothing of what was held before, so nothing goes back to it.
//!
//! What a host held when it was killed stays counted, until the state ends. So a refund may give back too little, never too much.

use super::any_limit::{Limit, apply_plain};
use super::decision::{Decision, Verdict};
use super::gcra;
use super::op::Op;
use super::span::SECOND;
use super::state::State;
use super::stored_state::{Leased, StoredState};

/// More than can be held: a record has 32 bits of seconds.
const MOST_HELD: u64 = u32::MAX as u64 * SECOND;

/// What [`Leased::held`] says of so many tokens or hits.
pub fn held(limit: &Limit, tokens: u64) -> u64 {
    match limit {
        Limit::TokenBucket(bucket) => bucket.cost_in_time(tokens).ceil().min(MOST_HELD),
        _ => tokens.min(MOST_HELD),
    }
}

/// Applies an operation to a state: returns the answer, and the state to remember.
///
/// `now` is the store's clock in nanoseconds, at most [`MAX_NOW`](super::MAX_NOW). A state equal to
/// the one passed in need not be written.
///
/// A denied call changes nothing, with two exceptions: a check owes what it was denied, and a timestamp from the
/// future, left by a clock that has gone back since or by a longer interval, is brought down to one full refill from now.
/// An operation that [settles](Op::settles) an earlier call brings none down: it moves the state by its own cost alone.
///
/// # Example
///
/// ```
/// use token_bucket_limit::{Limit, Op, StoredState, TokenBucket, apply};
///
/// let limit = Limit::from(TokenBucket::per_second(1, 1.0)?);
/// let (first, state) = apply(&limit, &StoredState::FULL, 5_000, Op::Take { cost: 1 });
/// assert!(first.is_accepted());
/// let (second, _) = apply(&limit, &state, 5_000, Op::Take { cost: 1 });
/// assert!(!second.is_accepted());
/// assert_eq!(second.retry_after(), 1.0);
/// # Ok::<(), token_bucket_limit::LimitError>(())
/// ```
#[inline(always)]
pub fn apply(limit: &Limit, state: &StoredState, now: u64, op: Op) -> (Decision, StoredState) {
    let is_leased =
        matches!(op, Op::Lease { .. } | Op::GiveBack { .. }) || state.leased().is_some();
    match limit {
        Limit::TokenBucket(_) | Limit::FixedWindow(_) | Limit::CalendarWindow(_) if is_leased => {
            apply_leased(limit, state, now, op)
        }
        _ => apply_plain(limit, state, now, op),
    }
}

/// Applies an operation to a state of which hosts hold something, or that is about what they hold.
#[cold]
fn apply_leased(limit: &Limit, state: &StoredState, now: u64, op: Op) -> (Decision, StoredState) {
    let word = state.word();
    let plain = StoredState::Word(word);
    let before = state.leased().filter(|_| lasts(word, now));
    let (known, spent) = match op {
        Op::Lease { known, spent, .. } => (known, spent),
        Op::GiveBack { cost, known } => (known, cost),
        _ => (0, 0),
    };
    let is_known = before.is_some_and(|it| it.name == known);
    let spent = if is_known { held(limit, spent) } else { 0 };
    let mut leased = before.map(|it| Leased { held: it.held.saturating_sub(spent), ..it });
    let charged = leased.map_or(0, |it| it.held);
    let (decision, after) = match op {
        Op::GiveBack { .. } if !is_known => {
            let (peek, _) = apply_plain(limit, &plain, now, Op::Peek { cost: 0 });
            let verdict = if peek.is_blocked() { Verdict::Blocked } else { Verdict::Denied };
            return (Decision { verdict, ..peek }, state.clone());
        }
        Op::GiveBack { cost, .. } => refund(limit, word, now, (cost, None, charged)),
        Op::Refund { cost, expiry } => refund(limit, word, now, (cost, expiry, charged)),
        Op::Lease { most, least, fresh, .. } => {
            let op = Op::TakeUpTo { most, least, leave: 0 };
            let (mut decision, after) = apply_plain(limit, &plain, now, op);
            if decision.is_accepted() {
                let more = held(limit, decision.taken.saturating_sub(least));
                let name = leased.map_or(fresh, |it| it.name);
                leased = Some(Leased { name, held: charged.saturating_add(more).min(MOST_HELD) });
                decision.wait = name.into();
            }
            (decision, after)
        }
        other => apply_plain(limit, &plain, now, other),
    };
    if after == plain {
        return (decision, state.clone());
    }
    let is_other = matches!(op, Op::Reset | Op::Block { .. }) || after == StoredState::FULL;
    match if decision.is_accepted() { leased } else { before } {
        Some(leased) if !is_other => (decision, StoredState::Leased(after.word(), leased)),
        _ => (decision, after),
    }
}

/// Whether this is still the state that it was when it was written, as far as that is told by its time alone.
const fn lasts(state: State, now: u64) -> bool {
    match state {
        State::Filling { full_at } => full_at.ns >= now,
        State::Reserved { full_at, .. } => full_at >= now,
        State::Overdrawn { forgiven_at, .. } => forgiven_at >= now,
        State::Emptied { .. } => true,
        State::Window { ends_at, .. } => ends_at >= now,
        State::Blocked { .. } => false,
    }
}

/// Gives tokens or hits back, but none of those that hosts hold.
fn refund(
    limit: &Limit,
    state: State,
    now: u64,
    (cost, expiry, held): (u64, Option<u64>, u64),
) -> (Decision, StoredState) {
    let used = match (limit, state) {
        (_, State::Blocked { .. }) => cost,
        (Limit::TokenBucket(bucket), _) => {
            let refund = (cost, expiry, held);
            let (decision, after) = gcra::refund_above(bucket, state, now, refund);
            return (decision, after.into());
        }
        (_, State::Window { hits, .. }) => u64::from(hits).saturating_sub(held),
        _ => cost,
    };
    apply_plain(limit, &state.into(), now, Op::Refund { cost: cost.min(used), expiry })
}

#[cfg(test)]
mod tests;
