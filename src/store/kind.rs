//! The kinds of limits, as stores tell them apart.

use crate::limit::Limit;

/// The algorithm of a limit. Its number goes into the hashes of keys in shared memory and must not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum LimitKind {
    /// A token bucket, or a leaky bucket.
    TokenBucket = 0,
    /// A fixed window.
    FixedWindow = 1,
    /// A sliding window.
    SlidingWindow = 2,
    /// A limit of how many run at once.
    Concurrency = 3,
    /// A calendar window.
    CalendarWindow = 4,
}

impl LimitKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 5] = [
        Self::TokenBucket,
        Self::FixedWindow,
        Self::SlidingWindow,
        Self::Concurrency,
        Self::CalendarWindow,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TokenBucket => "token_bucket",
            Self::FixedWindow => "fixed_window",
            Self::SlidingWindow => "sliding_window",
            Self::Concurrency => "concurrency",
            Self::CalendarWindow => "calendar",
        }
    }

    /// What stands behind the name of a key on a server. [`name`](super::name) hashes identifiers that end
    /// like it.
    pub const fn name_suffix(self) -> &'static [u8] {
        match self {
            Self::TokenBucket => b"",
            Self::FixedWindow => b"#w",
            Self::SlidingWindow => b"#s",
            Self::Concurrency => b"#c",
            Self::CalendarWindow => b"#d",
        }
    }
}

impl From<&Limit> for LimitKind {
    #[inline(always)]
    fn from(limit: &Limit) -> Self {
        match limit {
            Limit::TokenBucket(_) => Self::TokenBucket,
            Limit::FixedWindow(_) => Self::FixedWindow,
            Limit::CalendarWindow(_) => Self::CalendarWindow,
            Limit::SlidingWindow(_) => Self::SlidingWindow,
        }
    }
}

/// Evaluates `$call`, which is compiled once for each algorithm: `$algorithm` is that of the limit, by the clock of this host, and
/// `$request` the request at a time of the same clock. The state of a sliding window is more than a word: `$window` is bound to one
/// and `$other_call` evaluated.
macro_rules! with_algorithm {
    ($asked:ident, $algorithm:ident, $request:ident => $call:expr, $window:ident => $other_call:expr) => {
        match $asked.limit {
            $crate::limit::Limit::TokenBucket($algorithm) => {
                let $request = $asked;
                $call
            }
            $crate::limit::Limit::FixedWindow($algorithm) => {
                let $request = $asked;
                $call
            }
            $crate::limit::Limit::CalendarWindow(calendar) => {
                let $algorithm =
                    &calendar.by_clock_behind($crate::clock::time_of_day_ahead($asked.now));
                let $request = $asked;
                $call
            }
            $crate::limit::Limit::SlidingWindow($window) => $other_call,
        }
    };
}

pub(in crate::store) use with_algorithm;
