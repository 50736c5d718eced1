//! What a store remembers of one bucket.

use super::span::Span;

/// What a store remembers of one bucket.
///
/// A bucket that was never touched, or that no store knows any more, is
/// [`State::FULL`]: forgetting a bucket that is as good as new loses nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A bucket on its way to being full: nothing is owed.
    Filling {
        /// When it is full again. Earlier than now: it is full.
        full_at: Span,
    },
    /// A bucket from which tokens were taken in advance by `reserve`.
    Reserved {
        /// When it is full again, in nanoseconds.
        full_at: u64,
        /// The fraction of a nanosecond to be added, in 2⁻²⁴, rounded up.
        fraction: u32,
        /// By how much that lay beyond one full refill when it was written, as the exponent
        /// of a power of two, rounded up. What lies beyond that can only come from a clock
        /// that went backwards.
        ahead: u8,
    },
    /// A bucket overdrawn by `check`, which charges denied calls too.
    Overdrawn {
        /// When all is forgiven: a whole refill after the last check. A multiple of
        /// [`GRAIN`](super::GRAIN).
        forgiven_at: u64,
        /// How much longer it would take to fill. A multiple of [`GRAIN`](super::GRAIN).
        debt: u64,
    },
    /// A fixed window.
    Window {
        /// Its last moment, in nanoseconds.
        ends_at: u64,
        /// The hits in it.
        hits: u32,
    },
}

impl State {
    /// A full bucket.
    pub const FULL: Self = Self::Filling { full_at: Span { ns: 0, part: 0 } };

    /// The time from which the bucket is as good as new, in nanoseconds, rounded up.
    ///
    /// From then on a store may forget it.
    pub const fn expires_at(self) -> u64 {
        match self {
            Self::Filling { full_at } => full_at.ceil(),
            Self::Reserved { full_at, fraction, .. } => full_at + (fraction > 0) as u64,
            Self::Overdrawn { forgiven_at, .. } => forgiven_at,
            Self::Window { ends_at, hits } => ends_at + (hits > 0) as u64,
        }
    }
}
