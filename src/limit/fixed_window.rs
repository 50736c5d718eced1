//! The fixed window: a number of hits in an interval that opens at the first of them.

use super::duration::duration_from_seconds;
use super::error::LimitError;
use super::op::Op;
use super::window::{StoredWindow, Window, check_hits};

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
    /// The hits must be within 1 and [`MAX_HITS`](super::MAX_HITS); the interval at least a nanosecond and at most
    /// four years.
    ///
    /// # Example
    ///
    /// ```
    /// use token_bucket_limit::FixedWindow;
    ///
    /// assert_eq!(FixedWindow::new(5, 60.0)?.interval(), 60_000_000_000);
    /// # Ok::<(), token_bucket_limit::LimitError>(())
    /// ```
    pub fn new(max_hits: i64, interval: f64) -> Result<Self, LimitError> {
        Ok(Self { max_hits: check_hits(max_hits)?, interval: duration_from_seconds(interval)? })
    }

    /// How long it lasts, in nanoseconds.
    pub const fn interval(&self) -> u64 {
        self.interval
    }
}

impl Window for FixedWindow {
    const SLACK: u64 = 0;
    const ENDS_WITHOUT_HITS: bool = false;

    #[inline(always)]
    fn max_hits(&self) -> u32 {
        self.max_hits
    }

    #[inline(always)]
    fn end_at(&self, now: u64) -> u64 {
        now + self.interval
    }

    #[inline(always)]
    fn find_open(&self, stored: &StoredWindow, now: u64, op: Op) -> Option<u64> {
        let latest = if op.settles() { u64::MAX } else { self.end_at(now) };
        (now < stored.end).then_some(stored.end.min(latest))
    }
}

#[cfg(test)]
mod tests;
