//! The deny cache: which buckets a server has denied, and until when.
//!
//! Paid: a word in shared memory for each denied bucket, and a refund or a reset on another host is seen up to a second late. Got: a
//! client that is denied and goes on costs the server one call a second.
//!
//! A denial changes nothing on the server, and other clients can only take more tokens. So until the
//! missing tokens have come back, every call of at least that cost is denied again, and need not ask
//! the server. An entry says when the bucket is full or when its block ends, by this host's clock, and
//! when the entry expires.
//!
//! ```text
//!  127      94 93                        32  31  30        0
//! +-----------+----------------------------+---+------------+
//! | key's tag | bucket full at, ns      62 | 0 | expires 31 |  a denial
//! | key's tag | blocked until, ns       62 | 1 | expires 31 |  a block
//! +-----------+----------------------------+---+------------+
//! ```
//!
//! The expiry counts in 2²⁰ ns, about a millisecond, and wraps. An entry whose time has passed is the
//! mark of a refund or reset at that time: a denial of a call that was sent before it must not be
//! noted any more.

use crate::limit::SECOND;
use crate::mapped::fields::fields;
use crate::mapped::set::TAG_BITS;
use portable_atomic::{AtomicU128, Ordering};

/// How long a denial is valid at most, in nanoseconds.
const LIFETIME: u64 = SECOND;

const UNIT_BITS: u32 = 20;
const EXPIRY_BITS: u32 = 31;
/// The most units that a lifetime has left: one more than it has, if it begins within a unit.
const MAX_UNITS: u64 = (LIFETIME >> UNIT_BITS) + 1;

/// Why calls are denied without asking the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownDenial {
    /// The bucket lacks tokens: it is full at this time, at the earliest.
    FullAt(u64),
    /// A block denies all calls until this time.
    BlockedUntil(u64),
}

impl KnownDenial {
    fn time(self) -> u64 {
        let (Self::FullAt(time) | Self::BlockedUntil(time)) = self;
        time
    }
}

fields! {
    /// The content of a word.
    struct CachedDenial: u128 {
        /// In units; wraps.
        expires_at: u64 = EXPIRY_BITS,
        is_block: bool = 1,
        /// When the bucket is full, or the block ends.
        time: u64 = 62,
        tag: u64 = TAG_BITS,
    }
}

impl CachedDenial {
    fn new(tag: u64, denial: KnownDenial, expires_at: u64) -> Self {
        let is_block = matches!(denial, KnownDenial::BlockedUntil(_));
        Self { expires_at: expires_at >> UNIT_BITS, is_block, time: denial.time(), tag }
    }

    fn denial(self) -> KnownDenial {
        match self.is_block {
            false => KnownDenial::FullAt(self.time),
            true => KnownDenial::BlockedUntil(self.time),
        }
    }

    /// Whether the entry is a denial that is valid at `now`.
    fn is_live(self, now: u64) -> bool {
        let left = self.expires_at.wrapping_sub(now >> UNIT_BITS) & ((1 << EXPIRY_BITS) - 1);
        self.time > now && (1..=MAX_UNITS).contains(&left)
    }
}

/// The denial that is known of the bucket of `tag`.
#[inline]
pub fn find(set: &[AtomicU128], tag: u64, now: u64) -> Option<KnownDenial> {
    set.iter()
        .map(|word| CachedDenial::from_word(word.load(Ordering::Acquire)))
        .find(|entry| entry.tag == tag && entry.is_live(now))
        .map(CachedDenial::denial)
}

/// Notes a denial of the bucket of `tag`, as the server answered a call that was sent at `sent`.
pub fn note(set: &[AtomicU128], tag: u64, denial: KnownDenial, sent: u64, now: u64) {
    put(set, tag, now, CachedDenial::new(tag, denial, now + LIFETIME), |known| {
        // Not after a refund or reset that the server may not have known when it answered.
        !(known.time <= now && known.time >= sent)
    });
}

/// Forgets the denial of `tag`, and ignores denials of calls that were sent before `now`.
pub fn clear(set: &[AtomicU128], tag: u64, now: u64) {
    put(set, tag, now, CachedDenial::new(tag, KnownDenial::FullAt(now), now), |_| true);
}

