//! Notices two limits on one identifier: each call overwrites what the other limit has left.
//!
//! The processes of a host watch one key at a time. A process watches the key of a call now and then, if no key is watched.
//! For the next calls on it, of all processes, the numbers of their limits are noted. A limit that changes is seen as
//! A, then B; only two limits are seen as A, then B, then A again.

use super::denied::hash;
use crate::limit::{Limit, SECOND, describe_seconds};
use crate::mapped::{BODY_AT, Mappable, Region, WATCH_AT};
use crate::store::KeyHash;
use portable_atomic::{AtomicU64, AtomicU128, Ordering};
use std::fmt;

/// How long a key is watched at most, in nanoseconds.
const LONGEST: u64 = 60 * SECOND;
/// How many calls on it are looked at: each costs some ten nanoseconds.
const MOST_CALLS: u64 = 16;
/// How long after the beginning of a watch the next one may begin, in nanoseconds.
const PAUSE: u64 = SECOND;
/// The limits of one name are warned of once in this time, in nanoseconds.
const WARN_AGAIN: u64 = 3_600 * SECOND;
/// How long after a warning the next one may come, in nanoseconds: clients may have made up the names.
const BETWEEN_WARNINGS: u64 = 60 * SECOND;
/// How many names are remembered that were warned of.
const NAMES: usize = 4;

/// What the processes of a host see of the key that they watch.
#[repr(C, align(64))]
#[derive(Default)]
pub struct Watch {
    /// The hash of the key; 0 if none is watched.
    key: AtomicU64,
    /// When the watch began, in nanoseconds since boot.
    began_at: AtomicU64,
    /// How many calls were looked at.
    calls: AtomicU64,
    /// When the last warning was.
    warned_at: AtomicU64,
    /// The hash of the key, and the numbers of the limit that was seen first. The hash tells it from what a slow process
    /// notes of an earlier key.
    first: AtomicU128,
    /// The hash of the key, and the numbers of another limit that was seen since.
    second: AtomicU128,
    /// The hashes of names that were warned of, with the hour of the warning in the lowest 16 bits.
    names: [AtomicU64; NAMES],
}

// SAFETY: consists of atomics, of which any bits are a value.
unsafe impl Mappable for Watch {}

/// The numbers of a limit: the capacity (32 bits), and the seconds of its window as a float of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LimitNumbers(u64);

impl LimitNumbers {
    /// The numbers of a limit. None if its tokens are nanoseconds: then its capacity says nothing to a person.
    pub fn of(limit: &Limit) -> Option<Self> {
        let capacity = u32::try_from(limit.capacity()).ok()?;
        let is_in_nanoseconds = limit.window() == limit.capacity();
        let seconds = (limit.window() as f64 / SECOND as f64) as f32;
        let numbers = u64::from(capacity) << 32 | u64::from(seconds.to_bits());
        (!is_in_nanoseconds).then_some(Self(numbers))
    }
}

impl fmt::Display for LimitNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (capacity, seconds) = (self.0 >> 32, f32::from_bits(self.0 as u32));
        write!(f, "{capacity} in {}", describe_seconds(seconds.into()))
    }
}

impl Watch {
    /// The watch in this file.
    #[inline(always)]
    pub fn in_file(region: &Region) -> &Self {
        region.in_header::<Self, WATCH_AT, BODY_AT>()
    }

    /// Whether the key of this hash is watched.
    #[inline(always)]
    pub fn is_on(&self, key: KeyHash) -> bool {
        self.key.load(Ordering::Relaxed) == key.hash
    }

