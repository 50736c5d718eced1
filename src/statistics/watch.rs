//! Notices two limits on one identifier: each call overwrites what the other limit has left.
//!
//! The processes of a host watch some keys at a time, each in the place that its hash chooses. A process watches the key of a
//! call now and then, and more often that of a limiter's first call, if the place is free. For the next calls on it, of all
//! processes, the numbers of their limits are noted. A limit that changes is seen as A, then B; only two limits are seen as
//! A, then B, then A again.
//!
//! Tried: places in each process, which would need no atomics. The file has to remember what was warned of in any case, and
//! two limits that are called in turn by ten workers, ten times a minute in all, were then seen after an hour or never: by the
//! host's places after three minutes. Programs that make one call and end would never be seen.

use crate::dsn::sanitize;
use crate::hash;
use crate::limit::{Limit, SECOND, describe_seconds};
use crate::mapped::{Mappable, Region, WATCH_AT};
use crate::store::KeyHash;
use portable_atomic::{AtomicU64, AtomicU128, Ordering};
use std::fmt;

/// How long a key is watched at most, in nanoseconds.
const LONGEST: u64 = 60 * SECOND;
/// How many calls on it are looked at: each costs some ten nanoseconds.
const MOST_CALLS: u64 = 16;
/// How long after the beginning of a watch the next one may begin in its place, in nanoseconds, unless the watched key has
/// been seen under two limits.
const PAUSE: u64 = SECOND;
/// How long a change of limits takes until all workers have noticed it, in nanoseconds.
pub const CHANGE: u64 = 3 * SECOND;
/// How many keys are watched at a time.
const PLACES: usize = 32;
/// The limits of one name are warned of once in this time, in seconds.
const WARN_AGAIN: u64 = 3_600;
/// How many names are remembered that were warned of, and so the most warnings in that time: clients may have made up the
/// names.
const NAMES: usize = 16;
/// The bits of a word of such a name that are the time of the warning, in seconds.
const TIME_BITS: u32 = 24;

/// What the processes of a host see of the keys that they watch.
#[repr(C, align(64))]
#[derive(Default)]
pub struct Watch {
    places: [WatchedKey; PLACES],
    /// The names that were warned of: the time of the warning in the lowest bits, below the hash of the name.
    names: [AtomicU64; NAMES],
}

// SAFETY: consists of atomics, of which any bits are a value.
unsafe impl Mappable for Watch {}

/// What is seen of one key.
#[repr(C, align(64))]
#[derive(Default)]
struct WatchedKey {
    /// The hash of the key; 0 if none is watched.
    key: AtomicU64,
    /// When the watch began, by the coarse clock, as all times here.
    began_at: AtomicU64,
    /// The hash of the key, and the numbers of the limit that was seen first. The hash tells it from what a slow process
    /// notes of an earlier key.
    first: AtomicU128,
    /// The hash of the key, and the numbers of another limit that was seen since.
    second: AtomicU128,
    /// How many calls were looked at.
    calls: AtomicU64,
}

/// The numbers of a limit: the capacity (32 bits), and the seconds of its window as a float of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LimitNumbers(u64);

impl LimitNumbers {
    /// The numbers of a limit. None if its tokens are nanoseconds: then its capacity says nothing to a person.
    pub fn of(limit: &Limit) -> Option<Self> {
        let capacity = u32::try_from(limit.capacity()).ok()?;
        let is_in_nanoseconds = limit.window() == limit.capacity();
        let window = match limit {
            Limit::CalendarWindow(window) => usual_length(window.length()),
            limit => limit.window(),
        };
        let seconds = (window as f64 / SECOND as f64) as f32;
        let numbers = u64::from(capacity) << 32 | u64::from(seconds.to_bits());
        (!is_in_nanoseconds).then_some(Self(numbers))
    }
}

/// The usual length of the calendar's unit with a window of this length: at its end two processes may be in windows of two
/// lengths, two months for example.
fn usual_length(length: u64) -> u64 {
    const HOUR: u64 = 3_600 * SECOND;
    const DAY: u64 = 24 * HOUR;
    let units = [HOUR, DAY, 7 * DAY, 30 * DAY, 365 * DAY];
    units.into_iter().find(|unit| length < unit / 2 * 3).unwrap_or(length)
}

impl fmt::Display for LimitNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (capacity, seconds) = (self.0 >> 32, f32::from_bits(self.0 as u32));
        write!(f, "{capacity} in {}", describe_seconds(seconds.into()))
    }
}

