//! What a store remembers of one bucket.

use super::block_length::{longest, whole_seconds};
use super::bounds::MAX_BLOCK;
use super::reach::from_reach;
use super::span::Span;

/// What a store remembers of one bucket.
///
/// A bucket that a store does not know is [`State::FULL`]. An expired state says no more than that,
/// so a store may forget it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A bucket that refills and owes nothing.
    Filling {
        /// When it is full again. A bucket whose `full_at` has passed is full.
        full_at: Span,
    },
    /// A bucket that owes what `reserve` took in advance, or what was settled beyond what it had.
    Reserved {
        /// When it is full again, in nanoseconds.
        full_at: u64,
        /// The fraction of a nanosecond to add, in 2⁻²², rounded up.
        fraction: u32,
        /// How far `full_at` lay beyond one full refill when it was written at most, as the code of so many refills
        /// ([`refills`](super::refills)). A `full_at` beyond that comes from a clock that went back or from a longer interval.
        ahead: u8,
    },
    /// A bucket overdrawn by `check`, which charges denied calls too.
    Overdrawn {
        /// When all is forgiven: one full refill after the last check. A multiple of
        /// [`GRAIN`](super::GRAIN).
        forgiven_at: u64,
        /// How much longer the bucket would take to be full. A multiple of [`GRAIN`](super::GRAIN).
        debt: u64,
    },
    /// A bucket that was found emptier than its limit allows. See [`emptied`](super::emptied).
    Emptied {
        /// When it was empty by any numbers, in nanoseconds: a multiple of [`GRAIN`](super::GRAIN).
        at: u64,
        /// How long after that it is full by the numbers that made it, and how far it may owe: 30 bits (see
        /// [`reach`](super::reach)).
        reach: u32,
    },
    /// A fixed window, or a window of the calendar.
    Window {
        /// Its last moment, in nanoseconds.
        ends_at: u64,
        /// The hits in it.
        hits: u32,
    },
    /// A block: every call is denied.
    Blocked {
        /// Its end, in nanoseconds. A call at that time is accepted.
        until: u64,
        /// How many seconds before its end it was written at most. An end further off was written before a clock went back.
        asked: u32,
        /// The number of a calendar window after it (see [`calendar_window`](super::calendar_window)), at most 999.
        number: u16,
    },
}

impl State {
    /// A full bucket.
    pub const FULL: Self = Self::Filling { full_at: Span { ns: 0, part: 0 } };

    /// The time from which the state is expired, in nanoseconds, rounded up: a store may forget it
    /// then.
    pub const fn expires_at(self) -> u64 {
        match self {
            Self::Filling { full_at } => full_at.ceil(),
            Self::Reserved { full_at, fraction, .. } => full_at + (fraction > 0) as u64,
            Self::Overdrawn { forgiven_at, .. } => forgiven_at,
            Self::Emptied { at, reach } => at.saturating_add(from_reach(reach)),
            Self::Window { ends_at, hits } => ends_at + (hits > 0) as u64,
            Self::Blocked { until, .. } => until,
        }
    }

    /// A block until this time, as it is set at `now`.
    pub fn blocked(until: u64, now: u64) -> Self {
        let asked = whole_seconds(until.saturating_sub(now).min(MAX_BLOCK));
        Self::Blocked { until, asked, number: 0 }
    }

    /// The earliest time that the clock can have shown when it wrote this block, if it is one.
    #[inline(always)]
    pub fn earliest_write_of_block(self) -> Option<u64> {
        match self {
            Self::Blocked { until, asked, .. } => Some(until.saturating_sub(longest(asked))),
            _ => None,
        }
    }

    /// Whether it is a block that a clock must have shown more than `now` to write.
    pub fn is_block_from_future(self, now: u64) -> bool {
        self.earliest_write_of_block().is_some_and(|written| written > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_without_hits_counts_for_nothing_a_moment_earlier() {
        let window = |hits| State::Window { ends_at: 7, hits };
        assert_eq!([window(0), window(1)].map(State::expires_at), [7, 8]);
        let reserved = |fraction| State::Reserved { full_at: 7, fraction, ahead: 0 };
        assert_eq!([reserved(0), reserved(1)].map(State::expires_at), [7, 8]);
    }
}
