//! A window whose hits come back all at once, when it ends: a [`FixedWindow`](super::FixedWindow) or a
//! [`CalendarWindow`](super::CalendarWindow). They differ in how they find that end.

use super::algorithm::WordAlgorithm;
use super::block;
use super::bounds::MAX_HITS;
use super::decision::{Available, Decision, Verdict};
use super::error::LimitError;
use super::kept::Kept;
use super::op::Op;
use super::state::State;

/// A limit whose hits come back all at once.
pub trait Window {
    /// How much two ends of one window may differ, in nanoseconds.
    const SLACK: u64;
    /// Whether a window without hits has an end, too.
    const ENDS_WITHOUT_HITS: bool;

    /// The hits that it allows.
    fn max_hits(&self) -> u32;

    /// The end of a window that opens at `now`.
    fn end_at(&self, now: u64) -> u64;

    /// The end of the stored window, if it is open at `now`. One from the future is brought down, unless the operation settles
    /// a call: other numbers may have made the window.
    fn find_open(&self, stored: &StoredWindow, now: u64, op: Op) -> Option<u64>;

    /// Whether the window with this end is the one of a decision that expires at `expiry`.
    fn is_window_of(&self, end: u64, expiry: u64) -> bool {
        end == expiry
    }

    /// The end of the window that follows one in this state which was reset, or a block, and would end at `end`. None if its end
    /// is another one by itself.
    fn end_after(&self, _state: State, _end: u64) -> Option<u64> {
        None
    }
}

/// A window as it is stored.
pub struct StoredWindow {
    /// The first moment after it.
    pub end: u64,
    /// The hits in it.
    pub hits: u32,
    /// Whether it is what an evicted bucket left. Only its end is known, so no hit is left.
    pub is_inherited: bool,
}

impl StoredWindow {
    #[inline]
    fn new(state: State, max_hits: u32) -> Self {
        match state {
            State::Window { ends_at, hits } => Self { end: ends_at + 1, hits, is_inherited: false },
            other => Self { end: other.expires_at(), hits: max_hits, is_inherited: true },
        }
    }
}

/// The number of hits that a window allows.
///
/// # Errors
///
/// They must be within 1 and [`MAX_HITS`].
pub fn check_hits(max_hits: i64) -> Result<u32, LimitError> {
    let max_hits = u32::try_from(max_hits).ok().filter(|n| (1..=MAX_HITS).contains(n));
    max_hits.ok_or(LimitError::Hits)
}

/// Takes as many of `most` hits as are `left` beyond those to `leave`, but no fewer than `least`: what `take` makes of so many.
#[inline(always)]
pub fn take_up_to<T>(
    most: u64,
    least: u64,
    leave: u64,
    left: u64,
    take: impl Fn(u64) -> (Decision, T),
) -> (Decision, T) {
    let cost = most.min(left.saturating_sub(leave)).max(least);
    match take(cost.saturating_add(leave)) {
        (needed, _) if needed.is_accepted() => take(cost),
        denied => denied,
    }
}

impl<W: Window> WordAlgorithm for W {
    #[inline(always)]
    fn apply<R: Kept>(&self, state: State, now: u64, op: &Op) -> (R, State) {
        let op = *op;
        let (decision, after) = match block::decide(state, now, op, self.max_hits().into()) {
            Some(decided) => decided,
            None => WindowAt::new(self, state, now, op).apply(op),
        };
        (R::of(decision), after)
    }

    #[inline(always)]
    fn is_from_future(&self, state: State, now: u64) -> bool {
        match state.earliest_write_of_block() {
            Some(written) => written > now,
            None => state.expires_at() > self.end_at(now).saturating_add(W::SLACK),
        }
    }

    #[cold]
    fn inherited_state(&self, expires_at: u64, now: u64) -> State {
        State::Window { ends_at: expires_at.min(self.end_at(now)) - 1, hits: self.max_hits() }
    }
}

/// A window at a moment: the one that is open, or one that opens now.
struct WindowAt<'a, W> {
    limit: &'a W,
    state: State,
    now: u64,
    is_open: bool,
    /// The first moment after it.
    end: u64,
    /// The hits in it.
    hits: u32,
    /// The state of a call that changes nothing but an end from the future.
    kept: State,
}

impl<'a, W: Window> WindowAt<'a, W> {
    #[inline(always)]
    fn new(limit: &'a W, state: State, now: u64, op: Op) -> Self {
        let stored = StoredWindow::new(state, limit.max_hits());
        match limit.find_open(&stored, now, op) {
            Some(end) => {
                let hits = stored.hits;
                let kept = if end == stored.end {
                    state
                } else {
                    State::Window { ends_at: end - 1, hits }
                };
                Self { limit, state, now, is_open: true, end, hits, kept }
            }
            None => {
                let end = limit.end_at(now);
                let is_blocked = matches!(state, State::Blocked { .. });
                let after_block = is_blocked.then(|| limit.end_after(state, end)).flatten();
                let end = after_block.unwrap_or(end);
                Self { limit, state, now, is_open: false, end, hits: 0, kept: state }
            }
        }
    }