    /// Watches this key from `now` on, unless another one is watched or has just been.
    pub fn begin(&self, key: KeyHash, now: u64) {
        let began_at = self.began_at.load(Ordering::Relaxed);
        let rest = if self.key.load(Ordering::Relaxed) == 0 { PAUSE } else { LONGEST };
        if now.saturating_sub(began_at) < rest || key.hash == 0 {
            return;
        }
        let (order, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        if self.began_at.compare_exchange(began_at, now, order, failure).is_ok() {
            self.first.store(0, Ordering::Relaxed);
            self.second.store(0, Ordering::Relaxed);
            self.calls.store(0, Ordering::Relaxed);
            self.key.store(key.hash, Ordering::Release);
        }
    }

    /// Notes the limit of a call on the watched key. Returns the other limit on the key, if there are two.
    pub fn note(&self, key: KeyHash, limit: LimitNumbers, now: u64) -> Option<LimitNumbers> {
        if key.hash == 0 {
            return None;
        }
        let is_over = now.saturating_sub(self.began_at.load(Ordering::Acquire)) >= LONGEST
            || self.calls.fetch_add(1, Ordering::Relaxed) >= MOST_CALLS;
        if is_over {
            self.end(key);
            return None;
        }
        let own = u128::from(key.hash) << 64 | u128::from(limit.0);
        let is_of_key = |seen: u128| (seen >> 64) as u64 == key.hash;
        let [first, second] = [&self.first, &self.second].map(|seen| seen.load(Ordering::Relaxed));
        if first == own && is_of_key(second) {
            self.end(key);
            return Some(LimitNumbers(second as u64));
        }
        let (place, seen) = match is_of_key(first) {
            false => (&self.first, first),
            true if first == own || is_of_key(second) => return None,
            true => (&self.second, second),
        };
        // If it fails, another process has noted its limit: this one's is seen at a later call.
        let _ = place.compare_exchange(seen, own, Ordering::Relaxed, Ordering::Relaxed);
        None
    }

    fn end(&self, key: KeyHash) {
        let _ = self.key.compare_exchange(key.hash, 0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Whether it is time to warn of limits of this name. Notes that it was done.
    pub fn claim_warning(&self, secret: [u64; 2], name: &[u8], now: u64) -> bool {
        let warned_at = self.warned_at.load(Ordering::Relaxed);
        if warned_at != 0 && now.saturating_sub(warned_at) < BETWEEN_WARNINGS {
            return false;
        }
        let hash = hash(secret, name);
        let warning = hash & !0xffff | (now / WARN_AGAIN) & 0xffff;
        let place = self.names.get((hash >> 32) as usize % NAMES);
        let is_due = place.is_some_and(|place| place.swap(warning, Ordering::Relaxed) != warning);
        if is_due {
            self.warned_at.store(now, Ordering::Relaxed);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::{FixedWindow, TokenBucket};

    const NOW: u64 = 100_000 * SECOND;

    fn key(hash: u64) -> KeyHash {
        KeyHash { hash, file: 1 }
    }

    fn limit(capacity: i64, seconds: f64) -> LimitNumbers {
        LimitNumbers::of(&TokenBucket::per_period(capacity, seconds).unwrap().into()).unwrap()
    }

    /// What is seen by calls on one key under limits of these capacities, from `NOW` on, some seconds apart.
    fn seen(capacities: &[i64], seconds: u64) -> Vec<Option<String>> {
        let watch = Watch::default();
        watch.begin(key(7), NOW);
        let times = (0..).map(|call| NOW + call * seconds * SECOND);
        let calls = capacities.iter().zip(times);
        calls
            .map(|(capacity, now)| {
                let other = watch.note(key(7), limit(*capacity, 300.0), now);
                other.map(|other| other.to_string())
            })
            .collect()
    }

    #[test]
    fn two_limits_are_two_that_alternate_within_a_minute() {
        let other = || Some("100 in 300 s".to_owned());
        assert_eq!(seen(&[5, 100, 5], 1), [None, None, other()]);
        assert_eq!(seen(&[5, 5, 100, 100, 5], 1), [None, None, None, None, other()]);
        assert_eq!(seen(&[5, 100, 5], 29), [None, None, other()]);
        assert_eq!(seen(&[5, 100, 5], 30), [None, None, None], "more than a minute");
        assert_eq!(seen(&[5, 5, 100, 100, 100], 1), [const { None }; 5], "a limit that changes");
        assert_eq!(seen(&[5; 9], 1), [const { None }; 9]);
    }

    #[test]
    fn watch_ends_after_some_calls_and_another_begins() {
        let watch = Watch::default();
        watch.begin(key(0), NOW);
        for capacity in [5, 6, 5] {
            assert_eq!(
                watch.note(key(0), limit(capacity, 300.0), NOW),
                None,
                "a key without a hash"
            );
        }
        watch.begin(key(7), NOW);
        watch.begin(key(8), NOW + LONGEST - 1);
        assert!(watch.is_on(key(7)));
        for _ in 0..=MOST_CALLS {
            assert_eq!(watch.note(key(7), limit(5, 300.0), NOW), None);
        }
        assert!(!watch.is_on(key(7)));
        watch.begin(key(8), NOW + PAUSE - 1);
        assert!(!watch.is_on(key(8)));
        watch.begin(key(8), NOW + PAUSE);
        assert!(watch.is_on(key(8)));
        watch.begin(key(9), NOW + PAUSE + LONGEST);
        assert!(watch.is_on(key(9)));
        // A slow process has begun its call before that.
        assert_eq!(watch.note(key(8), limit(9, 1.0), NOW + PAUSE + LONGEST), None);
        for capacity in [5, 5, 5] {
            assert_eq!(watch.note(key(9), limit(capacity, 300.0), NOW + PAUSE + LONGEST), None);
        }
    }

    #[test]
    fn limits_of_one_name_are_warned_of_once_an_hour_and_others_a_minute_later() {
        let watch = Watch::default();
        let claim = |name: &[u8], now| watch.claim_warning([1, 2], name, now);
        assert!(claim(b"login", NOW));
        assert!(!claim(b"login", NOW) && !claim(b"api", NOW + BETWEEN_WARNINGS - 1));
        assert!(!claim(b"login", NOW + BETWEEN_WARNINGS));
        assert!(claim(b"api", NOW + BETWEEN_WARNINGS));
        assert!(claim(b"login", NOW + WARN_AGAIN));
    }

    #[test]
    fn numbers_are_those_that_a_person_wrote() {
        let rate = |capacity, rate| {
            LimitNumbers::of(&TokenBucket::per_second(capacity, rate).unwrap().into()).unwrap()
        };
        assert_eq!(rate(5, 300.0).to_string(), "5 in 0.017 s");
        assert_eq!(rate(5, 5.0 / 300.0), limit(5, 300.0));
        assert_eq!(rate(10, 10.0 / 86_400.0).to_string(), "10 in 86400 s");
        let window = FixedWindow::new(20, 1.5).unwrap();
        assert_eq!(LimitNumbers::of(&window.into()).unwrap().to_string(), "20 in 1.5 s");
        let nanoseconds = TokenBucket::per_nanosecond(SECOND).unwrap();
        assert_eq!(LimitNumbers::of(&nanoseconds.into()), None);
    }
}
