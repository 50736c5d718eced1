//! The sliding window: never more hits than its limit in any stretch of its interval.
//!
//! A hit counts for one interval, and is kept as the time at which it leaves the window. A call is accepted
//! if enough of the hits before it have left.
//!
//! A window of L hits is L [`places`](Place) of one hit each: a store that cannot keep a list keeps the
//! places.

use super::algorithm::WordAlgorithm;
use super::block;
use super::bounds::MAX_SLIDING_HITS;
use super::decision::{Available, Decision, Verdict};
use super::duration::duration_from_seconds;
use super::error::LimitError;
use super::kept::Kept;
use super::op::Op;
use super::span::Span;
use super::state::State;
use super::stored_state::{Hits, StoredState};
use super::window::take_up_to;

/// A sliding window: up to `max_hits` hits in any stretch of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// use token_bucket_limit::SlidingWindow;
    ///
    /// assert_eq!(SlidingWindow::new(5, 900.0)?.interval(), 900_000_000_000);
    /// # Ok::<(), token_bucket_limit::LimitError>(())
    /// ```
    pub fn new(max_hits: i64, interval: f64) -> Result<Self, LimitError> {
        let max_hits = u32::try_from(max_hits).ok().filter(|n| (1..=MAX_SLIDING_HITS).contains(n));
        let max_hits = max_hits.ok_or(LimitError::SlidingHits)?;
        Ok(Self { max_hits, interval: duration_from_seconds(interval)? })
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

    /// Applies an operation to a state. A check is one hit; a reservation is a take, without a wait; a start
    /// is denied.
    pub fn apply(&self, state: &StoredState, now: u64, op: Op) -> (Decision, StoredState) {
        let word = state.word();
        if let Some((decision, after)) = block::decide(word, now, op, self.max_hits.into()) {
            return (decision, after.into());
        }
        // Other numbers may have taken the hits that a call is settled among.
        let latest = if op.settles() { u64::MAX } else { now + self.interval };
        let hits = LiveHits::new(self, state, now, latest);
        let decided = match op {
            Op::Take { cost } | Op::Reserve { cost, .. } => hits.take(cost),
            Op::Check => hits.take(1),
            Op::TakeUpTo { most, least, leave } => {
                take_up_to(most, least, leave, hits.left(), |cost| hits.take(cost))
            }
            Op::Peek { cost } => {
                let Decision { verdict, retry_at, .. } = hits.take(cost).0;
                let peek = Decision { verdict, retry_at, ..hits.decision(0) };
                return (peek, state.clone());
            }
            Op::Refund { cost, expiry } => hits.refund(cost, expiry),
            Op::Settle { cost, .. } => hits.take(cost.min(hits.left())),
            // A block was decided on above.
            Op::Reset | Op::Block { .. } => {
                let full = LiveHits::new(self, &StoredState::FULL, now, latest).decision(0);
                return (full, StoredState::FULL);
            }
            // It has no leases.
            Op::Start { .. } | Op::Lease { .. } | Op::GiveBack { .. } => {
                (Decision { verdict: Verdict::Denied, ..hits.decision(0) }, None)
            }
        };
        match decided {
            (decision, Some(expiries)) if expiries.is_empty() => (decision, StoredState::FULL),
            (decision, Some(expiries)) => {
                (decision, StoredState::Hits(Hits::from_sorted(expiries)))
            }
            // Hits from the future are brought down to one interval from now.
            (decision, None) if hits.is_corrected => {
                (decision, StoredState::Hits(Hits::from_sorted(hits.expiries)))
            }
            (decision, None) => (decision, state.clone()),
        }
    }
}

/// The hits that count at a moment.
struct LiveHits<'a> {
    window: &'a SlidingWindow,
    now: u64,
    /// When each hit that has not left yet will leave, the earliest first.
    expiries: Vec<u64>,
    /// Whether a hit was from the future, left by a clock that has gone back since.
    is_corrected: bool,
}

/// A decision, and the hits to remember; None if they stay as they are.
type Decided = (Decision, Option<Vec<u64>>);

impl<'a> LiveHits<'a> {
    /// Hits that leave after `latest` are brought down to it.
    fn new(window: &'a SlidingWindow, state: &StoredState, now: u64, latest: u64) -> Self {
        let hits = if let StoredState::Hits(hits) = state { hits.as_slice() } else { &[] };
        let expiries = hits.iter().filter(|time| **time > now).map(|time| (*time).min(latest));
        let is_corrected = hits.last().is_some_and(|last| *last > latest);
        Self { window, now, expiries: expiries.collect(), is_corrected }
    }

