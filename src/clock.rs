//! The clock of the stores that live on this host.

use crate::limit::{MAX_NOW, SECOND};

/// Nanoseconds since this host booted, sleep included.
///
/// Never steps when the wall clock is set, and is the same in every process of the
/// host, which is what lets them share a table. About 25 ns: no system call where the
/// kernel offers a vDSO.
#[inline]
pub fn boot_time() -> u64 {
    #[cfg(target_os = "linux")]
    const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Monotonic;
    let time = rustix::time::clock_gettime(CLOCK);
    // Never negative: the clock counts from boot. Does not wrap for 584 years of uptime.
    (time.tv_sec as u64).wrapping_mul(SECOND).wrapping_add(time.tv_nsec as u64).min(MAX_NOW)
}

/// A server's clock, as it was read a while ago. How late it is now is reckoned by this host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// What it showed, in nanoseconds.
    pub time: u64,
    /// When the question was sent, on this host's clock.
    pub sent_at: u64,
    /// When the answer arrived.
    pub read_at: u64,
}

impl Reading {
    /// A reading that has just arrived.
    pub fn taken_now(time: u64, sent_at: u64) -> Self {
        Self { time, sent_at, read_at: boot_time() }
    }

    /// How long ago it was taken, in nanoseconds.
    pub fn age(self) -> u64 {
        boot_time().saturating_sub(self.sent_at)
    }

    /// What the clock shows now: at least, and at most. Its answer may have been on its way for as long
    /// as the round trip took.
    pub fn now(self) -> [u64; 2] {
        let now = boot_time();
        [self.read_at, self.sent_at]
            .map(|from| self.time.saturating_add(now.saturating_sub(from)).min(MAX_NOW))
    }
}

/// Seconds as nanoseconds, to the nearest; `None` unless the result is a time the limits
/// can reckon with.
///
/// # Example
///
/// ```
/// use token_bucket::clock::from_seconds;
///
/// assert_eq!(from_seconds(0.1), Some(100_000_000));
/// assert_eq!(from_seconds(-0.1), None);
/// ```
pub fn from_seconds(seconds: f64) -> Option<u64> {
    let ns = (seconds * SECOND as f64).round();
    (0.0..=MAX_NOW as f64).contains(&ns).then_some(ns as u64)
}
