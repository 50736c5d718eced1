//! The fixed window: a number of hits in an interval that opens at the first of them.

use super::algorithm::WordAlgorithm;
use super::block;
use super::bounds::MAX_HITS;
use super::decision::{Available, Decision, Verdict};
use super::duration::duration_from_seconds;
use super::error::LimitError;
use super::op::Op;
use super::reply::Reply;
use super::state::State;

/// A fixed window: up to `max_hits` hits in an interval.
///
/// It opens at a client's first hit and lasts for the interval. The first hit after that opens the next
/// window. Unlike the tokens of a bucket, the hits come back all at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FixedWindow {
    max_hits: u32,
    /// Nanoseconds.
    interval: u64,
}

impl FixedWindow {
    /// A window of `max_hits` hits in `interval` seconds.
    ///
    /// # Errors
    ///
    /// The hits must be within 1 and [`MAX_HITS`]; the interval at least a nanosecond and at most
    /// four years.
    ///
    /// # Example
    ///
    /// ```
    /// use token_bucket::limit::FixedWindow;
    ///
    /// assert_eq!(FixedWindow::new(5, 60.0)?.interval(), 60_000_000_000);
    /// # Ok::<(), token_bucket::limit::LimitError>(())
    /// ```
    pub fn new(max_hits: i64, interval: f64) -> Result<Self, LimitError> {
        let max_hits = u32::try_from(max_hits).ok().filter(|n| (1..=MAX_HITS).contains(n));
        let max_hits = max_hits.ok_or(LimitError::Hits)?;
        Ok(Self { max_hits, interval: duration_from_seconds(interval)? })
    }

    /// The hits that it allows.
    pub const fn max_hits(&self) -> u32 {
        self.max_hits
    }

    /// How long it lasts, in nanoseconds.
    pub const fn interval(&self) -> u64 {
        self.interval
    }

    /// The last moment of a window that opens at `now`.
    const fn last_moment(&self, now: u64) -> u64 {
        now + self.interval - 1
    }

    /// The last moment and the hits of the window that is open at `now`, if one is.
    fn find_open(&self, state: State, now: u64, op: Op) -> Option<(u64, u32)> {
        let (ends_at, hits) = stored_window(state, self.max_hits)?;
        // An end from the future is brought down to one interval from now, unless other numbers may have made it.
        let latest = if op.settles() { u64::MAX } else { self.last_moment(now) };
        (now <= ends_at).then_some((ends_at.min(latest), hits))
    }
}

impl WordAlgorithm for FixedWindow {
    #[inline(always)]
    fn apply<R: Reply>(&self, state: State, now: u64, op: &Op) -> (R, State) {
        let op = *op;
        let (decision, after) = match block::decide(state, now, op, self.max_hits.into()) {
            Some(decided) => decided,
            None => self.apply_op(state, now, op),
        };
        (R::of(decision), after)
    }

    #[inline(always)]
    fn is_from_future(&self, state: State, now: u64) -> bool {
        state.expires_at() > now + self.interval
    }

    #[cold]
    fn inherited_state(&self, expires_at: u64, now: u64) -> State {
        State::Window { ends_at: (expires_at - 1).min(self.last_moment(now)), hits: self.max_hits }
    }
}

/// A window at a moment, of a limit whose hits come back all at once.
pub(super) struct WindowAt {
    /// The limit.
    pub max_hits: u32,
    pub now: u64,
    /// The hits of the window, if it is open.
    pub open: Option<u32>,
    /// Its last moment, or that of a window that opens now.
    pub ends_at: u64,
    /// The state of a call that changes nothing.
    pub kept: State,
    /// Whether it ends whether or not there are hits in it.
    pub always_ends: bool,
}

/// The last moment and the hits of the window in this state, if it is one.
pub(super) fn stored_window(state: State, max_hits: u32) -> Option<(u64, u32)> {
    match state {
        State::Window { ends_at, hits } => Some((ends_at, hits)),
        // A state inherited from an evicted bucket. Only its end is known, so no hit is left.
        other => Some((other.expires_at().checked_sub(1)?, max_hits)),
    }
}

