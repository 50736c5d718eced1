//! Entries in shared memory that processes write without a lock, in sets of [`WAYS`].
//!
//! An entry's tag is a hash of what it holds. A process marks the position, writes the entry, then its tag. A reader leaves
//! out an entry whose tag is not that of its contents: another process is writing it. A process that dies meanwhile leaves a
//! position without an entry, which is given up as that of an entry would be.

use crate::mapped::Mappable;
use portable_atomic::{AtomicU64, Ordering, fence};

/// The positions in a set.
pub const WAYS: usize = 8;
/// The tag of a position that no process has written to.
const FREE: u64 = 0;
/// The tag of a position that a process writes to, or was killed in.
const WRITING: u64 = 1;

/// The entries whose hashes choose one set.
#[repr(C, align(128))]
#[derive(Default)]
pub struct TaggedSet<E> {
    tags: [AtomicU64; WAYS],
    /// A time of each entry: of its last denial, or of its end.
    times: [AtomicU64; WAYS],
    entries: [E; WAYS],
}

// SAFETY: consists of atomics and of entries, which may lie in a mapped file.
unsafe impl<E: Mappable> Mappable for TaggedSet<E> {}

/// A position in a set, as it was seen.
pub struct Position<'a, E> {
    tag: &'a AtomicU64,
    seen: u64,
    time: &'a AtomicU64,
    /// The entry, which another process may be writing.
    pub entry: &'a E,
}

impl<E> TaggedSet<E> {
    /// The positions of the set.
    pub fn positions(&self) -> impl Iterator<Item = Position<'_, E>> {
        let positions = self.tags.iter().zip(&self.times).zip(&self.entries);
        positions.map(|((tag, time), entry)| Position {
            tag,
            seen: tag.load(Ordering::Acquire),
            time,
            entry,
        })
    }
}

/// The tag of an entry of this hash: none that marks a position without an entry.
pub fn tag(hash: u64) -> u64 {
    hash.max(WRITING + 1)
}

impl<E> Position<'_, E> {
    /// Whether no process has written to it, or its entry was forgotten.
    pub fn is_free(&self) -> bool {
        self.seen == FREE
    }

    /// Whether its entry has this tag.
    pub fn has_tag(&self, tag: u64) -> bool {
        self.seen == tag
    }

    /// The time of its entry.
    pub fn time(&self) -> u64 {
        self.time.load(Ordering::Relaxed)
    }

    /// Moves the time of its entry on.
    pub fn advance(&self, time: u64) {
        self.time.fetch_max(time, Ordering::Relaxed);
    }

    /// Puts an entry there that `write` writes. False if another process has taken the position since it was seen.
    pub fn begin(&self, tag: u64, time: u64, write: impl FnOnce(&E)) -> bool {
        let (seen, order) = (self.seen, Ordering::Relaxed);
        if self.tag.compare_exchange(seen, WRITING, order, order).is_err() {
            return false;
        }
        // Keeps the stores below after that of the mark.
        fence(Ordering::Release);
        self.time.store(time, Ordering::Relaxed);
        write(self.entry);
        self.tag.store(tag, Ordering::Release);
        true
    }

    /// What `read` makes of the entry, with its time. None if the tag that `read` returns, too, is not that of the position.
    pub fn read<T>(&self, read: impl FnOnce(&E) -> (u64, T)) -> Option<(T, u64)> {
        if self.seen <= WRITING {
            return None;
        }
        let (tag, value) = read(self.entry);
        let time = self.time();
        // Keeps the loads above before that of the tag. If it differs, another entry has taken the position meanwhile.
        fence(Ordering::Acquire);
        let is_whole = tag == self.seen && self.tag.load(Ordering::Relaxed) == tag;
        is_whole.then_some((value, time))
    }

    /// Forgets the entry, unless another one has taken its position since it was seen.
    pub fn forget(&self) {
        let order = Ordering::Relaxed;
        let _ = self.tag.compare_exchange(self.seen, FREE, order, order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Set = TaggedSet<AtomicU64>;

    fn put(position: &Position<'_, AtomicU64>, value: u64) -> bool {
        position.begin(tag(value), value, |entry| entry.store(value, Ordering::Relaxed))
    }

    fn values(set: &Set) -> Vec<(u64, u64)> {
        let read = |entry: &AtomicU64| {
            let value = entry.load(Ordering::Relaxed);
            (tag(value), value)
        };
        set.positions().filter_map(|position| position.read(read)).collect()
    }

    #[test]
    fn place_that_another_process_has_taken_is_not_written() {
        let set = Set::default();
        let [first, second] = [(); 2].map(|()| set.positions().next().unwrap());
        assert!(put(&first, 7) && !put(&second, 8));
        assert_eq!(values(&set), [(7, 7)]);
        second.forget();
        assert_eq!(values(&set), [(7, 7)], "the entry is not the one that was seen");
        set.positions().next().unwrap().forget();
        assert_eq!(values(&set), []);
    }

    #[test]
    fn process_that_is_killed_while_it_writes_leaves_a_place_that_can_be_used() {
        let set = Set::default();
        let position = set.positions().next().unwrap();
        assert!(put(&position, 7));
        let position = set.positions().next().unwrap();
        let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            position.begin(tag(8), 8, |_| panic!("killed"))
        }));
        assert!(killed.is_err());
        assert_eq!(values(&set), []);
        let position = set.positions().next().unwrap();
        assert!(!position.is_free() && put(&position, 9));
        assert_eq!(values(&set), [(9, 9)]);
    }

    #[test]
    fn hash_that_would_mark_a_place_without_an_entry_is_no_tag() {
        assert_eq!([0, 1, 2, 3].map(tag), [2, 2, 2, 3]);
    }
}
