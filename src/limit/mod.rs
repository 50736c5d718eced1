//! The limits: pure arithmetic on a state, a time and an operation.
//!
//! Nothing in here reads a clock, does I/O or knows PHP. [`apply`] takes what a
//! store remembers of a bucket and answers with a [`Decision`] and with what the
//! store has to remember next. Stores that compare and swap call it in a loop;
//! a store that computes on its server carries a port that tests hold to it.
//!
//! The token bucket is kept as a GCRA (ITU-T I.371, "generic cell rate
//! algorithm"): not as a number of tokens, but as the time at which the bucket is
//! full again. A token is worth a fixed span of time, so taking one moves that time
//! ahead, waiting lets it come nearer, and no clean-up ever has to run.

mod decision;
mod fixed_window;
mod interval;
mod span;
mod state;
mod token_bucket;

pub use decision::Decision;
pub use fixed_window::{FixedWindow, MAX_HITS};
pub use span::{GRAIN, MAX_NOW, MAX_REFILL, SECOND, Span};
pub use state::State;
pub use token_bucket::{LimitError, MAX_CAPACITY, MAX_RATE, Op, TokenBucket};

/// A limit: an algorithm and its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Refills continuously. A leaky bucket is the same, told from its other side: its level is
    /// what is missing.
    TokenBucket(TokenBucket),
    /// Comes back all at once.
    FixedWindow(FixedWindow),
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

impl Limit {
    /// How much it allows at once: tokens or hits.
    pub fn capacity(&self) -> u64 {
        match self {
            Self::TokenBucket(limit) => limit.capacity(),
            Self::FixedWindow(window) => window.limit().into(),
        }
    }

    /// Whole tokens, or hits, that are left after a decision; never below zero.
    pub fn remaining(&self, decision: &Decision) -> u64 {
        match self {
            Self::TokenBucket(limit) => limit.tokens_in(decision.available),
            Self::FixedWindow(_) => decision.available.ns,
        }
    }

    /// Whether an operation takes something, if that is there.
    pub fn takes(&self, op: Op) -> bool {
        match self {
            Self::TokenBucket(limit) => limit.takes(op),
            Self::FixedWindow(window) => window.takes(op),
        }
    }

    /// What the clock of who wrote this state must have shown at least, in nanoseconds, rounded up
    /// to less than a microsecond more. Under another limit it may be anything.
    pub fn written_at(&self, state: State) -> u64 {
        match (self, state) {
            (Self::TokenBucket(limit), state) => limit.written_at(state),
            (Self::FixedWindow(window), State::Window { ends_at, .. }) => {
                ends_at.saturating_sub(window.interval())
            }
            (Self::FixedWindow(_), _) => 0,
        }
    }
}

/// What an algorithm does with a state: the heart of [`apply`], for who knows which it is.
pub trait Algorithm {
    /// As [`apply`].
    fn apply(&self, state: State, now: u64, op: Op) -> (Decision, State);

    /// Whether a state may be of later than `now`; under another limit it may be anything.
    fn is_from_future(&self, state: State, now: u64) -> bool;

    /// What a newcomer starts with that pushes out a bucket in use, as good as new at
    /// `expires_at`: as much as is left in that, but not less than nothing. Of a window that is
    /// not known: nothing is left.
    fn inherited_state(&self, expires_at: u64, now: u64) -> State;

    /// Whether an operation takes something, if that is there.
    fn takes(&self, op: Op) -> bool;
}

/// Applies an operation to a bucket: what to answer, and what to remember.
///
/// `now` is the store's clock in nanoseconds, at most [`MAX_NOW`]. A
/// state equal to the one passed in need not be written. A denied call changes nothing,
/// but for one thing: a time that no clock could have written, left by a clock that has
/// gone backwards since, is brought down to one full refill from now.
///
/// # Example
///
/// ```
/// use token_bucket::limit::{Limit, Op, State, TokenBucket, apply};
///
/// let limit = Limit::from(TokenBucket::per_second(1, 1.0)?);
/// let (first, state) = apply(&limit, State::FULL, 5_000, Op::Take { cost: 1 });
/// assert!(first.accepted);
/// let (second, _) = apply(&limit, state, 5_000, Op::Take { cost: 1 });
/// assert!(!second.accepted);
/// assert_eq!(second.retry_after(), 1.0);
/// # Ok::<(), token_bucket::limit::LimitError>(())
/// ```
#[inline(always)]
pub fn apply(limit: &Limit, state: State, now: u64, op: Op) -> (Decision, State) {
    match limit {
        Limit::TokenBucket(limit) => limit.apply(state, now, op),
        Limit::FixedWindow(window) => window.apply(state, now, op),
    }
}
