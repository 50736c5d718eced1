//! The word of a breaker: open or closed, since or until when, and how often in a row the server has failed.
//!
//! ```text
//!  63   62     59 58                0
//! +----+---------+-------------------+
//! |  0 | failures| closed since, ns  |
//! |  1 | failures| open until, ns    |
//! +----+---------+-------------------+
//! ```
//!
//! Zero is a breaker that was never used. It is closed.

use crate::mapped::fields::fields;

const FAILURE_BITS: u32 = 4;

/// The most failures that a word counts.
pub const MOST_FAILURES: u32 = (1 << FAILURE_BITS) - 1;

fields! {
    /// What the word says.
    pub struct Word: u64 {
        /// Until when the breaker is open, or since when it is closed, in nanoseconds since boot.
        pub time: u64 = 59,
        /// How often in a row the server has failed a probe, or failed again soon after it had answered. A closed breaker keeps the
        /// number of its last outage.
        pub failures: u32 = FAILURE_BITS,
        /// Whether the server must not be asked until then.
        pub is_open: bool = 1,
    }
}

impl Word {
    /// The server must not be asked until then, after so many failures.
    pub fn open(failures: u32, until: u64) -> Self {
        Self { time: until, failures: failures.min(MOST_FAILURES), is_open: true }
    }

    /// The server answers, since then, after so many failures.
    pub fn closed(failures: u32, since: u64) -> Self {
        Self { time: since, failures, is_open: false }
    }
}