/// The warning of two limits; `name` is the name that both have, or empty.
pub fn warning(name: &[u8], own: LimitNumbers, other: LimitNumbers) -> String {
    let name = match name {
        b"" => String::new(),
        name => format!(" of \"{}\"", sanitize(&String::from_utf8_lossy(name))),
    };
    format!(
        "Two limits on one identifier{name} overwrite each other: {own} and {other}; an identifier must have one limit"
    )
}

impl Watch {
    /// The watch in this file.
    #[inline(always)]
    pub fn in_file(region: &Region) -> &Self {
        region.in_header::<Self, WATCH_AT>()
    }

    /// The place in which the key of this hash is watched, if it is.
    #[inline(always)]
    fn place(&self, key: KeyHash) -> &WatchedKey {
        let [first, ..] = &self.places;
        // Always there: the remainder is less than PLACES.
        self.places.get((key.hash >> 32) as usize % PLACES).unwrap_or(first)
    }

    /// Whether the key of this hash is watched.
    #[inline(always)]
    pub fn is_on(&self, key: KeyHash) -> bool {
        self.place(key).key.load(Ordering::Relaxed) == key.hash
    }

    /// Watches this key from `now` on, unless its place is taken or has just been.
    pub fn begin(&self, key: KeyHash, now: u64) {
        if key.hash != 0 {
            self.place(key).begin(key.hash, now);
        }
    }

    /// Notes the limit of a call on the watched key. Returns the other limit on the key, if there are two.
    pub fn note(&self, key: KeyHash, limit: LimitNumbers, now: u64) -> Option<LimitNumbers> {
        if key.hash == 0 { None } else { self.place(key).note(key.hash, limit, now) }
    }

