//! Where a denied call begins to look for dead holders.
//!
//! A call asks about few of many holders. The position at which it stopped is in the file, so that the next call goes on
//! there, also in a process that has just begun. 256 words hold the positions; a key finds its word by its hash, and takes
//! one that another key has used.
//!
//! ```text
//!  63                                           16 15           0
//! +-----------------------------------------------+--------------+
//! | hash of the key, 48 bits                      | next permit  |
//! +-----------------------------------------------+--------------+
//! ```

use super::holder::random;
use crate::mapped::{Mappable, Region, SEARCHES_AT};
use portable_atomic::{AtomicU64, Ordering};

const POSITION_BITS: u32 = 16;
const WORDS: usize = 256;

/// The positions of all keys of a file of permits, in its header.
#[repr(C)]
pub struct SearchPositions([AtomicU64; WORDS]);

// SAFETY: consists of atomics, of which any bits are a value.
unsafe impl Mappable for SearchPositions {}

/// The position of a key.
pub struct SearchPosition<'a> {
    word: &'a AtomicU64,
    seen: u64,
    hash: u64,
}

impl SearchPositions {
    /// The positions in this file.
    pub fn in_file(region: &Region) -> &Self {
        region.in_header::<Self, SEARCHES_AT>()
    }

    /// The position of the key with this hash.
    pub fn find(&self, hash: u64) -> SearchPosition<'_> {
        let [first, ..] = &self.0;
        let word = self.0.get(hash as usize % WORDS).unwrap_or(first);
        SearchPosition { word, seen: word.load(Ordering::Relaxed), hash }
    }
}

impl SearchPosition<'_> {
    /// The permit to begin with, of `max`: any, if the word is another key's.
    pub fn first(&self, max: u32) -> u32 {
        let is_own = self.seen >> POSITION_BITS == self.hash >> POSITION_BITS;
        let position = if is_own { self.seen as u16 } else { random() as u16 };
        u32::from(position) % max
    }

    /// Lets the next call begin with permit `next`, unless another call has moved the position meanwhile.
    pub fn advance(&self, next: u32) {
        let position = (self.hash >> POSITION_BITS << POSITION_BITS) + u64::from(next);
        let _ =
            self.word.compare_exchange(self.seen, position, Ordering::Relaxed, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const KEY: u64 = 0xabcd_1234_5678_9a07;

    fn positions() -> SearchPositions {
        SearchPositions(std::array::from_fn(|_| AtomicU64::new(0)))
    }

    #[test]
    fn next_call_of_a_key_begins_where_the_last_one_stopped() {
        let (positions, neighbour) = (positions(), KEY + 1);
        positions.find(neighbour).advance(3);
        for next in [0, 1, 77, 1_023] {
            positions.find(KEY).advance(next);
            assert_eq!(positions.find(KEY).first(1_024), next);
        }
        assert_eq!(positions.find(KEY).first(1_000), 23, "a smaller limit");
        assert_eq!(positions.find(neighbour).first(1_024), 3, "a key of another word");
    }

    #[test]
    fn key_that_finds_another_ones_position_begins_anywhere() {
        let (positions, other) = (positions(), KEY ^ 1 << 63);
        let begins_anywhere = |key| {
            (0..64).map(|_| positions.find(key).first(1_000)).collect::<HashSet<_>>().len() > 1
        };
        positions.find(KEY).advance(5);
        assert!(begins_anywhere(other));
        positions.find(other).advance(9);
        assert!(begins_anywhere(KEY));
        assert_eq!(positions.find(other).first(1_000), 9);
    }

    #[test]
    fn position_that_another_call_moved_meanwhile_stays() {
        let positions = positions();
        let late = positions.find(KEY);
        positions.find(KEY).advance(7);
        late.advance(3);
        assert_eq!(positions.find(KEY).first(1_000), 7);
    }
}
