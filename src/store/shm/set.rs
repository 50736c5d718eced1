//! A set of slots, and how a key's hash leads to its set.

use super::slot::TAG_BITS;
use crate::store::file::{Mappable, SET_SIZE};
use portable_atomic::AtomicU128;

/// The slots of a set: two cache lines.
pub const WAYS: usize = 8;

/// A set of slots, on cache lines of its own.
#[repr(C, align(128))]
pub struct Set(pub [AtomicU128; WAYS]);

const _: () = assert!(size_of::<Set>() == SET_SIZE);

// SAFETY: consists of atomics, of which any bits are a value.
unsafe impl Mappable for Set {}

/// The set and the tag that a hash stands for: its upper 30 bits choose the set, its lower 34 are
/// the tag. A tag is never zero.
#[inline(always)]
pub fn locate(sets: &[Set], hash: u64) -> Option<(&Set, u64)> {
    // Never wraps: 30 bits times at most 30.
    let index = ((hash >> TAG_BITS) * sets.len() as u64) >> (64 - TAG_BITS);
    let tag = (hash & ((1 << TAG_BITS) - 1)).max(1);
    Some((sets.get(index as usize)?, tag))
}

/// The set and the tag of the place `n` of a key, as many places as a limit allows at once. The first is the
/// one that [`locate`] gives; each further one is in the next set, so that no set has to hold many.
#[inline(always)]
pub fn nth(sets: &[Set], hash: u64, n: u32) -> Option<(&Set, u64)> {
    // Odd, so that the tags of a key differ.
    const STEP: u64 = 0x1_9e37_79b9;
    let index = ((hash >> TAG_BITS) * sets.len() as u64) >> (64 - TAG_BITS);
    // Never wraps: both are below 2^32.
    let index = (index + u64::from(n)) % (sets.len() as u64).max(1);
    let tag = hash.wrapping_add(u64::from(n).wrapping_mul(STEP)) & ((1 << TAG_BITS) - 1);
    Some((sets.get(index as usize)?, tag.max(1)))
}
