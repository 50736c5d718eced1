//! Records that the processes of a host claim for what they share: one for each store, or for each limit.
//!
//! Paid: a search reads the id of each record before its own; a process that remembers where its record is reads one. Got: no lock, and
//! one protocol for all that is claimed. Two things can go wrong, and harm little. If a record becomes free while two processes claim for
//! one id, each may get a record: the later one is not found again. And a process that is suspended between its search and its note may write
//! into a record that was freed and claimed since. So only what may be wrong for a second, or in a count, belongs into a record. Tried
//! instead: a table with a protocol of its own for breakers, gates, servers and counters each.
//!
//! A record belongs to the one whose id it has, until it is freed.
//!
//! ```text
//! id 0      free; its contents are those of a new record
//!    even   being freed, since this time in nanoseconds since boot
//!    odd    claimed; or shared, by all limits that found no record: then the id says only how often it was renewed
//! ```
//!
//! A claim writes the id over 0, in the first free record. So processes that claim at once for the same id find one record. To free
//! a record, a process writes the time over the id, resets the contents, and writes 0 over the time. If it is killed meanwhile, another
//! process does that again, ten seconds later. `tests/claim_protocol.rs` lets loom run it.

use super::Mappable;
use super::word::Word;
use portable_atomic::AtomicU64;

/// The id of a free record.
const FREE: u64 = 0;

/// So long a process may take to reset a record, in nanoseconds. If it takes longer it was killed.
const LONGEST_RESET: u64 = 10_000_000_000;

/// The contents of a record.
pub trait Contents {
    /// Makes them those of a new record.
    fn reset(&self);
}

/// A record and the id of what it belongs to.
#[repr(C, align(128))]
#[derive(Default)]
pub struct Claimed<R, W = AtomicU64> {
    id: W,
    contents: R,
}

// SAFETY: consists of an atomic and of contents that may lie in a mapped file.
unsafe impl<R: Mappable> Mappable for Claimed<R> {}

/// The id that a hash stands for.
pub const fn id(hash: u64) -> u64 {
    hash | 1
}

impl<R, W: Word<u64>> Claimed<R, W> {
    /// A record of this id and with these contents.
    pub fn new(id: W, contents: R) -> Self {
        Self { id, contents }
    }

    /// The contents, whatever the id.
    #[inline(always)]
    pub fn contents(&self) -> &R {
        &self.contents
    }

    /// The id of what the record belongs to; none that [`id`] returns if it belongs to nothing.
    #[inline(always)]
    pub fn id(&self) -> u64 {
        self.id.load()
    }

    /// Whether the record is neither claimed nor being freed.
    pub fn is_free(&self) -> bool {
        self.id() == FREE
    }

    /// The id of a record that is not claimed but shared. It stays until the record is renewed.
    pub fn shared_id(&self) -> u64 {
        self.id.replace(FREE, id(FREE));
        self.id()
    }

    /// Gives a shared record another id, so that processes that know the earlier one look for a record again. Its contents stay.
    pub fn renew(&self) {
        let seen = self.shared_id();
        self.id.replace(seen, seen.wrapping_add(2));
    }

    /// Whether the record belongs to something.
    pub fn is_claimed(&self) -> bool {
        self.id() & 1 == 1
    }

    /// The contents, if the record belongs to this id.
    #[inline(always)]
    pub fn get(&self, id: u64) -> Option<&R> {
        (self.id() == id).then_some(&self.contents)
    }

    /// Takes the record for this id if it is free. Returns whether it belongs to the id now.
    fn claim(&self, id: u64) -> bool {
        self.id.replace(FREE, id) || self.id() == id
    }
}

impl<R: Contents, W: Word<u64>> Claimed<R, W> {
    /// Frees the record at `now`, if it still has this id.
    pub fn free(&self, id: u64, now: u64) {
        let since = (now & !1).max(2);
        if self.id.replace(id, since) {
            self.contents.reset();
            self.id.replace(since, FREE);
        }
    }

    /// Frees the record at `now` if the process that was to do so was killed. One that may still be at it is left to it.
    pub fn free_if_left(&self, now: u64) {
        let since = self.id();
        if since != FREE && since & 1 == 0 && since.abs_diff(now) > LONGEST_RESET {
            self.free(since, now);
        }
    }
}