    /// The hits that are left.
    fn left(&self) -> u64 {
        u64::from(self.window.max_hits).saturating_sub(self.expiries.len() as u64)
    }

    /// The decision on a call that takes this many hits. It is accepted.
    fn decision(&self, taken: u64) -> Decision {
        let expires_at = match taken {
            0 => self.expiries.last().copied().unwrap_or(self.now),
            _ => self.now + self.window.interval,
        };
        let first_leaves_at = self.expiries.first().copied();
        Decision {
            verdict: Verdict::Accepted,
            now: self.now,
            retry_at: first_leaves_at.map_or(expires_at, |first| first.min(expires_at)),
            expires_at,
            available: Available::hits(self.left().saturating_sub(taken)),
            taken,
            wait: 0,
        }
    }

    fn take(&self, cost: u64) -> Decided {
        let limit = u64::from(self.window.max_hits);
        if cost == 0 {
            return (self.decision(0), None);
        }
        if cost > self.left() {
            let retry_at = match cost {
                _ if cost > limit => Decision::NEVER,
                // So many hits have to leave. There are enough: more than are left are asked for.
                _ => {
                    let too_many = self.expiries.len() as u64 + cost - limit;
                    self.expiries.get(too_many as usize - 1).copied().unwrap_or(self.now)
                }
            };
            return (Decision { verdict: Verdict::Denied, retry_at, ..self.decision(0) }, None);
        }
        let decision = self.decision(cost);
        let mut expiries = self.expiries.clone();
        expiries.extend((0..cost).map(|_| decision.expires_at));
        // Hits of a longer interval leave later.
        expiries.sort_unstable();
        (decision, Some(expiries))
    }

    /// Gives hits back: those that leave at `expiry`, or without it the latest ones.
    fn refund(&self, cost: u64, expiry: Option<u64>) -> Decided {
        let is_meant = |time: &u64| expiry.is_none_or(|expiry| *time == expiry);
        let mut rest = cost;
        let mut kept = self.expiries.clone();
        // From the last on: of hits that leave at one time it does not matter which goes.
        for i in (0..kept.len()).rev() {
            if rest > 0 && kept.get(i).is_some_and(is_meant) {
                kept.remove(i);
                rest -= 1;
            }
        }
        let has_removed = rest < cost;
        let after = LiveHits { expiries: kept, ..*self };
        let accepted = expiry.is_none() || has_removed;
        let decision = Decision { verdict: Verdict::of(accepted), ..after.decision(0) };
        (decision, has_removed.then_some(after.expiries))
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

impl WordAlgorithm for Place {
    /// Takes one hit, gives it back, or resets or blocks the place. A start is denied, and has the place remembered if
    /// it is taken; a hit from the future is brought down to one interval from now. All other operations are peeks.
    #[inline(always)]
    fn apply<R: Kept>(&self, state: State, now: u64, op: &Op) -> (R, State) {
        if let Some((decision, after)) = block::decide(state, now, *op, 1) {
            return (R::of(decision), after);
        }
        let latest = now + self.interval;
        let stored = Self::leaves_at(state);
        let leaves_at = stored.min(latest);
        let is_taken = leaves_at > now;
        let decision = Decision {
            verdict: Verdict::of(!is_taken),
            now,
            retry_at: if is_taken { leaves_at } else { now },
            expires_at: leaves_at.max(now),
            available: Available::hits(u64::from(!is_taken)),
            taken: 0,
            wait: 0,
        };
        let hit_until = |time| State::Filling { full_at: Span::from_ns(time) };
        let (decision, after) = match *op {
            Op::Take { .. } if !is_taken => {
                let (expires_at, available) = (latest, Available::NOTHING);
                (Decision { expires_at, available, taken: 1, ..decision }, hit_until(latest))
            }
            Op::Take { .. } | Op::Start { .. } if is_taken => (decision, hit_until(leaves_at)),
            Op::Refund { expiry, .. } => {
                // Not as it was brought down: a hit of a longer interval is another one.
                let goes = is_taken && expiry.is_none_or(|expiry| expiry == stored);
                (
                    Decision { verdict: Verdict::of(goes), ..decision },
                    if goes { State::FULL } else { state },
                )
            }
            Op::Reset => (Decision { verdict: Verdict::Accepted, ..decision }, State::FULL),
            _ => (decision, state),
        };
        (R::of(decision), after)
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
        matches!(op, Op::Take { .. } | Op::Start { .. })
    }
}

#[cfg(test)]
mod tests;
