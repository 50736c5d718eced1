//! A lease as the word that all processes of the host change, and three notes beside it.
//!
//! ```text
//!  127    94 93             44 43  26  25 24   21 20   12 11       0
//! +---------+-----------------+------+---+-------+-------+----------+
//! | tag     | valid until, µs | fetch| F | doubl.| limit | tokens   |
//! +---------+-----------------+------+---+-------+-------+----------+
//! | tag     | fetch | part 1  | bucket full or window ends at (62)  |  ns of this host's clock
//! | tag     | fetch | part 2  | window ends at (62)                 |  ns of the server's clock
//! | tag     | fetch | counted | hits in the window (62)             |
//! +---------+-----------------+-------------------------------------+
//! ```
//!
//! F: a process is asking for the next batch, since the time in "valid until". Only one does, so a host holds and awaits no more than one
//! batch; the others ask the server for their own call alone. Each fetch has the next number. A process that was so slow
//! that another one asked in its place finds another number, and its batch is lost. "doubl." counts the doublings of a batch, "limit" tells limits
//! apart: two sets of numbers are taken for one with odds of 1 in 512. Parts 1 and 2 are the name of the state on the server, "counted" is how
//! much of it the server knows this host to hold; each has 14 bits.

use crate::limit::SECOND;
use crate::mapped::fields::fields;
use crate::mapped::set::TAG_BITS;
use crate::settings::MAX_LEASE;

/// How long a batch is handed out, in nanoseconds.
pub const LIFETIME: u64 = SECOND;

const TOKEN_BITS: u32 = 12;
const _: () = assert!(MAX_LEASE < 1 << TOKEN_BITS);
pub(super) const LIMIT_BITS: u32 = 9;
const DOUBLINGS_BITS: u32 = 4;
pub(super) const FETCH_BITS: u32 = 18;
/// The bits of a note's second number.
pub(super) const PART_BITS: u32 = 14;
/// The bits of the name of a state.
pub(super) const NAME_BITS: u32 = 2 * PART_BITS;
/// In place of doublings: less than a quarter of the bucket is left, and the next batch is one token.
pub(super) const SCARCE: u32 = (1 << DOUBLINGS_BITS) - 1;
/// Times in a word count in 2^10 ns.
pub(super) const UNIT_BITS: u32 = 10;
/// The words of a lease and its notes: a cache line.
pub(super) const WORDS: usize = 4;

fields! {
    /// The content of a word.
    pub(super) struct Lease: u128 {
        pub(super) tokens: u32 = TOKEN_BITS,
        pub(super) limit: u32 = LIMIT_BITS,
        /// The batch is two to the power of this, or one if this is [`SCARCE`].
        pub(super) doublings: u32 = DOUBLINGS_BITS,
        pub(super) is_fetching: bool = 1,
        /// The number of the last fetch.
        pub(super) fetch: u32 = FETCH_BITS,
        /// In units.
        pub(super) valid_until: u64 = 50,
        pub(super) tag: u64 = TAG_BITS,
    }
}

fields! {
    /// A part of the [`Level`](super::Level) on the server, as the processes know it that have asked for the lease.
    pub(super) struct Note: u128 {
        pub(super) value: u64 = 62,
        pub(super) part: u32 = PART_BITS,
        pub(super) fetch: u32 = FETCH_BITS,
        pub(super) tag: u64 = TAG_BITS,
    }
}

impl Lease {
    /// Whether the batch may be handed out at `now`.
    pub(super) fn is_valid(&self, now: u64) -> bool {
        now >> UNIT_BITS < self.valid_until && !self.is_fetching
    }

    /// Whether a process may still be asking that takes at most `longest` nanoseconds.
    pub(super) fn is_being_fetched(&self, now: u64, longest: u64) -> bool {
        self.is_fetching && now >> UNIT_BITS <= self.valid_until + (longest >> UNIT_BITS)
    }

    /// The number of the next fetch.
    pub(super) const fn next_fetch(&self) -> u32 {
        (self.fetch + 1) & ((1 << FETCH_BITS) - 1)
    }

