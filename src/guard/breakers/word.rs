//! The word of a breaker: open or closed, since or until when, and how often in a row the server has failed.
//!
//! ```text
//!  127                    64 63 62     59 58                0
//! +-------------------------+--+---------+-------------------+
//! | the server's id         | 0| failures| open until, ns    |
//! +-------------------------+--+---------+-------------------+
//! | the server's id         | 1| failures| closed since, ns  |
//! +-------------------------+--+---------+-------------------+
//! ```

/// Marks a closed breaker.
const CLOSED: u64 = 1 << 63;
const FAILURES_AT: u32 = 59;
const TIME: u64 = (1 << FAILURES_AT) - 1;

/// The most failures that a word counts.
pub const MOST_FAILURES: u32 = 15;

/// The word of a breaker. Zero is that of a breaker which was never used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word(pub u128);

impl Word {
    /// The server must not be asked until then. A closed breaker keeps the number of failures of its last outage.
    pub fn open(id: u64, failures: u32, until: u64) -> Self {
        Self::new(id, failures, until & TIME)
    }

    /// The server answers, since then.
    pub fn closed(id: u64, failures: u32, since: u64) -> Self {
        Self::new(id, failures, CLOSED | since & TIME)
    }

    fn new(id: u64, failures: u32, rest: u64) -> Self {
        let failures = u64::from(failures.min(MOST_FAILURES)) << FAILURES_AT;
        Self(u128::from(id) << 64 | u128::from(failures | rest))
    }

    /// The server.
    pub const fn id(self) -> u64 {
        (self.0 >> 64) as u64
    }

    /// Whether the breaker is closed.
    pub const fn is_closed(self) -> bool {
        self.0 as u64 & CLOSED != 0
    }

    /// How often in a row the server has failed a probe, or failed again soon after it had answered.
    pub const fn failures(self) -> u32 {
        (self.0 as u64 >> FAILURES_AT) as u32 & MOST_FAILURES
    }

    /// Until when the breaker is open, or since when it is closed, in nanoseconds since boot.
    pub const fn time(self) -> u64 {
        self.0 as u64 & TIME
    }

    /// Whether the breaker was never used.
    pub const fn is_unused(self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_holds_each_field() {
        for (id, failures, time) in [(u64::MAX, 15, 1 << 58), (1, 0, 0), (7, 9, TIME)] {
            for (word, is_closed) in
                [(Word::open(id, failures, time), false), (Word::closed(id, failures, time), true)]
            {
                assert_eq!((word.id(), word.failures(), word.time()), (id, failures, time));
                assert_eq!((word.is_closed(), word.is_unused()), (is_closed, false));
            }
        }
        assert_eq!(Word::open(7, 99, 5), Word::open(7, MOST_FAILURES, 5));
    }
}
