//! What a server has denied, and until when: the deny cache.
//!
//! A denial changes nothing at the server, and others can only take more: until the bucket has
//! what was missing, every call that wants as much would be denied again. What is kept is when
//! the bucket is full, by this host's clock, and for how long that may be believed: a refund
//! made on another host is not seen here.
//!
//! ```text
//!  127      94 93                        32 31          0
//! +-----------+----------------------------+-------------+
//! | key's tag | bucket full at, ns      62 | believed 32 |
//! +-----------+----------------------------+-------------+
//! ```
//!
//! What is believed counts in 2²⁰ ns, about a millisecond, and wraps. An entry whose time has
//! passed says when the bucket was last refunded or reset: a denial that was on its way then
//! must not be noted any more.

use crate::limit::SECOND;
use crate::store::shm::slot::TAG_BITS;
use portable_atomic::{AtomicU128, Ordering};

/// For how long a denial is believed at most.
const LIFE: u64 = SECOND;

const TAG_SHIFT: u32 = 128 - TAG_BITS;
const UNIT_BITS: u32 = 20;
const FULL_BITS: u32 = 62;
/// The most units that a life has left: one more than fit, if it began late in a unit.
const LONGEST: u32 = (LIFE >> UNIT_BITS) as u32 + 1;

#[derive(Clone, Copy)]
struct Entry(u128);

impl Entry {
    fn new(tag: u64, full_at: u64, believed_until: u64) -> Self {
        let believed = (believed_until >> UNIT_BITS) as u32;
        Self(u128::from(tag) << TAG_SHIFT | u128::from(full_at) << 32 | u128::from(believed))
    }

    fn tag(self) -> u64 {
        (self.0 >> TAG_SHIFT) as u64
    }

    fn full_at(self) -> u64 {
        (self.0 >> 32) as u64 & ((1 << FULL_BITS) - 1)
    }

    fn is_live(self, now: u64) -> bool {
        let left = (self.0 as u32).wrapping_sub((now >> UNIT_BITS) as u32);
        self.full_at() > now && (1..=LONGEST).contains(&left)
    }
}

/// When the bucket of `tag` is full, at the earliest, if a denial is known.
#[inline]
pub fn look(set: &[AtomicU128], tag: u64, now: u64) -> Option<u64> {
    set.iter()
        .map(|word| Entry(word.load(Ordering::Acquire)))
        .find(|entry| entry.tag() == tag && entry.is_live(now))
        .map(Entry::full_at)
}

/// Notes that the bucket of `tag` is full at `full_at`, as the server said to a call that was
/// sent at `sent`.
pub fn note(set: &[AtomicU128], tag: u64, full_at: u64, sent: u64, now: u64) {
    put(set, tag, now, Entry::new(tag, full_at, now + LIFE), |known| {
        // LimitArguments back since: what the server said may be of before.
        !(known.full_at() <= now && known.full_at() >= sent)
    });
}

/// Forgets what was denied to `tag`, and what is on its way to be noted.
pub fn clear(set: &[AtomicU128], tag: u64, now: u64) {
    put(set, tag, now, Entry::new(tag, now, now), |_| true);
}

fn put(set: &[AtomicU128], tag: u64, now: u64, entry: Entry, may: impl Fn(Entry) -> bool) {
    // A few tries: who loses to others leaves it to them, a denial not noted costs a question.
    // Clearing must win, and does so for as long as fewer than eight others come in between.
    for _ in 0..8 {
        let mut words = set.iter().map(|word| (word, Entry(word.load(Ordering::Acquire))));
        let found = words.clone().find(|(_, known)| known.tag() == tag);
        let Some((word, known)) = found.or_else(|| {
            words.by_ref().min_by_key(|(_, known)| (known.is_live(now), known.full_at()))
        }) else {
            return;
        };
        if known.tag() == tag && !may(known) {
            return;
        }
        let (old, new) = (known.0, entry.0);
        if word.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            break;
        }
    }
    // Two who brought the key in at once have made two entries: one is enough.
    let mut seen = false;
    for word in set {
        let known = Entry(word.load(Ordering::Acquire));
        if known.tag() == tag && std::mem::replace(&mut seen, true) {
            let _ = word.compare_exchange(known.0, 0, Ordering::AcqRel, Ordering::Acquire);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> [AtomicU128; 8] {
        std::array::from_fn(|_| AtomicU128::new(0))
    }

    const T: u64 = 1_000 * SECOND;

    #[test]
    fn a_denial_is_believed_for_a_while() {
        let set = set();
        assert_eq!(look(&set, 5, T), None);
        note(&set, 5, T + 60 * SECOND, T - 9, T);
        assert_eq!(look(&set, 5, T + 1), Some(T + 60 * SECOND));
        assert_eq!(look(&set, 6, T + 1), None);
        assert_eq!(look(&set, 5, T + LIFE + (2 << UNIT_BITS)), None);
        note(&set, 5, T + 7, T, T);
        assert_eq!(look(&set, 5, T + 7), None, "it is full");
        // From the first moment on, wherever in a unit that is.
        for now in (T..T + (2 << UNIT_BITS)).step_by(1 << (UNIT_BITS - 4)) {
            note(&set, 5, T + 60 * SECOND, now, now);
            assert!(look(&set, 5, now).is_some());
        }
    }

    #[test]
    fn what_was_on_its_way_when_it_was_cleared_is_not_noted() {
        let set = set();
        note(&set, 5, T + 60 * SECOND, T - 9, T);
        clear(&set, 5, T + 10);
        assert_eq!(look(&set, 5, T + 10), None);
        note(&set, 5, T + 60 * SECOND, T + 9, T + 20);
        assert_eq!(look(&set, 5, T + 20), None, "sent before");
        note(&set, 5, T + 60 * SECOND, T + 11, T + 21);
        assert!(look(&set, 5, T + 21).is_some(), "sent after");
    }

    #[test]
    fn more_keys_than_room() {
        let set = set();
        for tag in 1..100 {
            note(&set, tag, T + SECOND, T, T);
            assert!(look(&set, tag, T).is_some());
        }
    }
}
