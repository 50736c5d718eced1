//! What each kind of limit has to be able to do whose state fits a word.

use super::kept::Kept;
use super::op::Op;
use super::state::State;

/// An algorithm with its numbers, whose state is one [`State`]: [`TokenBucket`](super::TokenBucket),
/// [`FixedWindow`](super::FixedWindow), [`CalendarWindow`](super::CalendarWindow), or a [`Place`](super::Place) of a sliding window.
///
/// A store that keeps its own loop around a decision is generic over this trait, so that the
/// compiler inlines one algorithm into it.
pub trait WordAlgorithm {
    /// Applies an operation to a state, as [`apply`](super::apply) does. Returns what the caller keeps of
    /// the decision: less is faster (`make bench`, `consume()` against `attempt()`).
    ///
    /// `op` is a reference, for a copy would have to wait until the caller's writes to it are done.
    fn apply<R: Kept>(&self, state: State, now: u64, op: &Op) -> (R, State);

    /// Whether a clock must have shown more than `now` when it wrote this state. A state of another
    /// limit may be either.
    fn is_from_future(&self, state: State, now: u64) -> bool;

    /// The state of a newcomer that takes the place of an evicted state which expires at
    /// `expires_at`.
    ///
    /// A token bucket starts at the level that the evicted one had, and never below empty. A window
    /// starts without hits left, since only the end of the evicted one is known.
    fn inherited_state(&self, expires_at: u64, now: u64) -> State;

    /// Whether an operation takes tokens or hits if enough of them are there.
    #[cold]
    fn takes(&self, op: Op) -> bool {
        op.takes_hits()
    }
}