    /// What a note says. None if it is of another fetch.
    pub(super) fn noted_in(&self, word: u128) -> Option<(u64, u32)> {
        let Note { value, part, fetch, tag } = Note::from_word(word);
        (tag == self.tag && fetch == self.fetch).then_some((value, part))
    }

    /// How often the next batch has doubled.
    pub(super) fn next_doublings(&self, now: u64) -> u32 {
        let used = (1u32 << self.doublings).saturating_sub(self.tokens);
        let idle_from = self.valid_until + (LIFETIME >> UNIT_BITS);
        match now >> UNIT_BITS {
            _ if self.doublings == SCARCE => 0,
            // Used up in time.
            now if now < self.valid_until => (self.doublings + 1).min(TOKEN_BITS),
            now if now < idle_from => used.max(1).next_power_of_two().ilog2(),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_is_of_one_fetch_of_one_bucket() {
        let lease = Lease { tag: (1 << 34) - 2, fetch: (1 << 18) - 2, ..Lease::default() };
        for value in [0, 1, 5_000_000_000, (1 << 62) - 2] {
            let word = Note { value, part: 9_999, fetch: lease.fetch, tag: lease.tag }.to_word();
            assert_eq!(lease.noted_in(word), Some((value, 9_999)));
            for fetch in [0, lease.fetch - 1, lease.fetch + 1, 1] {
                assert_eq!(Lease { fetch, ..lease }.noted_in(word), None);
            }
            assert_eq!(Lease { tag: 7, ..lease }.noted_in(word), None);
        }
    }

    #[test]
    fn fetches_have_numbers_that_begin_anew_after_the_last() {
        let numbers = [0, 1, 6, (1 << FETCH_BITS) - 2, (1 << FETCH_BITS) - 1];
        let next = numbers.map(|fetch| Lease { fetch, ..Lease::default() }.next_fetch());
        assert_eq!(next, [1, 2, 7, (1 << FETCH_BITS) - 1, 0]);
    }

    /// The unit of a time by which leases are ended, and the times within it.
    const UNIT: u64 = 1 << 30;
    const FIRST: u64 = UNIT << UNIT_BITS;
    const LAST: u64 = FIRST + (1 << UNIT_BITS) - 1;

    #[test]
    fn batch_is_valid_until_the_unit_of_its_end_begins() {
        let lease = Lease { valid_until: UNIT, ..Lease::default() };
        assert!(lease.is_valid(FIRST - 1) && lease.is_valid(5));
        assert!(!lease.is_valid(FIRST) && !lease.is_valid(2 * FIRST));
        assert!(!Lease { is_fetching: true, ..lease }.is_valid(FIRST - 1));
    }

    #[test]
    fn process_asks_for_a_batch_as_long_as_its_call_may_take() {
        let longest = 9 << UNIT_BITS;
        let lease = Lease { valid_until: UNIT, is_fetching: true, ..Lease::default() };
        assert!([FIRST, LAST + longest].iter().all(|now| lease.is_being_fetched(*now, longest)));
        assert!(!lease.is_being_fetched(LAST + longest + 1, longest));
        assert!(!Lease { is_fetching: false, ..lease }.is_being_fetched(FIRST, longest));
    }

    #[test]
    fn next_doublings_depends_on_how_fast_the_last_was_used() {
        let next = |doublings, tokens, now| {
            Lease { doublings, tokens, valid_until: UNIT, ..Lease::default() }.next_doublings(now)
        };
        assert_eq!(next(3, 0, FIRST - 1), 4, "used up in time");
        assert_eq!(next(TOKEN_BITS, 0, FIRST - 1), TOKEN_BITS, "the largest");
        let idle_from = FIRST + (LIFETIME >> UNIT_BITS << UNIT_BITS);
        for now in [FIRST, idle_from - 1] {
            // Of eight tokens three, one and none were used.
            assert_eq!([5, 7, 8].map(|tokens| next(3, tokens, now)), [2, 0, 0]);
        }
        assert_eq!(next(3, 5, idle_from), 0, "idle for long");
        assert_eq!(next(SCARCE, 0, FIRST - 1), 0);
    }
}
