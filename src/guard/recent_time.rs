//! Times of the last minutes, each in one word.

use crate::limit::SECOND;
use portable_atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The length of a minute, in nanoseconds.
pub(super) const MINUTE: u64 = 60 * SECOND;
/// The bits of a time in a word of [`note_recent`].
const TIME_BITS: u32 = 40;
const TIME_MASK: u64 = (1 << TIME_BITS) - 1;

/// Notes a time in a word that holds the number of a minute (24 bits) and the time that `choose` has chosen in it, in
/// microseconds (40). Returns what it held.
pub(super) fn note_recent(
    word: &AtomicU64,
    time: Duration,
    now: u64,
    choose: fn(u64, u64) -> u64,
) -> u64 {
    let time = u64::try_from(time.as_micros()).unwrap_or(u64::MAX).clamp(1, TIME_MASK);
    let minute = (now / MINUTE) << TIME_BITS;
    let next = |seen: u64| match seen != 0 && seen & !TIME_MASK == minute {
        true => Some(minute | choose(seen & TIME_MASK, time)),
        false => Some(minute | time),
    };
    // The closure always returns a word.
    word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).unwrap_or_default()
}

/// The time in such a word, unless it is older than so many minutes. The first minute after boot counts, too.
pub(super) fn recent(word: u64, now: u64, minutes: u64) -> Option<Duration> {
    let age = (now / MINUTE).saturating_sub(word >> TIME_BITS);
    (word != 0 && age <= minutes).then(|| Duration::from_micros(word & TIME_MASK))
}
