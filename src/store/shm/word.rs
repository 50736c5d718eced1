//! One atomic word of 128 bits, behind a trait so that a model checker can take its place.

use portable_atomic::{AtomicU128, Ordering};

/// A 128-bit word that several processes change.
///
/// All operations are sequentially consistent: the argument that no key ever has two committed slots
/// (see `table`) needs a single order of them all.
pub trait Word {
    /// Reads the word.
    fn load(&self) -> u128;

    /// Replaces `old` by `new`; returns whether `old` was still there.
    fn replace(&self, old: u128, new: u128) -> bool;

    /// Writes the word, whatever was there.
    fn store(&self, word: u128);
}

impl Word for AtomicU128 {
    #[inline]
    fn load(&self) -> u128 {
        AtomicU128::load(self, Ordering::SeqCst)
    }

    #[inline]
    fn replace(&self, old: u128, new: u128) -> bool {
        self.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    #[inline]
    fn store(&self, word: u128) {
        AtomicU128::store(self, word, Ordering::SeqCst);
    }
}