/// Writes an entry over that of its tag, if `may_replace` allows, or else over the one that is
/// missed least.
fn put(
    set: &[AtomicU128],
    tag: u64,
    now: u64,
    entry: CachedDenial,
    may_replace: impl Fn(CachedDenial) -> bool,
) {
    // Eight tries. A denial that is not noted costs one call to the server. A mark of a refund must
    // be written, and is unless eight other changes come in between.
    for _ in 0..8 {
        let mut words =
            set.iter().map(|word| (word, CachedDenial::from_word(word.load(Ordering::Acquire))));
        let found = words.clone().find(|(_, known)| known.tag == tag);
        let Some((word, known)) = found
            .or_else(|| words.by_ref().min_by_key(|(_, known)| (known.is_live(now), known.time)))
        else {
            return;
        };
        if known.tag == tag && !may_replace(known) {
            return;
        }
        let (old, new) = (known.to_word(), entry.to_word());
        if word.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            break;
        }
    }
    // Two processes that added the key at once have made two entries: one is enough.
    let mut seen = false;
    for word in set {
        let known = CachedDenial::from_word(word.load(Ordering::Acquire));
        if known.tag == tag && std::mem::replace(&mut seen, true) {
            let _ = word.compare_exchange(known.to_word(), 0, Ordering::AcqRel, Ordering::Acquire);
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
    const MINUTE: KnownDenial = KnownDenial::FullAt(T + 60 * SECOND);

    #[test]
    fn denial_is_valid_for_its_lifetime() {
        let set = set();
        assert_eq!(find(&set, 5, T), None);
        note(&set, 5, MINUTE, T - 9, T);
        assert_eq!(find(&set, 5, T + 1), Some(MINUTE));
        assert_eq!(find(&set, 6, T + 1), None);
        assert_eq!(find(&set, 5, T + LIFETIME + (2 << UNIT_BITS)), None);
        note(&set, 5, KnownDenial::FullAt(T + 7), T, T);
        assert_eq!(find(&set, 5, T + 7), None, "the bucket is full");
        // Valid from the first moment, wherever within a unit that is.
        for now in (T..T + (2 << UNIT_BITS)).step_by(1 << (UNIT_BITS - 4)) {
            note(&set, 5, MINUTE, now, now);
            assert!(find(&set, 5, now).is_some());
        }
    }

    #[test]
    fn denial_sent_before_a_refund_is_not_noted() {
        let set = set();
        note(&set, 5, MINUTE, T - 9, T);
        clear(&set, 5, T + 10);
        assert_eq!(find(&set, 5, T + 10), None);
        note(&set, 5, MINUTE, T + 9, T + 20);
        assert_eq!(find(&set, 5, T + 20), None, "sent before");
        note(&set, 5, MINUTE, T + 11, T + 21);
        assert!(find(&set, 5, T + 21).is_some(), "sent after");
    }

    #[test]
    fn block_and_denial_are_told_apart() {
        let set = set();
        let block = KnownDenial::BlockedUntil(T + 3_600 * SECOND);
        note(&set, 5, block, T, T);
        note(&set, 6, MINUTE, T, T);
        assert_eq!((find(&set, 5, T + 1), find(&set, 6, T + 1)), (Some(block), Some(MINUTE)));
        assert_eq!(find(&set, 5, T + LIFETIME + (2 << UNIT_BITS)), None);
    }

    #[test]
    fn each_bucket_has_one_entry() {
        let set = set();
        // Two processes have added bucket 5 at once.
        for word in &set[..2] {
            word.store(CachedDenial::new(5, MINUTE, T + LIFETIME).to_word(), Ordering::Relaxed);
        }
        for tag in 3..9 {
            note(&set, tag, MINUTE, T, T);
        }
        let mut tags: Vec<_> = set
            .iter()
            .map(|word| CachedDenial::from_word(word.load(Ordering::Relaxed)).tag)
            .collect();
        tags.sort_unstable();
        assert_eq!(tags, [0, 0, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn newest_denial_finds_room() {
        let set = set();
        for tag in 1..100 {
            note(&set, tag, MINUTE, T, T);
            assert!(find(&set, tag, T).is_some());
        }
    }
}