impl WindowAt {
    /// Applies an operation, to a `state`. A check is one hit; a reservation is a take, without a wait; a start is
    /// denied.
    ///
    /// A call is settled in the window that it was charged to, whose end is its expiry, as `is_meant` says. If that window has
    /// ended, nothing changes: the next one is for the calls that begin in it.
    #[inline(always)]
    pub fn apply(&self, state: State, op: Op, is_meant: impl Fn(u64) -> bool) -> (Decision, State) {
        let Self { max_hits, now, open, ends_at, kept, always_ends } = *self;
        let hits = open.unwrap_or(0);
        // A call may be settled in a window that has ended by the stored time, but not by the call's own.
        let expires_at = (ends_at + 1).max(now);
        let accept = |hits: u32| Decision {
            verdict: Verdict::Accepted,
            now,
            retry_at: now,
            expires_at: if open.is_some() || hits > 0 || always_ends { expires_at } else { now },
            available: Available::hits(u64::from(max_hits.saturating_sub(hits))),
            taken: 0,
            wait: 0,
        };
        let deny = |retry_at| Decision { verdict: Verdict::Denied, retry_at, ..accept(hits) };
        let limit = u64::from(max_hits);
        let left = limit.saturating_sub(hits.into());
        let take = |cost: u64| match cost {
            0 => (accept(hits), kept),
            _ if cost > limit => (deny(Decision::NEVER), kept),
            _ if cost > left => (deny(ends_at + 1), kept),
            _ => {
                // Fits a u32: the sum is not above the limit.
                let hits = hits + cost as u32;
                (Decision { taken: cost, ..accept(hits) }, State::Window { ends_at, hits })
            }
        };
        match op {
            Op::Take { cost } | Op::Reserve { cost, .. } => take(cost),
            Op::Check => take(1),
            Op::TakeUpTo { most, least, leave } => {
                let cost = most.min(left.saturating_sub(leave)).max(least);
                match take(cost.saturating_add(leave)) {
                    (needed, _) if needed.is_accepted() => take(cost),
                    denied => denied,
                }
            }
            Op::Peek { cost } => {
                let Decision { verdict, retry_at, .. } = take(cost).0;
                (Decision { verdict, retry_at, ..accept(hits) }, state)
            }
            Op::Refund { expiry: Some(expiry), .. } | Op::Settle { expiry, .. }
                if open.is_none() || !is_meant(expiry) =>
            {
                (Decision { verdict: Verdict::Denied, ..accept(hits) }, kept)
            }
            Op::Refund { cost, .. } if open.is_some() && cost > 0 => {
                let hits = u64::from(hits).saturating_sub(cost) as u32;
                (accept(hits), State::Window { ends_at, hits })
            }
            Op::Refund { .. } | Op::Settle { cost: 0, .. } => (accept(hits), kept),
            Op::Settle { cost, .. } => {
                // Fits a u32: at most the most hits.
                let hits = u64::from(hits).saturating_add(cost).min(MAX_HITS.into()) as u32;
                (accept(hits), State::Window { ends_at, hits })
            }
            // A block was decided on above.
            Op::Reset | Op::Block { .. } => {
                let expires_at = if always_ends { ends_at + 1 } else { now };
                (Decision { expires_at, ..accept(0) }, State::FULL)
            }
            Op::Start { .. } => (deny(ends_at + 1), kept),
        }
    }
}

impl FixedWindow {
    #[inline(always)]
    fn apply_op(&self, state: State, now: u64, op: Op) -> (Decision, State) {
        let open = self.find_open(state, now, op);
        let ends_at = open.map_or_else(|| self.last_moment(now), |(ends_at, _)| ends_at);
        let kept = match open {
            Some((ends_at, hits)) if state.expires_at() > ends_at + 1 => {
                State::Window { ends_at, hits }
            }
            _ => state,
        };
        let open = open.map(|(_, hits)| hits);
        let window =
            WindowAt { max_hits: self.max_hits, now, open, ends_at, kept, always_ends: false };
        window.apply(state, op, |expiry| expiry == ends_at + 1)
    }
}

#[cfg(test)]
mod tests;