/// The index and the contents of the record of this id.
pub fn find<R, W: Word<u64>>(records: &[Claimed<R, W>], id: u64) -> Option<(usize, &R)> {
    let mut indexed = records.iter().enumerate();
    indexed.find_map(|(index, record)| Some((index, record.get(id)?)))
}

/// The index and the contents of the record of this id, which takes the first free one if it has none. None if none is free.
pub fn find_or_claim<R, W: Word<u64>>(records: &[Claimed<R, W>], id: u64) -> Option<(usize, &R)> {
    let claimed = || records.iter().enumerate().find(|(_, record)| record.claim(id));
    find(records, id).or_else(|| claimed().map(|(index, record)| (index, record.contents())))
}

/// Frees at `now` the record that was not used for longest, unless it was used since `before`; and those of processes that were
/// killed while they freed them.
pub fn free_oldest<R: Contents, W: Word<u64>>(
    records: &[Claimed<R, W>],
    used_at: impl Fn(&R) -> u64,
    before: u64,
    now: u64,
) {
    records.iter().for_each(|record| record.free_if_left(now));
    let seen = records.iter().map(|record| (record, record.id(), used_at(&record.contents)));
    let claimed = seen.filter(|(record, ..)| record.is_claimed());
    if let Some((record, id, used_at)) = claimed.min_by_key(|(.., used_at)| *used_at)
        && used_at < before
    {
        record.free(id, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portable_atomic::Ordering;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// When the record was used; a record that is reset once `u64::MAX` stands in it kills its process.
    #[derive(Default)]
    struct UsedAt(AtomicU64);

    impl Contents for UsedAt {
        fn reset(&self) {
            assert_ne!(self.0.load(Ordering::Relaxed), u64::MAX, "killed");
            self.0.store(0, Ordering::Relaxed);
        }
    }

    type Records = [Claimed<UsedAt>; 3];

    fn claim(records: &Records, id: u64, used_at: u64) -> Option<usize> {
        let (index, contents) = find_or_claim(records, id)?;
        contents.0.store(used_at, Ordering::Relaxed);
        Some(index)
    }

    fn used_at(contents: &UsedAt) -> u64 {
        contents.0.load(Ordering::Relaxed)
    }

    #[test]
    fn record_is_found_again_until_it_is_freed() {
        let records = Records::default();
        assert!(find(&records, 7).is_none());
        assert_eq!([7, 9, 7, 11].map(|id| claim(&records, id, id)), [0, 1, 0, 2].map(Some));
        assert_eq!(claim(&records, 13, 13), None);
        records[1].free(7, 100);
        assert_eq!(find(&records, 9).map(|(index, it)| (index, used_at(it))), Some((1, 9)));
        records[1].free(9, 100);
        assert!(find(&records, 9).is_none() && !records[1].is_claimed());
        assert_eq!(used_at(records[1].contents()), 0);
        assert_eq!(claim(&records, 13, 13), Some(1));
    }

    #[test]
    fn record_not_used_for_longest_is_freed_if_it_was_not_used_of_late() {
        let records = Records::default();
        let claimed = [(7, 50), (9, 40), (11, 60)].map(|(id, at)| claim(&records, id, at));
        assert_eq!(claimed, [0, 1, 2].map(Some));
        free_oldest(&records, used_at, 40, 100);
        assert_eq!(claim(&records, 13, 100), None);
        free_oldest(&records, used_at, 41, 100);
        assert_eq!(claim(&records, 13, 100), Some(1));
        assert!(find(&records, 9).is_none());
    }

    #[test]
    fn record_that_a_killed_process_was_freeing_is_freed_ten_seconds_later() {
        let (records, now) = (Records::default(), 1_001);
        claim(&records, 7, u64::MAX);
        assert!(catch_unwind(AssertUnwindSafe(|| records[0].free(7, now))).is_err());
        records[0].contents().0.store(5, Ordering::Relaxed);
        let free_at = |now| free_oldest(&records, used_at, 0, now);
        free_at(1_000 + LONGEST_RESET);
        assert_eq!((claim(&records, 7, 7), used_at(records[0].contents())), (Some(1), 5));
        free_at(1_001 + LONGEST_RESET);
        assert_eq!(used_at(records[0].contents()), 0);
        assert_eq!(claim(&records, 9, 9), Some(0));
    }
}
