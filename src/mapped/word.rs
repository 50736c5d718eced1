//! One atomic word, behind a trait so that a model checker can take its place.

use portable_atomic::{AtomicU64, AtomicU128, Ordering};

/// A word that several processes change, of 128 bits if nothing else is said.
///
/// All operations are sequentially consistent: the argument that no key ever has two committed slots
/// (see [`table`](crate::store::shm::table)) needs a single order of them all.
pub trait Word<T = u128> {
    /// Reads the word.
    fn load(&self) -> T;

    /// Replaces `old` by `new`; returns whether `old` was still there.
    fn replace(&self, old: T, new: T) -> bool;

    /// Writes the word, whatever was there.
    fn store(&self, word: T);
}

macro_rules! implement {
    ($($atomic:ty: $value:ty),*) => {$(
        impl Word<$value> for $atomic {
            #[inline]
            fn load(&self) -> $value {
                <$atomic>::load(self, Ordering::SeqCst)
            }

            #[inline]
            fn replace(&self, old: $value, new: $value) -> bool {
                self.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst).is_ok()
            }

            #[inline]
            fn store(&self, word: $value) {
                <$atomic>::store(self, word, Ordering::SeqCst);
            }
        }
    )*};
}

implement!(AtomicU128: u128, AtomicU64: u64);
