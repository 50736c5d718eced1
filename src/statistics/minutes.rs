//! How many calls a limit decided on in each minute of the last hour: since when is it busy, and since when does it deny?
//!
//! A call costs one comparison. The first call after the end of a minute keeps what was counted since the one before, by any
//! process; so nothing runs in a minute without calls.

use crate::limit::SECOND;
use portable_atomic::{AtomicU64, Ordering};

/// How many minutes are kept, the current one included.
pub const MINUTES: usize = 60;
const MINUTE: u64 = 60 * SECOND;

/// How many calls were decided on in a minute, and how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallsOfMinute {
    /// The calls.
    pub calls: u64,
    /// Those of them that were denied.
    pub denied: u64,
    /// Those of them that a dry run would have denied.
    pub would_deny: u64,
}

impl CallsOfMinute {
    const fn to_array(self) -> [u64; COUNTS] {
        [self.calls, self.denied, self.would_deny]
    }

    const fn from_array([calls, denied, would_deny]: [u64; COUNTS]) -> Self {
        Self { calls, denied, would_deny }
    }

    /// Those that were counted since `before`.
    fn since(self, before: Self) -> Self {
        let mut counts = self.to_array();
        for (count, before) in counts.iter_mut().zip(before.to_array()) {
            // A reset may have come between.
            *count = count.checked_sub(before).unwrap_or(*count);
        }
        Self::from_array(counts)
    }
}

/// The counts of a minute.
const COUNTS: usize = 3;

/// Counts that processes share: those of [`CallsOfMinute`], in its order.
#[repr(C)]
struct SharedCounts([AtomicU64; COUNTS]);

impl SharedCounts {
    fn load(&self) -> CallsOfMinute {
        CallsOfMinute::from_array(self.0.each_ref().map(|count| count.load(Ordering::Relaxed)))
    }

    /// Stores counts, and returns those before.
    fn swap(&self, counts: CallsOfMinute) -> CallsOfMinute {
        let mut counts = counts.to_array();
        for (word, count) in self.0.iter().zip(&mut counts) {
            *count = word.swap(*count, Ordering::Relaxed);
        }
        CallsOfMinute::from_array(counts)
    }
}

/// The minutes of one limit, by the time since the boot.
#[repr(C)]
pub(super) struct Minutes {
    /// When the current minute ends, in nanoseconds; 0 before the first call.
    ends_at: AtomicU64,
    /// What was counted when it began.
    counted: SharedCounts,
    /// Each minute, in the place of its number.
    minutes: [SharedCounts; MINUTES],
}

impl Minutes {
    /// Whether the current minute has ended by `now`.
    #[inline(always)]
    pub(super) fn has_ended(&self, now: u64) -> bool {
        now >= self.ends_at.load(Ordering::Relaxed)
    }

    /// Begins the minute of `now`, before a call in it is counted; `counted` is what was counted until then.
    pub(super) fn begin(&self, now: u64, counted: CallsOfMinute) {
        let ends_at = self.ends_at.load(Ordering::Relaxed);
        let current = now / MINUTE;
        let (order, next) = (Ordering::Relaxed, (current + 1).saturating_mul(MINUTE));
        if now < ends_at || self.ends_at.compare_exchange(ends_at, next, order, order).is_err() {
            return;
        }
        let before = self.counted.swap(counted);
        // The minutes between had no calls.
        let ended = (ends_at / MINUTE).saturating_sub(1);
        for minute in ended.max(current.saturating_sub(MINUTES as u64))..current {
            let is_ended = minute == ended && ends_at > 0;
            let counts = if is_ended { counted.since(before) } else { CallsOfMinute::default() };
            if let Some(place) = self.minutes.get(minute as usize % MINUTES) {
                place.swap(counts);
            }
        }
    }

