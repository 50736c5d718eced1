//! The clock of this host, and readings of a server's clock. Nothing else in `src` reads a clock or sleeps (`make lint`).

use crate::limit::{MAX_NOW, SECOND};
use rustix::time::ClockId;
#[cfg(target_os = "linux")]
use rustix::time::ClockId::{Boottime, MonotonicCoarse, RealtimeCoarse};
#[cfg(not(target_os = "linux"))]
use rustix::time::ClockId::{
    Monotonic as Boottime, Monotonic as MonotonicCoarse, Realtime as RealtimeCoarse,
};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Nanoseconds since this host booted, sleep included.
///
/// Does not step when the wall clock is set, and is the same in every process of the host, so the
/// processes can share a table.
#[inline]
pub fn boot_time() -> u64 {
    read(Boottime).min(MAX_NOW)
}

/// Whether a thread has ever frozen its time: others need not look whether they have.
static IS_TEST: AtomicBool = AtomicBool::new(false);

thread_local! {
    static FROZEN: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Lets the time of all limits stand still in this thread, at so many nanoseconds since 1970; go on, if none.
pub fn freeze(time: Option<u64>) {
    IS_TEST.fetch_or(time.is_some(), Ordering::Relaxed);
    FROZEN.set(time);
}

/// Runs `work` while the time of this thread stands still, or goes on if none is given.
pub fn at<R>(time: Option<u64>, work: impl FnOnce() -> R) -> R {
    let before = FROZEN.get();
    freeze(time);
    let result = work();
    freeze(before);
    result
}

/// The time of a test's clock, if it stands still.
#[inline(always)]
pub fn frozen() -> Option<u64> {
    if IS_TEST.load(Ordering::Relaxed) { FROZEN.get() } else { None }
}

/// The time that limits on this host go by: that of a test's clock, or since this host booted.
#[inline(always)]
pub fn now() -> u64 {
    frozen().unwrap_or_else(boot_time)
}

#[inline]
fn read(clock: ClockId) -> u64 {
    let time = rustix::time::clock_gettime(clock);
    // Not negative: the clocks read here count from boot, or from 1970. Does not wrap for 584 years.
    (time.tv_sec as u64).wrapping_mul(SECOND).wrapping_add(time.tv_nsec as u64)
}

/// A time in nanoseconds that is up to some milliseconds old: for what is done about once a second. Reading it
/// takes a quarter of [`boot_time`], with which it must not be compared.
#[inline]
pub fn coarse_time() -> u64 {
    read(MonotonicCoarse)
}

/// For a call that began at `now`: a time not earlier than the writing of any state that it has read. With a test's clock, which stands
/// still, it is `now`.
// Not a method of `BucketChange`, which would have to lie in memory then.
#[cold]
pub fn latest(now: u64) -> u64 {
    if frozen().is_some() { now } else { now.max(boot_time()) }
}

/// How long it has been since `time`, a reading of [`boot_time`].
#[inline]
pub fn since(time: u64) -> Duration {
    Duration::from_nanos(boot_time().saturating_sub(time))
}

/// The time of the clock by which the kernel ends a sleep at a futex.
#[cfg(target_os = "linux")]
pub fn monotonic_time() -> Duration {
    Duration::from_nanos(read(ClockId::Monotonic))
}

/// Sleeps for this long, and as much longer as the system takes to wake.
pub fn sleep(time: Duration) {
    std::thread::sleep(time);
}

/// The time of day, in nanoseconds since 1970. It steps when the clock is set.
pub fn unix_nanoseconds() -> u64 {
    read(ClockId::Realtime).min(MAX_NOW)
}

/// The time of day, in seconds since 1970.
pub fn unix_seconds() -> f64 {
    unix_nanoseconds() as f64 / SECOND as f64
}

/// The time of day, as [`unix_nanoseconds`] has it, up to some milliseconds old.
#[inline]
pub fn coarse_unix_time() -> u64 {
    read(RealtimeCoarse).min(MAX_NOW)
}

/// How far the time of day is ahead of `now`, a reading of [`now`] or [`boot_time`]. A test's clock tells the time of day.
#[inline]
pub fn time_of_day_ahead(now: u64) -> u64 {
    if frozen().is_some() { 0 } else { unix_time_at_boot(now) }
}

/// The time of day at which [`boot_time`] was 0, as of a moment within the second before `now`, a reading of it.
#[inline]
pub fn unix_time_at_boot(now: u64) -> u64 {
    // Each is valid by itself, so it does not matter which thread has written which.
    static READ_AT: AtomicU64 = AtomicU64::new(0);
    static TIME: AtomicU64 = AtomicU64::new(0);
    let known = TIME.load(Ordering::Relaxed);
    if known != 0 && now.wrapping_sub(READ_AT.load(Ordering::Relaxed)) < SECOND {
        return known;
    }
    let time = unix_nanoseconds().saturating_sub(boot_time()).max(1);
    TIME.store(time, Ordering::Relaxed);
    READ_AT.store(now, Ordering::Relaxed);
    time
}

/// A reading of a server's clock. This host's clock tells how old it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The time that the server sent, in nanoseconds.
    pub time: u64,
    /// When this process asked, by this host's clock.
    pub sent_at: u64,
    /// When the answer arrived, by this host's clock.
    pub read_at: u64,
}

impl Reading {
    /// A reading that has just arrived.
    pub fn taken_now(time: u64, sent_at: u64) -> Self {
        Self { time, sent_at, read_at: boot_time() }
    }

    /// The age of the reading, in nanoseconds.
    pub fn age(self) -> u64 {
        boot_time().saturating_sub(self.sent_at)
    }

    /// How long the reading took, in nanoseconds: the server read its clock at some moment within this time.
    pub fn round_trip(self) -> u64 {
        self.read_at.saturating_sub(self.sent_at)
    }

    /// The earliest and the latest time that the server's clock may show now. They differ by the round trip.
    pub fn now(self) -> [u64; 2] {
        let now = boot_time();
        [self.read_at, self.sent_at]
            .map(|from| self.time.saturating_add(now.saturating_sub(from)).min(MAX_NOW))
    }
}

/// Converts seconds to nanoseconds, to the nearest. None if the limits cannot compute with the result.
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
