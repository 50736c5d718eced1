//! A limit of any kind, and the function that decides under it.

use super::algorithm::WordAlgorithm;
use super::calendar_window::{self, CalendarWindow};
use super::decision::{Available, Decision};
use super::fixed_window::FixedWindow;
use super::gcra;
use super::op::Op;
use super::sliding_window::SlidingWindow;
use super::state::State;
use super::stored_state::StoredState;
use super::token_bucket::TokenBucket;
use super::window::Window;
use std::mem::discriminant;

/// A limit: an algorithm and its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// Refills continuously. A leaky bucket is the same limit: its level is what a token bucket
    /// lacks.
    TokenBucket(TokenBucket),
    /// Comes back all at once.
    FixedWindow(FixedWindow),
    /// Comes back all at once, at a boundary of the calendar.
    CalendarWindow(CalendarWindow),
    /// Never more than its hits in any stretch of its interval.
    SlidingWindow(SlidingWindow),
}

impl From<TokenBucket> for Limit {
    fn from(limit: TokenBucket) -> Self {
        Self::TokenBucket(limit)
    }
}

impl From<FixedWindow> for Limit {
    fn from(limit: FixedWindow) -> Self {
        Self::FixedWindow(limit)
    }
}

impl From<CalendarWindow> for Limit {
    fn from(limit: CalendarWindow) -> Self {
        Self::CalendarWindow(limit)
    }
}

impl From<SlidingWindow> for Limit {
    fn from(limit: SlidingWindow) -> Self {
        Self::SlidingWindow(limit)
    }
}

impl Limit {
    /// How much the limit allows at once: tokens or hits.
    pub fn capacity(&self) -> u64 {
        match self {
            Self::TokenBucket(limit) => limit.capacity(),
            Self::FixedWindow(window) => window.max_hits().into(),
            Self::CalendarWindow(window) => window.max_hits().into(),
            Self::SlidingWindow(window) => window.max_hits().into(),
        }
    }

    /// The whole tokens, or the hits, that are left after a decision; never below zero.
    pub fn remaining(&self, decision: &Decision) -> u64 {
        match self {
            Self::TokenBucket(limit) => limit.tokens_in(decision.available.refill_time()),
            Self::FixedWindow(_) | Self::CalendarWindow(_) | Self::SlidingWindow(_) => {
                decision.available.count_hits()
            }
        }
    }

    /// After an accepted call: nanoseconds until one token or hit more can be used than can now, also if all of these are
    /// used now. Calls that leave `leave` can use those that are [left](Self::remaining) beyond it.
    ///
    /// A sliding window with fewer hits left knows when its last hit leaves, and no earlier moment.
    pub fn more_after(&self, decision: &Decision, leave: u64) -> u64 {
        let left = self.remaining(decision);
        let is_full = left == self.capacity();
        match self {
            Self::TokenBucket(limit) => limit.more_after(decision, leave),
            Self::SlidingWindow(_) if left < leave => {
                decision.expires_at.saturating_sub(decision.now)
            }
            Self::FixedWindow(_) | Self::SlidingWindow(_) if is_full => self.window(),
            Self::FixedWindow(_) | Self::CalendarWindow(_) => {
                decision.expires_at.saturating_sub(decision.now)
            }
            Self::SlidingWindow(_) => decision.retry_at.saturating_sub(decision.now),
        }
    }

    /// The decision if so much more were left, at most the capacity.
    #[must_use]
    pub fn with_more(&self, decision: Decision, more: u64) -> Decision {
        match self {
            Self::TokenBucket(limit) => limit.with_more(decision, more),
            _ => {
                let hits = self.remaining(&decision).saturating_add(more).min(self.capacity());
                Decision { available: Available::hits(hits), ..decision }
            }
        }
    }

    /// Whether both limits are of one algorithm, so that they may share a state.
    pub fn is_of_same_kind(&self, other: &Self) -> bool {
        discriminant(self) == discriminant(other)
    }

    /// The time in which the limit allows its capacity, in nanoseconds, rounded up: a full refill, or the
    /// window.
    pub fn window(&self) -> u64 {
        match self {
            Self::TokenBucket(limit) => limit.refill_time().ceil(),
            Self::FixedWindow(window) => window.interval(),
            Self::CalendarWindow(window) => window.length(),
            Self::SlidingWindow(window) => window.interval(),
        }
    }

    /// Whether the state of a decision may have had a time from the future: it ends one interval from now or later. A calendar
    /// window's ends at the calendar's, so there each one with hits may have had one.
    pub fn may_be_corrected(&self, decision: &Decision) -> bool {
        match self {
            Self::CalendarWindow(_) => self.remaining(decision) < self.capacity(),
            _ => decision.expires_at >= decision.now.saturating_add(self.window()),
        }
    }

    /// Whether an operation takes tokens or hits if enough of them are there.
    pub fn takes(&self, op: Op) -> bool {
        match self {
            Self::TokenBucket(limit) => limit.takes(op),
            Self::FixedWindow(window) => window.takes(op),
            Self::CalendarWindow(window) => window.takes(op),
            Self::SlidingWindow(_) => op.takes_hits(),
        }
    }

    /// The limit by this host's clock, which counts from boot; of a calendar window the ends, which are given by the
    /// time of day, change.
    #[must_use]
    pub fn on_this_host(&self, time_of_day_ahead: u64) -> Self {
        match self {
            Self::CalendarWindow(window) => window.by_clock_behind(time_of_day_ahead).into(),
            other => *other,
        }
    }

    /// The earliest time that the clock can have shown when it wrote this state, in nanoseconds,
    /// rounded up by less than a microsecond. Meaningless for a state of another limit.
    pub fn earliest_write(&self, state: &StoredState) -> u64 {
        if let Some(written) = state.word().earliest_write_of_block() {
            return written;
        }
        match (self, state.word()) {
            (Self::TokenBucket(limit), word) => gcra::earliest_write(limit, word),
            (Self::FixedWindow(window), State::Window { ends_at, .. }) => {
                (ends_at + 1).saturating_sub(window.interval())
            }
            (Self::CalendarWindow(window), State::Window { ends_at, .. }) => {
                calendar_window::earliest_write(window, ends_at)
            }
            (Self::SlidingWindow(window), _) if matches!(state, StoredState::Hits(_)) => {
                state.expires_at().saturating_sub(window.interval())
            }
            _ => 0,
        }
    }
}

/// Applies an operation to a state of which no host holds anything. See [`apply`](super::apply).
#[inline(always)]
pub fn apply_plain(
    limit: &Limit,
    state: &StoredState,
    now: u64,
    op: Op,
) -> (Decision, StoredState) {
    let (decision, after) = match limit {
        Limit::TokenBucket(limit) => limit.apply(state.word(), now, &op),
        Limit::FixedWindow(window) => window.apply(state.word(), now, &op),
        Limit::CalendarWindow(window) => window.apply(state.word(), now, &op),
        Limit::SlidingWindow(window) => return window.apply(state, now, op),
    };
    (decision, StoredState::Word(after))
}

#[cfg(test)]
mod tests;
