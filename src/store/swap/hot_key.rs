//! A key that processes of this host want at the same time, and its record in the file that they share.
//!
//! ```text
//! word 0     whose turn it is: see `turn`
//! word 1     whether the value was found locked: see `locked_key`
//! words 2-7  what was written last: see `handoff`
//! ```
//!
//! A record serves each key whose hash leads to it. Each of its three parts says of which key it is.

use crate::mapped::futex::wake;
use crate::mapped::word::Word;
use crate::mapped::{Mappable, SET_SIZE};
use portable_atomic::AtomicU128;
use std::array::from_fn;

/// The words of a hand-off.
pub(super) const HANDOFF_WORDS: usize = 6;

/// A word at which processes sleep.
pub trait Bell: Word {
    /// Wakes so many of those that sleep as one of `groups`. Returns how many it woke.
    fn ring(&self, groups: u32, count: u32) -> u32;
}

impl Bell for AtomicU128 {
    fn ring(&self, groups: u32, count: u32) -> u32 {
        wake(self, groups, count)
    }
}

/// The record of a hot key.
#[repr(C, align(128))]
pub struct KeyRecord<W = AtomicU128> {
    /// At this word processes sleep.
    pub turn: W,
    pub(super) lock_seen: W,
    pub(super) handoff: [W; HANDOFF_WORDS],
}

const _: () = assert!(size_of::<KeyRecord>() == SET_SIZE);

// SAFETY: consists of atomics, of which any bits are a value.
unsafe impl Mappable for KeyRecord {}

impl<W> KeyRecord<W> {
    /// A record of words made by `word`.
    pub fn new(word: impl Fn() -> W) -> Self {
        Self { turn: word(), lock_seen: word(), handoff: from_fn(|_| word()) }
    }
}

/// A key with its record.
pub struct HotKey<'a, W = AtomicU128> {
    /// The record.
    pub record: &'a KeyRecord<W>,
    /// A hash of the key.
    pub key: u64,
    /// The key of the checksums.
    pub secret: [u64; 2],
}

// Derived, they would ask for words that can be copied.
impl<W> Copy for HotKey<'_, W> {}

impl<W> Clone for HotKey<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::mapped::futex::sleep_while;
    use std::thread;
    use std::time::Duration;

    /// A record that nothing was written to.
    pub fn record() -> KeyRecord {
        KeyRecord::new(|| AtomicU128::new(0))
    }

    pub fn hot_key(record: &KeyRecord, key: u64) -> HotKey<'_> {
        HotKey { record, key, secret: [2, 3] }
    }

    #[test]
    fn process_that_sleeps_at_the_word_is_woken() {
        let word = AtomicU128::new(0);
        thread::scope(|scope| {
            let sleeper = scope.spawn(|| sleep_while(&word, 0, 4, Duration::from_secs(3_600)));
            let mut woken = 0;
            while !sleeper.is_finished() {
                woken += word.ring(4, 1);
            }
            assert_eq!(woken, u32::from(cfg!(target_os = "linux")));
        });
    }
}
