//! A set of slots, and how a key's hash leads to its set.

use super::{Mappable, SET_SIZE};
use portable_atomic::AtomicU128;

/// The bits of a tag: the rest of a hash chooses the set.
pub const TAG_BITS: u32 = 34;

/// The slots of a set: two cache lines.
pub const WAYS: usize = 8;

/// A set of slots, on cache lines of its own.
///
/// Its words are atomics, or those of a model checker.
#[repr(C, align(128))]
pub struct Set<W = AtomicU128>(pub [W; WAYS]);

const _: () = assert!(size_of::<Set>() == SET_SIZE);

// SAFETY: consists of atomics, of which any bits are a value.
unsafe impl Mappable for Set {}

/// The places that a hash stands for: keys in neighbouring sets, one in each set, without end.
///
/// Neighbours lie side by side in memory, so that many places are read quickly.
pub struct Places<'a, W = AtomicU128> {
    sets: &'a [Set<W>],
    /// The set of the first place.
    first: usize,
    hash: u64,
}

// Derived, they would ask for words that can be copied.
impl<W> Copy for Places<'_, W> {}

impl<W> Clone for Places<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<'a, W> Places<'a, W> {
    /// The places of a hash. None if there are no sets.
    #[inline(always)]
    pub fn new(sets: &'a [Set<W>], hash: u64) -> Option<Self> {
        (!sets.is_empty()).then(|| Self { sets, first: set_index(sets, hash), hash })
    }

    /// The set and the tag of each place.
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = (&'a Set<W>, u64)> {
        let (before, from_first) = self.sets.split_at_checked(self.first).unwrap_or_default();
        let sets = from_first.iter().chain(before).cycle();
        sets.zip(0u32..).map(|(set, place)| (set, self.tag(place)))
    }

    /// The set and the tag of one place.
    #[inline(always)]
    pub fn get(&self, place: u32) -> Option<(&'a Set<W>, u64)> {
        let set = self.sets.get((self.first + place as usize) % self.sets.len())?;
        Some((set, self.tag(place)))
    }

    /// An odd factor: no two places of a hash have one tag.
    #[inline(always)]
    fn tag(&self, place: u32) -> u64 {
        tag(self.hash.wrapping_add(u64::from(place).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }
}

/// The set and the tag that a hash stands for: its upper 30 bits choose the set, its lower 34 are
/// the tag. A tag is never zero.
#[inline(always)]
pub fn locate(sets: &[Set], hash: u64) -> Option<(&Set, u64)> {
    Some((sets.get(set_index(sets, hash))?, tag(hash)))
}

/// What a hash stands for among all of a kind: its upper 30 bits choose it.
pub fn find<T>(all: &[T], hash: u64) -> Option<&T> {
    all.get(set_index(all, hash))
}

#[inline(always)]
fn set_index<T>(sets: &[T], hash: u64) -> usize {
    // Never wraps: 30 bits times at most 30.
    (((hash >> TAG_BITS) * sets.len() as u64) >> (64 - TAG_BITS)) as usize
}

#[inline(always)]
fn tag(hash: u64) -> u64 {
    (hash & ((1 << TAG_BITS) - 1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_bits_of_a_hash_choose_evenly_among_all() {
        let all: Vec<u64> = (0..5).collect();
        for hash in 0..1_000 {
            assert_eq!(find(&all, hash << 54), Some(&(hash * 5 / 1_024)));
        }
        assert_eq!(find(&all, u64::MAX), Some(&4));
        assert_eq!(find::<u64>(&[], 7), None);
    }
}