    /// The last minutes, the oldest first and the current one last; `counted` is what is counted by now.
    pub(super) fn snapshot(&self, now: u64, counted: CallsOfMinute) -> [CallsOfMinute; MINUTES] {
        self.begin(now, counted);
        let current = now / MINUTE;
        let before = self.counted.load();
        std::array::from_fn(|place| {
            let ago = (MINUTES - 1 - place) as u64;
            match (ago, current.checked_sub(ago)) {
                (0, _) => counted.since(before),
                (_, None) => CallsOfMinute::default(),
                (_, Some(minute)) => {
                    let place = self.minutes.get(minute as usize % MINUTES);
                    place.map_or_else(CallsOfMinute::default, SharedCounts::load)
                }
            }
        })
    }

    /// Forgets all minutes.
    pub(super) fn clear(&self) {
        self.ends_at.store(0, Ordering::Relaxed);
        for counts in self.minutes.iter().chain([&self.counted]) {
            counts.swap(CallsOfMinute::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: u64 = 1_000 * MINUTE;

    fn minutes() -> Minutes {
        let counts = || SharedCounts([0; COUNTS].map(AtomicU64::new));
        let minutes = std::array::from_fn(|_| counts());
        Minutes { ends_at: AtomicU64::new(0), counted: counts(), minutes }
    }

    /// A limit that counts its calls.
    struct Counted {
        minutes: Minutes,
        total: CallsOfMinute,
    }

    impl Counted {
        fn new() -> Self {
            Self { minutes: minutes(), total: CallsOfMinute::default() }
        }

        fn call(&mut self, now: u64, is_denied: bool) {
            if self.minutes.has_ended(now) {
                self.minutes.begin(now, self.total);
            }
            self.total.calls += 1;
            self.total.denied += u64::from(is_denied);
        }

        /// The calls and denials of the last minutes that had some, and how many minutes ago.
        fn seen(&self, now: u64) -> Vec<(usize, u64, u64)> {
            let minutes = self.minutes.snapshot(now, self.total);
            let all = minutes.iter().rev().enumerate();
            all.filter(|(_, it)| it.calls > 0).map(|(ago, it)| (ago, it.calls, it.denied)).collect()
        }
    }

    #[test]
    fn each_minute_has_its_calls() {
        let mut limit = Counted::new();
        assert_eq!(limit.seen(T), []);
        for (second, is_denied) in [(0, false), (59, true), (60, false), (61, false), (300, true)] {
            limit.call(T + second * SECOND, is_denied);
        }
        assert_eq!(limit.seen(T + 301 * SECOND), [(0, 1, 1), (4, 2, 0), (5, 2, 1)]);
        assert_eq!(limit.seen(T + 360 * SECOND), [(1, 1, 1), (5, 2, 0), (6, 2, 1)]);
    }

    #[test]
    fn minutes_of_more_than_an_hour_ago_are_forgotten() {
        let mut limit = Counted::new();
        limit.call(T, false);
        assert_eq!(limit.seen(T + 59 * MINUTE), [(59, 1, 0)]);
        assert_eq!(limit.seen(T + 60 * MINUTE), []);
        limit.call(T + 200 * MINUTE, true);
        assert_eq!(limit.seen(T + 200 * MINUTE), [(0, 1, 1)]);
        assert_eq!(limit.seen(T + 259 * MINUTE), [(59, 1, 1)]);
    }

    #[test]
    fn nothing_is_left_after_a_reset() {
        let mut limit = Counted::new();
        limit.call(T, true);
        limit.call(T + MINUTE, true);
        limit.minutes.clear();
        limit.total = CallsOfMinute::default();
        assert_eq!(limit.seen(T + MINUTE), []);
        limit.call(T + MINUTE, false);
        assert_eq!(limit.seen(T + MINUTE), [(0, 1, 0)]);
    }

    #[test]
    fn clock_of_the_first_minutes_has_no_earlier_ones() {
        let mut limit = Counted::new();
        limit.call(5 * SECOND, false);
        assert_eq!(limit.seen(6 * SECOND), [(0, 1, 0)]);
        assert_eq!(limit.seen(2 * MINUTE), [(2, 1, 0)]);
    }
}