    /// Applies an operation. A check is one hit; a reservation is a take, without a wait; a start is denied.
    #[inline(always)]
    fn apply(&self, op: Op) -> (Decision, State) {
        match op {
            Op::Take { cost } | Op::Reserve { cost, .. } => self.take(cost),
            Op::Check => self.take(1),
            Op::TakeUpTo { most, least, leave } => {
                take_up_to(most, least, leave, self.left(), |cost| self.take(cost))
            }
            Op::Peek { cost } => {
                let Decision { verdict, retry_at, .. } = self.take(cost).0;
                (Decision { verdict, retry_at, ..self.accept(self.hits) }, self.state)
            }
            Op::Refund { expiry: Some(expiry), .. } | Op::Settle { expiry, .. }
                if !self.is_window_of(expiry) =>
            {
                (self.deny(self.now), self.kept)
            }
            Op::Refund { cost, .. } if self.is_open && cost > 0 => {
                self.with_hits(u64::from(self.hits).saturating_sub(cost))
            }
            Op::Refund { .. } | Op::Settle { cost: 0, .. } => (self.accept(self.hits), self.kept),
            Op::Settle { cost, .. } => self.with_hits(u64::from(self.hits).saturating_add(cost)),
            // A block was decided on above.
            Op::Reset | Op::Block { .. } => self.reset(),
            // Only a state on a server is leased: see `apply_leased`.
            Op::Start { .. } | Op::Lease { .. } | Op::GiveBack { .. } => {
                (self.deny(self.end), self.kept)
            }
        }
    }

    /// Whether this is the window that a call was charged to which is settled, by the call's expiry. If that window has ended or was
    /// reset, nothing changes: the next one is for the calls that begin in it.
    fn is_window_of(&self, expiry: u64) -> bool {
        self.is_open && self.limit.is_window_of(self.end, expiry)
    }

    /// Forgets the hits, or a block. What was charged before is no part of the window that follows.
    #[cold]
    fn reset(&self) -> (Decision, State) {
        let after = match self.state {
            State::Window { .. } if self.is_open => self.limit.end_after(self.state, self.end),
            // Its own end is that of the block.
            State::Blocked { .. } => self.limit.end_after(self.state, self.limit.end_at(self.now)),
            _ => None,
        };
        let end = after.unwrap_or(self.end);
        let expires_at = if W::ENDS_WITHOUT_HITS { end } else { self.now };
        let state = match after {
            Some(end) => State::Window { ends_at: end - 1, hits: 0 },
            None => State::FULL,
        };
        (Decision { expires_at, ..self.accept(0) }, state)
    }

    fn left(&self) -> u64 {
        u64::from(self.limit.max_hits().saturating_sub(self.hits))
    }

    #[inline(always)]
    fn take(&self, cost: u64) -> (Decision, State) {
        match cost {
            0 => (self.accept(self.hits), self.kept),
            _ if cost > self.limit.max_hits().into() => (self.deny(Decision::NEVER), self.kept),
            _ if cost > self.left() => (self.deny(self.end), self.kept),
            _ => {
                let (decision, after) = self.with_hits(u64::from(self.hits) + cost);
                (Decision { taken: cost, ..decision }, after)
            }
        }
    }

    /// The window once it has these hits, or the most that a window can have.
    #[inline(always)]
    fn with_hits(&self, hits: u64) -> (Decision, State) {
        // Fits a u32: at most the most hits.
        let hits = hits.min(MAX_HITS.into()) as u32;
        (self.accept(hits), State::Window { ends_at: self.end - 1, hits })
    }

    #[inline(always)]
    fn accept(&self, hits: u32) -> Decision {
        let has_end = self.is_open || hits > 0 || W::ENDS_WITHOUT_HITS;
        Decision {
            verdict: Verdict::Accepted,
            now: self.now,
            retry_at: self.now,
            // A call may be settled in a window that has ended by the stored time, but not by the call's own.
            expires_at: if has_end { self.end.max(self.now) } else { self.now },
            available: Available::hits(u64::from(self.limit.max_hits().saturating_sub(hits))),
            taken: 0,
            wait: 0,
        }
    }

    fn deny(&self, retry_at: u64) -> Decision {
        Decision { verdict: Verdict::Denied, retry_at, ..self.accept(self.hits) }
    }
}
