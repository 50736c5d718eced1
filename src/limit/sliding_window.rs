//! The sliding window: never more hits than its limit in any stretch of its interval.
//!
//! A hit counts for one interval, and is kept as the time at which it leaves the window. A call is accepted
//! if enough of the hits before it have left.
//!
//! A window of L hits is L [`places`](Place) of one hit each: a store that cannot keep a list keeps the
//! places.

use super::algorithm::Algorithm;
use super::block;
use super::bounds::{MAX_REFILL, MAX_SLIDING_HITS};
use super::decision::Decision;
use super::error::LimitError;
use super::op::Op;
use super::span::{SECOND, Span};
use super::state::State;
use super::stored_state::{Hits, StoredState};

/// A sliding window: up to `max_hits` hits in any stretch of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlidingWindow {
    max_hits: u32,
    /// Nanoseconds.
    interval: u64,
}

impl SlidingWindow {
    /// A window of `max_hits` hits in any `interval` seconds.
    ///
    /// # Errors
    ///
    /// The hits must be within 1 and [`MAX_SLIDING_HITS`]; the interval at least a nanosecond and at most
    /// four years.
    ///
    /// # Example
    ///
    /// ```
    /// use token_bucket::limit::SlidingWindow;
    ///
    /// assert_eq!(SlidingWindow::new(5, 900.0)?.interval(), 900_000_000_000);
    /// # Ok::<(), token_bucket::limit::LimitError>(())
    /// ```
    pub fn new(max_hits: i64, interval: f64) -> Result<Self, LimitError> {
        let max_hits = u32::try_from(max_hits).ok().filter(|n| (1..=MAX_SLIDING_HITS).contains(n));
        let max_hits = max_hits.ok_or(LimitError::SlidingHits)?;
        let ns = (interval * SECOND as f64).round();
        if !(ns >= 1.0 && ns <= MAX_REFILL as f64) {
            return Err(LimitError::Interval);
        }
        Ok(Self { max_hits, interval: ns as u64 })
    }

    /// The hits that it allows.
    pub const fn max_hits(&self) -> u32 {
        self.max_hits
    }

    /// How long a hit counts, in nanoseconds.
    pub const fn interval(&self) -> u64 {
        self.interval
    }

    /// One of the places of which the window consists.
    pub const fn place(&self) -> Place {
        Place { interval: self.interval }
    }

    /// The denial of a window that nothing is known of: no hit is left for an interval.
    pub fn full(&self, now: u64) -> Decision {
        let place = State::Filling { full_at: Span::from_ns(now + self.interval) };
        self.place().apply(place, now, &Op::Peek { cost: 1 }).0
    }

    /// Whether an operation takes hits if enough of them are left.
    pub const fn takes(&self, op: Op) -> bool {
        !matches!(op, Op::Peek { .. } | Op::Refund { .. } | Op::Reset | Op::Block { .. })
    }

    /// Applies an operation to a state. A check is one hit; a reservation is a take, without a wait; a start
    /// is denied.
    pub fn apply(&self, state: &StoredState, now: u64, op: Op) -> (Decision, StoredState) {
        let word = state.word();
        if let Some((decision, after)) = block::decide(word, now, op, self.max_hits.into()) {
            return (decision, after.into());
        }
        let moment = Moment::new(self, state, now);
        let taken = match op {
            Op::Take { cost } | Op::Reserve { cost, .. } => moment.take(cost),
            Op::Check => moment.take(1),
            Op::TakeUpTo { most, least } => moment.take(most.min(moment.left()).max(least)),
            Op::Peek { cost } => {
                let Decision { accepted, retry_at, .. } = moment.take(cost).0;
                let peek = Decision { accepted, retry_at, ..moment.accept(0) };
                return (peek, state.clone());
            }
            Op::Refund { cost, expiry } => moment.refund(cost, expiry),
            // A block was decided on above.
            Op::Reset | Op::Block { .. } => {
                let full = Moment::new(self, &StoredState::FULL, now).accept(0);
                return (full, StoredState::FULL);
            }
            Op::Start { .. } => (Decision { accepted: false, ..moment.accept(0) }, None),
        };
        match taken {
            (decision, Some(hits)) if hits.is_empty() => (decision, StoredState::FULL),
            (decision, Some(hits)) => (decision, StoredState::Hits(Hits::from_sorted(hits))),
            // Hits from the future are brought down to one interval from now.
            (decision, None) if moment.is_corrected => {
                (decision, StoredState::Hits(Hits::from_sorted(moment.leave_at)))
            }
            (decision, None) => (decision, state.clone()),
        }
    }
}

/// A window at a moment.
struct Moment<'a> {
    window: &'a SlidingWindow,
    now: u64,
    /// When each hit that has not left yet will leave: at most one interval from now, the earliest first.
    leave_at: Vec<u64>,
    /// Whether a hit was from the future, left by a clock that has gone back since.
    is_corrected: bool,
}

/// A decision, and the hits to remember; None if they stay as they are.
type Decided = (Decision, Option<Vec<u64>>);

