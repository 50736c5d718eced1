//! The record of a hot key, in the file that the processes of a host share.
//!
//! ```text
//! word 0       control
//! word 1       a key whose value was found locked: see `locked_key`
//! words 2-7    what was written last: see `handoff`
//! words 8-39   eight results of four words: see `basis` and `results`
//! ```

use super::control::Control;
use crate::mapped::futex::wake;
use crate::mapped::word::Word;
use crate::mapped::{Mappable, SET_SIZE};
use portable_atomic::AtomicU128;
use std::array::from_fn;

/// How many results a record has room for.
pub const RESULTS: usize = 8;

/// The words of a result.
pub(super) const RESULT_WORDS: usize = 4;
/// The words of a hand-off.
pub(super) const HANDOFF_WORDS: usize = 6;

/// A word at which processes sleep.
pub trait Bell: Word {
    /// Wakes so many of those that sleep as one of `groups`.
    fn ring(&self, groups: u32, count: u32);
}

impl Bell for AtomicU128 {
    fn ring(&self, groups: u32, count: u32) {
        wake(self, groups, count);
    }
}

/// The record of a hot key, with room for so many results.
#[repr(C, align(128))]
pub struct KeyRecord<W = AtomicU128, const R: usize = RESULTS> {
    /// The control word, at which processes sleep.
    pub control: W,
    pub(super) lock_seen: W,
    pub(super) handoff: [W; HANDOFF_WORDS],
    pub(super) results: [[W; RESULT_WORDS]; R],
}

const _: () = assert!(size_of::<KeyRecord>() == 5 * SET_SIZE);

// SAFETY: consists of atomics, of which any bits are a value.
unsafe impl Mappable for KeyRecord {}

impl<W, const R: usize> KeyRecord<W, R> {
    /// A record of words made by `word`.
    pub fn new(word: impl Fn() -> W) -> Self {
        Self {
            control: word(),
            lock_seen: word(),
            handoff: from_fn(|_| word()),
            results: from_fn(|_| from_fn(|_| word())),
        }
    }
}

/// A record, and what its words are protected by.
pub struct Batches<'a, W = AtomicU128, const R: usize = RESULTS> {
    /// The record.
    pub record: &'a KeyRecord<W, R>,
    /// The key of the checksums.
    pub secret: [u64; 2],
}

// Derived, they would ask for words that can be copied.
impl<W, const R: usize> Copy for Batches<'_, W, R> {}

impl<W, const R: usize> Clone for Batches<'_, W, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: Bell, const R: usize> Batches<'_, W, R> {
    /// Wakes all that sleep as one of `groups`.
    pub(super) fn ring(&self, groups: u32) {
        self.record.control.ring(groups, u32::MAX);
    }

    /// The control word, and what it says.
    pub(super) fn load(&self) -> (u128, Control) {
        let word = self.record.control.load();
        (word, Control::from_word(word))
    }

    /// Replaces the control word, if it is still the one that was seen.
    pub(super) fn replace(&self, seen: u128, new: Control) -> bool {
        self.record.control.replace(seen, new.to_word())
    }
}

/// A batch that a process has closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch {
    /// Its number.
    pub number: u32,
    /// The kind of its calls.
    pub kind: u64,
    /// Whose calls are decided on.
    pub share: Share,
}

/// A call among those that are decided on together, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// How many calls are before it.
    pub index: u32,
    /// How many calls there are.
    pub count: u32,
}

impl Share {
    /// A call by itself.
    pub const ALONE: Self = Self { index: 0, count: 1 };
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::mapped::futex::sleep_while;
    use std::thread;
    use std::time::Duration;

    /// A record that nothing was written to.
    pub fn record<const R: usize>() -> KeyRecord<AtomicU128, R> {
        KeyRecord::new(|| AtomicU128::new(0))
    }

    pub fn batches<const R: usize>(
        record: &KeyRecord<AtomicU128, R>,
    ) -> Batches<'_, AtomicU128, R> {
        Batches { record, secret: [2, 3] }
    }

    #[test]
    fn process_that_sleeps_at_the_word_is_woken() {
        let word = AtomicU128::new(0);
        thread::scope(|scope| {
            let sleeper = scope.spawn(|| sleep_while(&word, 0, 4, Duration::from_secs(3_600)));
            while !sleeper.is_finished() {
                word.ring(4, 1);
            }
        });
    }
}