    /// Whether it is time to warn of limits of this name. Notes that it was done.
    pub fn claim_warning(&self, secret: [u64; 2], name: &[u8], now: u64) -> bool {
        let (name, now) = (hash::keyed(secret, &[name]) >> TIME_BITS, now / SECOND);
        // How many seconds ago it was; the time of a word that no name has is long past.
        let age = |word: u64| match word {
            0 => u64::MAX,
            word => now.wrapping_sub(word) & ((1 << TIME_BITS) - 1),
        };
        let (mut oldest, mut free) = (0, None);
        for place in &self.names {
            let word = place.load(Ordering::Relaxed);
            if word != 0 && word >> TIME_BITS == name {
                (oldest, free) = (age(word), Some((place, word)));
                break;
            }
            if age(word) > oldest {
                (oldest, free) = (age(word), Some((place, word)));
            }
        }
        let Some((place, word)) = free.filter(|_| oldest >= WARN_AGAIN) else { return false };
        let warning = name << TIME_BITS | now & ((1 << TIME_BITS) - 1);
        // If it fails, another process warns.
        place.compare_exchange(word, warning, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

impl WatchedKey {
    fn begin(&self, key: u64, now: u64) {
        let (watched, began_at) =
            (self.key.load(Ordering::Relaxed), self.began_at.load(Ordering::Relaxed));
        let has_two = || is_of_key(self.second.load(Ordering::Relaxed), watched);
        let rest = if watched != 0 && (watched == key || has_two()) { LONGEST } else { PAUSE };
        if now.saturating_sub(began_at) < rest {
            return;
        }
        let (order, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        if self.began_at.compare_exchange(began_at, now, order, failure).is_ok() {
            self.first.store(0, Ordering::Relaxed);
            self.second.store(0, Ordering::Relaxed);
            self.calls.store(0, Ordering::Relaxed);
            self.key.store(key, Ordering::Release);
        }
    }

    fn note(&self, key: u64, limit: LimitNumbers, now: u64) -> Option<LimitNumbers> {
        let is_over = now.saturating_sub(self.began_at.load(Ordering::Acquire)) >= LONGEST
            || self.calls.fetch_add(1, Ordering::Relaxed) >= MOST_CALLS;
        if is_over {
            self.end(key);
            return None;
        }
        let own = u128::from(key) << 64 | u128::from(limit.0);
        let [first, second] = [&self.first, &self.second].map(|seen| seen.load(Ordering::Relaxed));
        if first == own && is_of_key(second, key) {
            self.end(key);
            return Some(LimitNumbers(second as u64));
        }
        let (place, seen) = match is_of_key(first, key) {
            false => (&self.first, first),
            true if first == own || is_of_key(second, key) => return None,
            true => (&self.second, second),
        };
        // If it fails, another process has noted its limit: this one's is seen at a later call.
        let _ = place.compare_exchange(seen, own, Ordering::Relaxed, Ordering::Relaxed);
        None
    }

    fn end(&self, key: u64) {
        let _ = self.key.compare_exchange(key, 0, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// Whether what was seen is of the key of this hash.
fn is_of_key(seen: u128, key: u64) -> bool {
    (seen >> 64) as u64 == key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::{CalendarWindow, FixedWindow, TokenBucket};

    const NOW: u64 = 100_000 * SECOND;
    const DAY: u64 = 86_400 * SECOND;

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
    fn key_without_a_hash_is_not_watched() {
        let watch = Watch::default();
        watch.begin(key(0), NOW);
        for capacity in [5, 6, 5] {
            assert_eq!(watch.note(key(0), limit(capacity, 300.0), NOW), None);
        }
    }

    #[test]
    fn watch_ends_after_some_calls_and_begins_again_after_a_pause() {
        let watch = Watch::default();
        watch.begin(key(7), NOW);
        for _ in 0..=MOST_CALLS {
            assert!(watch.is_on(key(7)));
            assert_eq!(watch.note(key(7), limit(5, 300.0), NOW), None);
        }
        assert!(!watch.is_on(key(7)));
        watch.begin(key(7), NOW + PAUSE - 1);
        assert!(!watch.is_on(key(7)));
        watch.begin(key(7), NOW + PAUSE);
        assert!(watch.is_on(key(7)));
    }

    /// Keys 7 and 8 have one place.
    #[test]
    fn key_makes_way_for_another_after_a_pause() {
        let watch = Watch::default();
        watch.begin(key(7), NOW);
        watch.note(key(7), limit(5, 300.0), NOW);
        watch.begin(key(8), NOW + PAUSE - 1);
        assert!(watch.is_on(key(7)));
        watch.begin(key(8), NOW + PAUSE);
        assert!(watch.is_on(key(8)) && !watch.is_on(key(7)));
        // A slow process has begun its call before that.
        assert_eq!(watch.note(key(7), limit(9, 1.0), NOW + PAUSE), None);
        for _ in 0..3 {
            assert_eq!(watch.note(key(8), limit(5, 300.0), NOW + PAUSE), None);
        }
    }

    #[test]
    fn key_that_was_seen_under_two_limits_is_watched_for_a_minute() {
        let watch = Watch::default();
        watch.begin(key(7), NOW);
        watch.note(key(7), limit(5, 300.0), NOW);
        watch.note(key(7), limit(6, 300.0), NOW);
        watch.begin(key(8), NOW + LONGEST - 1);
        assert!(watch.is_on(key(7)));
        watch.begin(key(8), NOW + LONGEST);
        assert!(watch.is_on(key(8)));
    }

    #[test]
    fn other_keys_are_watched_at_the_same_time() {
        let watch = Watch::default();
        let other = key(1 << 32);
        watch.begin(key(7), NOW);
        watch.begin(other, NOW);
        assert!(watch.is_on(key(7)) && watch.is_on(other));
    }

    #[test]
    fn limits_of_each_name_are_warned_of_once_an_hour_and_of_some_names_at_most() {
        let watch = Watch::default();
        let hour = WARN_AGAIN * SECOND;
        let claim = |name: &str, now| watch.claim_warning([1, 2], name.as_bytes(), now);
        assert!(claim("login", NOW) && claim("api", NOW));
        assert!(!claim("login", NOW) && !claim("login", NOW + hour - 1) && !claim("api", NOW));
        assert!(claim("login", NOW + hour));
        let others = (0..100).filter(|i| claim(&format!("other {i}"), NOW + hour)).count();
        assert_eq!(others, NAMES - 1, "the place of api is free again");
        assert!(!claim("login", NOW + 2 * hour - 1) && claim("login", NOW + 2 * hour));
    }

    #[test]
    fn months_and_days_of_all_lengths_are_one_limit() {
        let numbers = |hours: u64| {
            let begin = 1_000 * DAY;
            let end = begin + hours * 3_600 * SECOND;
            let window = CalendarWindow::new(10, [begin, end, end + SECOND]).unwrap();
            LimitNumbers::of(&window.into()).unwrap().to_string()
        };
        assert_eq!(numbers(1), "10 in 3600 s");
        assert_eq!([23, 24, 25].map(numbers), ["10 in 86400 s"; 3]);
        for days in 28..=31 {
            assert_eq!(numbers(24 * days + 1), "10 in 2592000 s");
        }
        assert_eq!([167, 169].map(numbers), ["10 in 604800 s"; 2]);
        assert_eq!([365, 366].map(|days| numbers(24 * days)), ["10 in 31536000 s"; 2]);
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