impl<'a> Moment<'a> {
    fn new(window: &'a SlidingWindow, state: &StoredState, now: u64) -> Self {
        let hits = if let StoredState::Hits(hits) = state { hits.as_slice() } else { &[] };
        let latest = now + window.interval;
        let leave_at = hits.iter().filter(|time| **time > now).map(|time| (*time).min(latest));
        let is_corrected = hits.last().is_some_and(|last| *last > latest);
        Self { window, now, leave_at: leave_at.collect(), is_corrected }
    }

    /// The hits that are left.
    fn left(&self) -> u64 {
        u64::from(self.window.max_hits).saturating_sub(self.leave_at.len() as u64)
    }

    /// Accepts a call that takes this many hits.
    fn accept(&self, taken: u64) -> Decision {
        let expires_at = match taken {
            0 => self.leave_at.last().copied().unwrap_or(self.now),
            _ => self.now + self.window.interval,
        };
        Decision {
            accepted: true,
            is_blocked: false,
            now: self.now,
            retry_at: self.now,
            expires_at,
            available: Span::from_ns(self.left().saturating_sub(taken)),
            taken,
            wait: 0,
        }
    }

    fn take(&self, cost: u64) -> Decided {
        let limit = u64::from(self.window.max_hits);
        if cost == 0 {
            return (self.accept(0), None);
        }
        if cost > self.left() {
            let retry_at = match cost {
                _ if cost > limit => Decision::NEVER,
                // So many hits have to leave. There are enough: more than are left are asked for.
                _ => {
                    let too_many = self.leave_at.len() as u64 + cost - limit;
                    self.leave_at.get(too_many as usize - 1).copied().unwrap_or(self.now)
                }
            };
            return (Decision { accepted: false, retry_at, ..self.accept(0) }, None);
        }
        let decision = self.accept(cost);
        let mut leave_at = self.leave_at.clone();
        leave_at.extend((0..cost).map(|_| decision.expires_at));
        (decision, Some(leave_at))
    }

    /// Gives hits back: those that leave at `expiry`, or without it the latest ones.
    fn refund(&self, cost: u64, expiry: Option<u64>) -> Decided {
        let is_refunded = |time: &u64| expiry.is_none_or(|expiry| *time == expiry);
        let mut rest = cost;
        let mut kept: Vec<u64> = self
            .leave_at
            .iter()
            .rev()
            .copied()
            .filter(|time| {
                let goes = rest > 0 && is_refunded(time);
                rest -= u64::from(goes);
                !goes
            })
            .collect();
        kept.reverse();
        let is_accepted = expiry.is_none() || rest < cost;
        let changed = rest < cost;
        let after = Moment { leave_at: kept, ..*self };
        let decision = Decision { accepted: is_accepted, ..after.accept(0) };
        (decision, changed.then_some(after.leave_at))
    }
}

/// A place of a sliding window: room for one hit, which stays for an interval.
///
/// Its state is that of a bucket with one token, which is full again when the hit leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Nanoseconds.
    interval: u64,
}

impl Place {
    /// When the hit in this state leaves. Not after now if there is none.
    #[inline(always)]
    pub const fn leaves_at(state: State) -> u64 {
        match state {
            State::Filling { full_at } => full_at.ns,
            other => other.expires_at(),
        }
    }
}

impl Algorithm for Place {
    /// Takes one hit, gives it back, or resets or blocks the place. A take of no hit remembers what a peek finds.
    /// All other operations are peeks.
    #[inline(always)]
    fn apply<A: From<Decision>>(&self, state: State, now: u64, op: &Op) -> (A, State) {
        if let Some((decision, after)) = block::decide(state, now, *op, 1) {
            return (decision.into(), after);
        }
        let latest = now + self.interval;
        let leaves_at = Self::leaves_at(state).min(latest);
        let is_taken = leaves_at > now;
        let decision = Decision {
            accepted: !is_taken,
            is_blocked: false,
            now,
            retry_at: if is_taken { leaves_at } else { now },
            expires_at: leaves_at.max(now),
            available: Span::from_ns(u64::from(!is_taken)),
            taken: 0,
            wait: 0,
        };
        let hit_until = |time| State::Filling { full_at: Span::from_ns(time) };
        let (decision, after) = match *op {
            Op::Take { cost: 1.. } if !is_taken => {
                let (expires_at, available) = (latest, Span::default());
                (Decision { expires_at, available, taken: 1, ..decision }, hit_until(latest))
            }
            Op::Take { .. } if is_taken => (decision, hit_until(leaves_at)),
            Op::Refund { expiry, .. } => {
                let goes = is_taken && expiry.is_none_or(|expiry| expiry == leaves_at);
                (Decision { accepted: goes, ..decision }, if goes { State::FULL } else { state })
            }
            Op::Reset => (Decision { accepted: true, ..decision }, State::FULL),
            _ => (decision, state),
        };
        (decision.into(), after)
    }

    #[inline(always)]
    fn is_from_future(&self, state: State, now: u64) -> bool {
        Self::leaves_at(state) > now + self.interval
    }

    #[cold]
    fn inherited_state(&self, expires_at: u64, now: u64) -> State {
        State::Filling { full_at: Span::from_ns(expires_at.min(now + self.interval)) }
    }

    #[cold]
    fn takes(&self, op: Op) -> bool {
        matches!(op, Op::Take { .. })
    }
}

#[cfg(test)]
mod tests;
