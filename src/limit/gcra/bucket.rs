//! A bucket at a moment, and the decisions that every operation ends with.

use crate::bounds::MAX_DEBT;
use crate::decision::{Available, Decision, Verdict};
use crate::emptied::{self, emptied};
use crate::reach::{Debt, debt_of};
use crate::reserved;
use crate::span::{GRAIN, Span, ceil_to_grain};
use crate::state::State;
use crate::token_bucket::TokenBucket;

/// A bucket at a moment: a limit, and a state as the clock lets it be.
pub(super) struct Bucket<'a> {
    pub(super) limit: &'a TokenBucket,
    pub(super) now: u64,
    /// The latest time at which a bucket that owes nothing can be full: one full refill from now.
    pub(super) latest: Span,
    /// The state; without timestamps from the future, unless the operation settles a call.
    pub(super) state: State,
    /// When the bucket is full again; not before now.
    pub(super) full_at: Span,
}

impl<'a> Bucket<'a> {
    #[inline(always)]
    pub(super) fn new(limit: &'a TokenBucket, state: State, now: u64) -> Self {
        let latest = latest(limit, now);
        Self::at(limit, without_future(limit, state, now, latest), now, latest)
    }

    /// The bucket as other numbers may have made it, for an operation that settles a call.
    pub(super) fn as_stored(limit: &'a TokenBucket, state: State, now: u64) -> Self {
        let state = match state {
            State::Window { .. } | State::Blocked { .. } => State::FULL,
            _ => state,
        };
        Self::at(limit, state, now, latest(limit, now))
    }

    #[inline(always)]
    pub(super) fn at(limit: &'a TokenBucket, state: State, now: u64, latest: Span) -> Self {
        let full_at = full_at(limit, state, now).not_before(now);
        Self { limit, now, latest, state, full_at }
    }

    /// What is in the bucket, as the time in which it came back.
    #[inline(always)]
    pub(super) fn available(&self) -> Span {
        self.limit.sub(self.latest, self.full_at)
    }

    #[inline(always)]
    fn expires_at(&self) -> u64 {
        match self.state {
            State::Emptied { .. } => self.full_at.ceil(),
            state => state.expires_at().max(self.now),
        }
    }

    /// Accepts a call that leaves the bucket as it is.
    #[inline(always)]
    pub(super) fn accept(&self) -> Decision {
        Decision {
            verdict: Verdict::Accepted,
            now: self.now,
            retry_at: self.now,
            expires_at: self.expires_at(),
            available: Available::refill(self.available()),
            taken: 0,
            wait: 0,
        }
    }

    /// Denies a call until `retry_at` and leaves the bucket as it is.
    #[inline(always)]
    pub(super) fn deny(&self, retry_at: u64) -> (Decision, State) {
        (Decision { verdict: Verdict::Denied, retry_at, ..self.accept() }, self.state)
    }

    /// Accepts a call that takes `taken` tokens, after which the bucket is full at `full_at`, which is not
    /// after `latest`.
    #[inline(always)]
    pub(super) fn accept_until(&self, full_at: Span, taken: u64) -> (Decision, State) {
        let decision = Decision {
            verdict: Verdict::Accepted,
            now: self.now,
            retry_at: self.now,
            expires_at: full_at.ceil(),
            available: Available::refill(self.limit.sub(self.latest, full_at)),
            taken,
            wait: 0,
        };
        let after = match self.state {
            State::Filling { .. } => State::Filling { full_at },
            _ => self.taken_until(full_at),
        };
        (decision, after)
    }

    /// The state once a call that was accepted has made the bucket full at `full_at`.
    #[inline(never)]
    fn taken_until(&self, full_at: Span) -> State {
        let after = || match self.ahead() {
            Some(ahead) => reserved::reserved(self.limit, full_at, full_at, ahead),
            None => State::Filling { full_at },
        };
        self.charged_until(full_at).unwrap_or_else(after)
    }

    /// How far ahead the bucket may lie for what was reserved, until it is full: by shorter numbers it may still be owed.
    pub(super) fn ahead(&self) -> Option<u8> {
        match self.state {
            State::Reserved { ahead, .. } if self.full_at > Span::from_ns(self.now) => Some(ahead),
            _ => None,
        }
    }

    /// The state of a bucket that other numbers have made, once a call has made it full at `full_at`. None if no other numbers
    /// have, or if it is full by them, too.
    #[inline(always)]
    pub(super) fn charged_until(&self, full_at: Span) -> Option<State> {
        match self.state {
            State::Emptied { at, reach } if self.is_emptied() => {
                let times = (self.full_at, full_at);
                Some(emptied::charged(self.limit, (at, reach), self.now, times))
            }
            _ => None,
        }
    }

    /// The first moment at which a call is accepted that would make the bucket full at `full_at`:
    /// one full refill before that, or when all is forgiven.
    #[inline(always)]
    pub(super) fn affordable_at(&self, full_at: Span) -> u64 {
        let paid = self.limit.sub(full_at, self.limit.full).ceil();
        match self.state {
            State::Overdrawn { forgiven_at, .. } => paid.min(forgiven_at),
            _ => paid,
        }
    }

