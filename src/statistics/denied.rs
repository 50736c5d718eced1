//! The identifiers that a limit denies most.
//!
//! There are more identifiers than memory, so only some are counted, in sets of [`WAYS`], by the
//! algorithm of Misra and Gries ("Finding repeated elements", 1982). A denial of an identifier that
//! is not in its set is taken off the lowest count there; once that count is used up, the identifier
//! takes the place. So an identifier that is denied often stays, however many others are denied
//! once, and makes room after it has stopped.
//!
//! Of many denials only some are counted ([`weigh_denial`](super::records::Stripe::weigh_denial)), so the counts are estimates. They are halved once
//! in [`HALF_LIFE`], so that the list tells of the last hours and not of the last months.

use crate::limit::SECOND;
use crate::mapped::SharedText;
use portable_atomic::{AtomicU64, Ordering};
use siphasher::sip::SipHasher13;
use std::hash::Hasher;

/// After this time a denial counts for half as much, in nanoseconds.
pub const HALF_LIFE: u64 = 3_600 * SECOND;
const SETS: usize = 16;
/// The identifiers in a set.
const WAYS: usize = 4;
/// The longest identifier that is kept, in bytes.
pub const LONGEST_IDENTIFIER: usize = 96;

/// The identifiers of a limit that are counted. A word of a set is an identifier's tag (32 bits) and
/// its count (32 bits).
#[repr(C, align(64))]
pub struct DeniedIdentifiers {
    sets: [[AtomicU64; WAYS]; SETS],
    identifiers: [[SharedText<{ LONGEST_IDENTIFIER / 8 }>; WAYS]; SETS],
}

impl DeniedIdentifiers {
    /// Counts a denial of this `weight` for an identifier.
    pub fn note(&self, secret: [u64; 2], weight: u32, identifier: &[u8]) {
        let identifier = identifier.get(..LONGEST_IDENTIFIER).unwrap_or(identifier);
        let hash = hash(secret, identifier);
        let (tag, at) = (tag(hash), hash as usize % SETS);
        let Some((set, texts)) = self.sets.get(at).zip(self.identifiers.get(at)) else { return };
        let Some((word, text)) = choose(set, tag).and_then(|at| set.get(at).zip(texts.get(at)))
        else {
            return;
        };
        let seen = word.load(Ordering::Acquire);
        let (owner, count) = unpack(seen);
        let new = match count.saturating_sub(weight) {
            // Saturates: an overflow would change the tag.
            _ if owner == tag => pack(tag, count.saturating_add(weight)),
            0 => pack(tag, 1),
            left => pack(owner, left),
        };
        let replaced = word.compare_exchange(seen, new, Ordering::AcqRel, Ordering::Relaxed);
        if replaced.is_ok() && unpack(new).0 == tag {
            // Written each time: the process that wrote the tag may have died before the text.
            text.write(identifier);
        }
    }

    /// Halves all counts so many times.
    pub fn halve(&self, times: u64) {
        let times = times.min(u64::from(u32::BITS - 1)) as u32;
        for word in self.sets.as_flattened() {
            // A denial that is counted meanwhile is not lost; the words of idle identifiers are not written.
            let _ = word.fetch_update(Ordering::AcqRel, Ordering::Acquire, |seen| {
                let (owner, count) = unpack(seen);
                (count > 0).then(|| pack(owner, count >> times))
            });
        }
    }

    /// Forgets all identifiers.
    pub fn clear(&self) {
        self.sets.as_flattened().iter().for_each(|word| word.store(0, Ordering::Release));
    }

    /// The identifiers and about how often they were denied, the most often first.
    pub fn snapshot(&self, secret: [u64; 2]) -> Vec<(Vec<u8>, u32)> {
        let words = self.sets.as_flattened().iter();
        let mut found: Vec<_> = words
            .zip(self.identifiers.as_flattened())
            .filter_map(|(word, identifier)| {
                let (tag_in_word, count) = unpack(word.load(Ordering::Acquire));
                let identifier = identifier.read();
                // A text without its own tag is being replaced.
                let is_whole = tag(hash(secret, &identifier)) == tag_in_word;
                (count > 0 && is_whole).then_some((identifier, count))
            })
            .collect();
        found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        found
    }
}

/// The place of a tag in its set, or the place with the lowest count.
fn choose(set: &[AtomicU64; WAYS], tag: u32) -> Option<usize> {
    let words = || set.iter().map(|word| unpack(word.load(Ordering::Acquire)));
    let known = words().position(|(owner, _)| owner == tag);
    known.or_else(|| words().enumerate().min_by_key(|(_, (_, count))| *count).map(|(at, _)| at))
}

/// The keyed hash of a text: a client that could find two identifiers of one hash would have them
/// counted as one.
pub fn hash([low, high]: [u64; 2], text: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(low, high);
    hasher.write(text);
    hasher.finish()
}

/// The tag of a hash. Zero is that of a place without an identifier.
fn tag(hash: u64) -> u32 {
    ((hash >> 32) as u32).max(1)
}

fn pack(tag: u32, count: u32) -> u64 {
    u64::from(tag) << 32 | u64::from(count)
}

fn unpack(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}
