//! The time by which an item was written.
//!
//! memcached has no command for the time, so each host decides by its own clock, and clocks differ. A bucket has one time: that of the clock
//! furthest ahead of those that have written it. It stands in the item's client flags, 32 bits that memcached keeps beside the value:
//! so the value is a record as an older version reads and writes it, whose items have no time (0).
//!
//! ```text
//! 1 bit   a test's clock wrote it
//! 31 bits when it was written, in seconds since 2020, rounded down; until 2088
//! ```
//!
//! **A call is decided at the later of its host's clock and the time of the item**, and writes the time that it was decided at.
//!
//! * The time of a bucket never goes back, so nothing is forgiven because a slower clock has met the state. What is lost by rounding
//!   is less than the two seconds for which [`latest_clock`](crate::store::swap::latest_clock) finds the time in the state.
//! * It goes ahead of the slowest clock once, by the difference of the clocks at most. That refills a bucket by as much, and ends a
//!   window early: so a host whose clock differs by any time adds at most one more limit, until the item has expired.
//! * A state that is ahead of the time of its own item was written under other numbers, and the first decision corrects it
//!   ([`earliest_write`](crate::limit::Limit::earliest_write)). So a lowered limit is not mistaken for a clock.
//! * If the clock furthest ahead is set back, or its host is gone, the time would stand still for the others. The server knows how
//!   long ago it got the item, for it counts the time that is left to it. Six seconds of that do not count, for the reasons below: so a call
//!   waits up to seven seconds longer than the limit asks for.
//! * The server counts whole seconds, and a second that it has slept through only when its timer has run. An item that it gets just after
//!   a pause looks as old as the pause, and expires that much early. So an item is kept [`MAX_PAUSE`] longer than it is needed, and
//!   looks younger by as much. After a longer pause, a limit may begin anew.
//!
//! A test's clock may go back: a call by a test's clock ignores the time that a test's clock has written.

use crate::limit::{MAX_NOW, SECOND, StoredState};
use crate::store::swap::MAX_CLOCK_SKEW;

/// Marks the time of a test's clock.
const BY_TEST: u32 = 1 << 31;
/// The first second that fits into flags: the year 2020, by UTC.
const FIRST: u64 = 1_577_836_800;
/// How much longer than its state needs an item is kept, in seconds, if a test's clock wrote it.
const EXTRA_TTL_BY_TEST: u64 = 3_600;
/// How long a server may be paused, in seconds, and lose no state that it gets just after.
const MAX_PAUSE: u64 = 5;

/// The time by which a state was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Seconds since 1970.
    seconds: u64,
    /// Whether they are from a test's clock.
    by_test: bool,
}

/// A clock that a call goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// The time that it shows, in nanoseconds since 1970.
    pub time: u64,
    /// Whether it is a test's.
    pub is_test: bool,
}

impl Stamp {
    /// The stamp in an item's client flags. None if they hold no time.
    pub fn from_flags(flags: u32) -> Option<Self> {
        let since = u64::from(flags & !BY_TEST);
        (since > 0).then(|| Self { seconds: FIRST + since, by_test: flags & BY_TEST != 0 })
    }

    /// The client flags of an item with this stamp. A time before 2020 becomes none, and one after 2088 the last.
    pub fn flags(self) -> u32 {
        let since = self.seconds.saturating_sub(FIRST).min(u64::from(BY_TEST - 1)) as u32;
        if self.by_test { since | BY_TEST } else { since }
    }

    /// The stamp of a call that goes by `clock` and was decided at `decided_at`.
    pub const fn new(clock: Clock, decided_at: u64) -> Self {
        // A later time is that of another stamp, which a test's clock heeds only if no test's clock wrote it.
        let by_test = clock.is_test && decided_at <= clock.time;
        Self { seconds: decided_at / SECOND, by_test }
    }

    /// The time to decide at by `clock`. `left` is the time to live that the server still gives to the item with this `state`.
    pub fn decide_at(self, clock: Clock, state: &StoredState, left: Option<u64>) -> u64 {
        if self.by_test && clock.is_test {
            return clock.time;
        }
        let elapsed = match (self.by_test, left) {
            (false, Some(left)) => {
                self.time_to_live(state).saturating_sub(left).saturating_sub(1 + MAX_PAUSE)
            }
            _ => 0,
        };
        clock.time.max((self.seconds + elapsed) * SECOND).min(MAX_NOW)
    }

    /// For how many seconds an item with this stamp is kept.
    pub fn time_to_live(self, state: &StoredState) -> u64 {
        let spare = if self.by_test { EXTRA_TTL_BY_TEST } else { MAX_CLOCK_SKEW + MAX_PAUSE };
        state.expires_at().saturating_sub(self.seconds * SECOND).div_ceil(SECOND) + spare
    }
}

#[cfg(test)]
mod tests;