    /// The longest debt that a reservation may make, in nanoseconds: one refill beyond what a bucket that other numbers have made owes.
    pub(super) fn longest_debt(&self) -> u64 {
        match self.state {
            State::Emptied { reach, .. } if self.is_emptied() => {
                debt_of(reach).span(self.limit) + self.limit.full.ns
            }
            _ => MAX_DEBT,
        }
    }

    /// Whether other numbers have made the bucket, by which it is not full yet.
    #[inline(always)]
    fn is_emptied(&self) -> bool {
        matches!(self.state, State::Emptied { .. }) && self.state.expires_at() > self.now
    }

    /// Whether the bucket owes what no later call forgives: reservations, and what calls cost beyond their estimates. A bucket that
    /// other numbers have made may owe them, too.
    pub(super) fn has_lasting_debt(&self) -> bool {
        match self.state {
            State::Reserved { .. } => self.full_at > self.latest,
            _ => self.is_emptied(),
        }
    }

    /// Denies a check that has left the bucket in this state.
    pub(super) fn deny_charged(&self, state: State) -> (Decision, State) {
        let charged = Bucket::at(self.limit, state, self.now, self.latest);
        let retry_at =
            charged.affordable_at(charged.limit.add(charged.full_at, self.limit.interval));
        (Decision { verdict: Verdict::Denied, retry_at, ..charged.accept() }, state)
    }
}

/// The earliest time that the clock can have shown when it wrote this state, in nanoseconds,
/// rounded up by less than a microsecond. Meaningless for a state of another limit.
#[inline]
pub fn earliest_write(limit: &TokenBucket, state: State) -> u64 {
    let furthest = match state {
        State::Filling { full_at } => full_at.ceil(),
        State::Reserved { full_at, fraction, ahead } => {
            (full_at + u64::from(fraction > 0)).saturating_sub(limit.refills(ahead))
        }
        State::Overdrawn { forgiven_at, .. } => forgiven_at,
        State::Emptied { at, reach } if !debt_of(reach).is_ahead => return at,
        // Debts may have moved it one refill beyond the clock.
        State::Emptied { at, .. } => at,
        _ => return state.earliest_write_of_block().unwrap_or(0),
    };
    furthest.saturating_sub(limit.full.ns)
}

/// The latest time at which a bucket that owes nothing can be full.
#[inline(always)]
pub(super) fn latest(limit: &TokenBucket, now: u64) -> Span {
    limit.add(Span::from_ns(now), limit.full)
}

/// A state as this limit finds it at `now`: a bucket that is further from full than it allows is empty now. `latest` is one full
/// refill from now. A state of another algorithm becomes a full bucket.
#[inline(always)]
fn without_future(limit: &TokenBucket, state: State, now: u64, latest: Span) -> State {
    match state {
        State::Filling { full_at } if full_at > latest => {
            emptied(now, Debt::default(), full_at.ceil())
        }
        State::Reserved { full_at, ahead, .. } => {
            match full_at > latest.ceil() + limit.refills(ahead) {
                true => emptied(now, Debt::of(ahead), state.expires_at()),
                false => state,
            }
        }
        State::Overdrawn { forgiven_at, .. } if forgiven_at > ceil_to_grain(latest.ceil()) => {
            emptied(now, Debt::default(), forgiven_at)
        }
        State::Emptied { at, reach } if at > latest_empty(reach, now, latest) => {
            emptied(now, debt_of(reach).with_time_cut(), state.expires_at())
        }
        State::Window { .. } | State::Blocked { .. } => State::FULL,
        _ => state,
    }
}

/// The latest time at which a bucket with this reach can have been empty: one refill from now, if it may lie ahead.
fn latest_empty(reach: u32, now: u64, latest: Span) -> u64 {
    if debt_of(reach).is_ahead { ceil_to_grain(latest.ceil()) } else { ceil_to_grain(now) }
}

/// When a bucket in this state is full, its debt paid. A debt that is forgiven by `now` counts
/// for nothing.
#[inline(always)]
fn full_at(limit: &TokenBucket, state: State, now: u64) -> Span {
    match state {
        State::Filling { full_at } => limit.add(full_at, Span::default()),
        State::Reserved { full_at, fraction, .. } => reserved::full_at(limit, full_at, fraction),
        State::Overdrawn { forgiven_at, debt } if forgiven_at > now => {
            // Saturates for what no clock can have written, which stays uncut where a call is settled.
            Span::from_ns(forgiven_at.saturating_add(debt.min(MAX_DEBT)))
        }
        State::Emptied { at, reach } => emptied::full_at(limit, at, reach),
        // A debt that is forgiven, or a state of another algorithm.
        _ => Span::default(),
    }
}

/// The state of a bucket with a debt that is forgiven at `forgiven_at`, and else paid at `full_at`.
pub(super) fn overdrawn_until(full_at: Span, forgiven_at: u64) -> State {
    let debt = ceil_to_grain(full_at.ceil().saturating_sub(forgiven_at));
    State::Overdrawn { forgiven_at, debt: debt.min(MAX_DEBT - GRAIN) }
}
