//! Times of the last minutes, each in one word.

use crate::limit::SECOND;
use crate::mapped::fields::fields;
use portable_atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The length of a minute, in nanoseconds.
pub(super) const MINUTE: u64 = 60 * SECOND;
const TIME_BITS: u32 = 40;

fields! {
    /// A word of [`note_recent`].
    struct RecentTime: u64 {
        /// In microseconds.
        time: u64 = TIME_BITS,
        /// The number of the minute.
        minute: u64 = 24,
    }
}

/// Notes a time in the word of a minute, in which `choose` has chosen one of those noted. Returns what the word held.
pub(super) fn note_recent(
    word: &AtomicU64,
    time: Duration,
    now: u64,
    choose: fn(u64, u64) -> u64,
) -> u64 {
    let time = u64::try_from(time.as_micros()).unwrap_or(u64::MAX).clamp(1, (1 << TIME_BITS) - 1);
    let noted = RecentTime { time, minute: now / MINUTE };
    let next = |seen: u64| {
        let known = RecentTime::from_word(seen);
        let chosen = match seen != 0 && known.minute == noted.minute {
            true => RecentTime { time: choose(known.time, time), ..noted },
            false => noted,
        };
        Some(chosen.to_word())
    };
    // The closure always returns a word.
    word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).unwrap_or_default()
}

/// The time in such a word, unless it is older than so many minutes. The first minute after boot counts, too.
pub(super) fn recent(word: u64, now: u64, minutes: u64) -> Option<Duration> {
    let RecentTime { time, minute } = RecentTime::from_word(word);
    let age = (now / MINUTE).saturating_sub(minute);
    (word != 0 && age <= minutes).then(|| Duration::from_micros(time))
}
