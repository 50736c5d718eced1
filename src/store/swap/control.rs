//! The control word of a key's record: which batch is open, and whether a process is asking the server.
//!
//! ```text
//!  127          87 86             43 42     33 32     31     1 0
//! +--------------+-----------------+---------+--------+--------+------+
//! | kind         | busy until, µs  | members | sealed | number | busy |
//! +--------------+-----------------+---------+--------+--------+------+
//! ```
//!
//! The lower 32 bits are what waiting processes sleep on: they change when a batch is closed, and when it is decided on.

use crate::mapped::fields::fields;

const NUMBER_BITS: u32 = 31;
const MEMBER_BITS: u32 = 10;
const UNTIL_BITS: u32 = 44;
const KIND_BITS: u32 = 40;

/// The most members of a batch.
pub const MAX_MEMBERS: u32 = 255;
const _: () = assert!(MAX_MEMBERS < 1 << MEMBER_BITS);

/// The longest time for which a process that asks is waited for, in nanoseconds. A time further ahead is garbage.
pub const MAX_LEAD: u64 = 60_000_000_000;

fields! {
    /// What a control word says.
    pub struct Control: u128 {
        /// A process is asking the server for the batch before.
        pub(super) is_busy: bool = 1,
        /// The number of the open batch.
        pub number: u32 = NUMBER_BITS,
        /// No further call may join the open batch. One without members is for calls of other kinds, as long as the
        /// batch before is under way.
        pub is_sealed: bool = 1,
        /// How many calls have joined the open batch.
        pub members: u32 = MEMBER_BITS,
        /// Until when the process that asks the server is waited for, in microseconds; wraps.
        pub(super) until: u64 = UNTIL_BITS,
        /// The kind of the open batch's calls: equal calls on one key. If it has no members, that of the batch before.
        pub kind: u64 = KIND_BITS + 1,
    }
}

impl Control {
    /// A kind, cut to the bits that a word has for it.
    pub const fn kind_of(hash: u64) -> u64 {
        hash & ((1 << KIND_BITS) - 1)
    }

    /// The number that follows `number`.
    pub const fn next(number: u32) -> u32 {
        number.wrapping_add(1) & ((1 << NUMBER_BITS) - 1)
    }

    /// Whether a process that is still waited for at `now` asks the server.
    pub const fn is_asking(&self, now: u64) -> bool {
        self.is_busy && self.time_left(now) > 0
    }

    /// Whether the server is being asked for the batch of this number, however long that takes.
    pub const fn is_batch_of(&self, number: u32) -> bool {
        self.is_busy && self.number == Self::next(number)
    }

    /// How long the process that asks is still waited for at `now`, in nanoseconds.
    pub const fn time_left(&self, now: u64) -> u64 {
        let left = self.until.wrapping_sub(now / 1_000) & ((1 << UNTIL_BITS) - 1);
        if left <= MAX_LEAD / 1_000 { left * 1_000 } else { 0 }
    }

    /// The open batch is closed: a process asks the server for its members, at most `until`. The next one is open.
    pub const fn closed(self, until: u64) -> Self {
        let (members, is_busy, number) = (0, true, Self::next(self.number));
        Self { members, is_busy, number, until: until / 1_000, ..self }
    }

    /// The process that asks is waited for until then.
    pub const fn extended(self, until: u64) -> Self {
        Self { until: until / 1_000, ..self }
    }

    /// No process asks the server.
    pub const fn released(self) -> Self {
        Self { is_busy: false, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_holds_each_field() {
        let control = Control {
            kind: (1 << 40) - 2,
            until: (1 << 44) - 3,
            members: 255,
            is_sealed: true,
            number: (1 << 31) - 5,
            is_busy: true,
        };
        assert_eq!(Control::from_word(control.to_word()), control);
        assert_eq!(Control::from_word(0), Control::default());
        assert_eq!(Control::default().closed(0).to_word() as u32, 0b11, "number 1, busy");
    }

    #[test]
    fn process_that_asks_is_waited_for_until_its_time_is_over() {
        const SECOND: u64 = 1_000_000_000;
        // The times of a host that has been up for a year do not fit.
        for now in [0, 5 * SECOND, (1 << 44) * 1_000 - 1_000, 400 * 86_400 * SECOND] {
            let control = Control::default().closed(now + SECOND);
            assert!(control.is_asking(now) && control.is_asking(now + SECOND - 1_000));
            assert!(!control.is_asking(now + SECOND) && !control.is_asking(now + 9 * SECOND));
            assert!(!control.released().is_asking(now));
            assert!(Control::default().closed(now + MAX_LEAD).is_asking(now));
            assert!(!Control::default().closed(now + 2 * MAX_LEAD).is_asking(now), "garbage");
        }
    }
}
