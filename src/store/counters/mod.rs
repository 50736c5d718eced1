//! What the processes of a host count together: for each limit the outcomes of its calls, and the
//! identifiers that were denied most.
//!
//! A limit has one of [`RECORDS`] records, found by a hash of its prefix and name and never given
//! back. The last record is shared by all limits that find no free one. Outcomes are counted in one
//! of several stripes, so that processes do not wait for each other's cache lines.

mod denied;
mod text;

use super::file::{Area, BODY_AT, Mappable, Region};
use crate::dsn::MAX_PREFIX;
use denied::{DeniedIdentifiers, HALF_LIFE, hash};
use portable_atomic::{AtomicU64, Ordering};

pub use denied::{LONGEST_IDENTIFIER, denial_weight};
pub use text::SharedText;

/// How many records there are, the shared one included.
pub const RECORDS: usize = 128;
/// How many of them may have a whole identifier as their name.
const WHOLE_IDENTIFIER_RECORDS: usize = 32;
const STRIPES: usize = 8;
/// The longest prefix that is kept, in bytes: no DSN has a longer one.
const LONGEST_PREFIX: usize = MAX_PREFIX;
/// The longest name that is kept, in bytes.
pub const LONGEST_NAME: usize = 56;

/// The size of the file of counters, in bytes.
pub const FILE_SIZE: u64 = BODY_AT + (RECORDS * size_of::<Record>()) as u64;

/// How a call ended, or what happened in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Accepted.
    Accepted,
    /// Denied.
    Denied,
    /// Accepted by a dry run: the limit would have denied it.
    DryRunDenied,
    /// The store failed.
    Failed,
    /// Answered by the policy for failures, not by the store.
    Degraded,
    /// A bucket in use was evicted from a full table.
    Evicted,
}

impl Outcome {
    /// The outcome of a call that was accepted, denied or, with `None`, failed.
    #[inline(always)]
    pub const fn from_answer(accepted: Option<bool>, is_enforced: bool) -> Self {
        match accepted {
            Some(true) => Self::Accepted,
            Some(false) if is_enforced => Self::Denied,
            Some(false) => Self::DryRunDenied,
            None => Self::Failed,
        }
    }
}

/// How often each [`Outcome`] occurred, on a cache line of its own.
#[repr(C, align(64))]
#[derive(Default)]
pub struct Stripe([AtomicU64; 8]);

impl Stripe {
    /// Counts an outcome; returns how often it had occurred before.
    #[inline(always)]
    pub fn count(&self, outcome: Outcome) -> u64 {
        let Some(counter) = self.0.get(outcome as usize) else { return 0 };
        counter.fetch_add(1, Ordering::Relaxed)
    }
}

/// What is counted of a limit.
#[repr(C, align(128))]
pub struct Record {
    /// The hash of its prefix and name; 0 if no limit has the record.
    hash: AtomicU64,
    prefix: SharedText<{ LONGEST_PREFIX / 8 }>,
    name: SharedText<{ LONGEST_NAME / 8 }>,
    /// How many half-lives after the boot the denials were last halved.
    halved_at: AtomicU64,
    stripes: [Stripe; STRIPES],
    denied: DeniedIdentifiers,
}

// SAFETY: consists of atomics, of which any bits are a value.
unsafe impl Mappable for Record {}

impl Record {
    /// The stripe for a process or thread of this number.
    #[inline(always)]
    pub fn stripe(&self, number: u32) -> &Stripe {
        let [first, ..] = &self.stripes;
        // Always there: the remainder is less than STRIPES.
        self.stripes.get(number as usize % STRIPES).unwrap_or(first)
    }

    fn outcomes(&self) -> [u64; 6] {
        let mut sums = [0u64; 6];
        for stripe in &self.stripes {
            for (sum, counter) in sums.iter_mut().zip(&stripe.0) {
                *sum = sum.wrapping_add(counter.load(Ordering::Relaxed));
            }
        }
        sums
    }

    /// Halves the denials of identifiers if that is due at `now`. A process that is killed meanwhile leaves some as
    /// they were.
    fn age_denials(&self, now: u64) {
        let (seen, due) = (self.halved_at.load(Ordering::Relaxed), now / HALF_LIFE);
        let is_due = due > seen
            && self
                .halved_at
                .compare_exchange(seen, due, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok();
        if is_due {
            self.denied.halve(due - seen);
        }
    }

    /// Sets all counts to zero.
    fn reset(&self) {
        let counters = self.stripes.iter().flat_map(|stripe| &stripe.0);
        counters.for_each(|counter| counter.store(0, Ordering::Relaxed));
        self.denied.clear();
    }

    /// Takes the record for a limit of this hash; returns whether the limit has it now.
    fn claim(&self, hash: u64) -> bool {
        let claimed = self.hash.compare_exchange(0, hash, Ordering::AcqRel, Ordering::Acquire);
        claimed.is_ok() || claimed == Err(hash)
    }
}

/// Which limit a [`LimitStatistics`] is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitName {
    /// The limit with this prefix and name.
    Known(Vec<u8>, Vec<u8>),
    /// All limits that found no free record.
    Others,
}

impl LimitName {
    /// The limit's prefix.
    pub fn prefix(&self) -> Option<&[u8]> {
        match self {
            Self::Known(prefix, _) => Some(prefix),
            Self::Others => None,
        }
    }

    /// The limit's name.
    pub fn name(&self) -> Option<&[u8]> {
        match self {
            Self::Known(_, name) => Some(name),
            Self::Others => None,
        }
    }
}

/// What was counted of a limit so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LimitStatistics {
    /// How often each [`Outcome`] occurred, in their order.
    pub outcomes: [u64; 6],
    /// Identifiers and about how often they were denied, the most often first.
    pub denied: Vec<(Vec<u8>, u32)>,
    /// Whether the name is a whole identifier, which a client may have made up.
    pub is_identifier: bool,
}

impl LimitStatistics {
    fn add(&mut self, other: Self) {
        self.outcomes
            .iter_mut()
            .zip(other.outcomes)
            .for_each(|(sum, more)| *sum = sum.wrapping_add(more));
        self.denied.extend(other.denied);
        self.denied.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    }
}

/// The records in a file of counters.
#[derive(Clone, Copy)]
pub struct Records<'a> {
    records: &'a [Record],
    region: &'a Region,
}

impl<'a> Records<'a> {
    /// The records in this file; none in a file for another purpose.
    #[inline(always)]
    pub fn new(region: &'a Region) -> Self {
        Self { records: region.area(Area::Records), region }
    }

    /// The record of this index.
    #[inline(always)]
    pub fn get(self, index: usize) -> Option<&'a Record> {
        self.records.get(index)
    }

    /// The index of a limit's record, which a limit without one takes now.
    ///
    /// `is_whole_identifier` tells whether the name is a whole identifier, which a client may have made up. Such
    /// names have records of their own, and leave the others to limits.
    pub fn find_or_claim(self, prefix: &[u8], name: &[u8], is_whole_identifier: bool) -> usize {
        let prefix = prefix.get(..LONGEST_PREFIX).unwrap_or(prefix);
        let name = name.get(..LONGEST_NAME).unwrap_or(name);
        // The length tells ("a", "bc") from ("ab", "c").
        let text = [&[prefix.len() as u8], prefix, name].concat();
        let hash = hash(self.region.secret(), &text).max(1);
        let shared = self.records.len().saturating_sub(1);
        let found = self.records.iter().position(|r| r.hash.load(Ordering::Acquire) == hash);
        let index = found.or_else(|| {
            let mut places = if is_whole_identifier {
                0..WHOLE_IDENTIFIER_RECORDS
            } else {
                WHOLE_IDENTIFIER_RECORDS..shared
            };
            places.find(|at| self.get(*at).is_some_and(|record| record.claim(hash)))
        });
        let Some(index) = index else { return shared };
        if let Some(record) = self.get(index) {
            // Every process writes them: the first may have died before it did.
            record.prefix.write(prefix);
            record.name.write(name);
        }
        index
    }

    /// Counts a denial of this weight (see [`denial_weight`]) for an identifier, at `now` since the boot.
    pub fn note_denied(self, record: &Record, weight: u32, identifier: [&[u8]; 3], now: u64) {
        record.age_denials(now);
        record.denied.note(self.region.secret(), weight, identifier);
    }

    /// What was counted until `now`, in the order of the limits' prefixes and names. The limits that share
    /// a record come last.
    pub fn snapshot(self, now: u64) -> Vec<(LimitName, LimitStatistics)> {
        let mut all: Vec<(LimitName, LimitStatistics)> = Vec::new();
        for (i, record, name) in self.used() {
            let outcomes = record.outcomes();
            if outcomes == [0; 6] {
                continue;
            }
            record.age_denials(now);
            let denied = record.denied.snapshot(self.region.secret());
            let is_identifier = i < WHOLE_IDENTIFIER_RECORDS;
            let new = LimitStatistics { outcomes, denied, is_identifier };
            // Two processes that met a new name at once may each have claimed a record for it.
            match all.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => known.add(new),
                None => all.push((name, new)),
            }
        }
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        all
    }

    /// Sets the counts of some limits to zero. They keep their records, which processes remember.
    pub fn reset(self, is_wanted: impl Fn(&LimitName) -> bool) {
        for (_, record, _) in self.used().filter(|(_, _, name)| is_wanted(name)) {
            record.reset();
        }
    }

    /// The records that limits have, with their indices and names.
    fn used(self) -> impl Iterator<Item = (usize, &'a Record, LimitName)> {
        let shared = self.records.len().saturating_sub(1);
        self.records.iter().enumerate().filter_map(move |(i, record)| {
            let name = match i < shared {
                true if record.hash.load(Ordering::Acquire) == 0 => return None,
                true => LimitName::Known(record.prefix.read(), record.name.read()),
                false => LimitName::Others,
            };
            Some((i, record, name))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::Purpose;
    use super::*;

    /// Denies `id` so often at `now`. The smallest file has records for names that are identifiers alone.
    fn deny(records: Records<'_>, id: &[u8], times: u32, now: u64) {
        let record = records.get(records.find_or_claim(b"tb:", b"login", true)).unwrap();
        for _ in 0..times {
            record.stripe(0).count(Outcome::Denied);
            records.note_denied(record, 1, [b"login", b":", id], now);
        }
    }

    fn denied(records: Records<'_>, now: u64) -> Vec<(Vec<u8>, u32)> {
        records.snapshot(now).into_iter().flat_map(|(_, limit)| limit.denied).collect()
    }

    #[test]
    fn denial_counts_for_half_as_much_after_each_half_life() {
        let region = Region::without_file(Purpose::Counts).unwrap();
        let records = Records::new(&region);
        let began = 70 * HALF_LIFE;
        deny(records, b"old", 80, began);
        let (old, new) = (b"login:old".to_vec(), b"login:new".to_vec());
        assert_eq!(denied(records, began + HALF_LIFE - 1), [(old.clone(), 80)]);
        assert_eq!(denied(records, began + HALF_LIFE), [(old.clone(), 40)]);
        assert_eq!(denied(records, began + HALF_LIFE), [(old.clone(), 40)]);
        deny(records, b"new", 41, began + 2 * HALF_LIFE);
        assert_eq!(denied(records, began + 2 * HALF_LIFE), [(new.clone(), 41), (old, 20)]);
        assert_eq!(denied(records, began + 6 * HALF_LIFE), [(new, 2), (b"login:old".to_vec(), 1)]);
        assert_eq!(denied(records, u64::MAX), []);
        let (_, limit) = records.snapshot(u64::MAX).pop().unwrap();
        assert_eq!(limit.outcomes[Outcome::Denied as usize], 121, "the calls do not age");
    }

    #[test]
    fn limit_that_was_reset_keeps_its_record() {
        let region = Region::without_file(Purpose::Counts).unwrap();
        let records = Records::new(&region);
        deny(records, b"x", 3, 0);
        let other = records.get(records.find_or_claim(b"shop:", b"login", true)).unwrap();
        other.stripe(0).count(Outcome::Accepted);
        records.reset(|name| name.prefix() == Some(b"tb:"));
        let prefixes: Vec<_> = records.snapshot(0).into_iter().map(|(name, _)| name).collect();
        assert_eq!(prefixes, [LimitName::Known(b"shop:".to_vec(), b"login".to_vec())]);
        deny(records, b"y", 2, 0);
        assert_eq!(denied(records, 0), [(b"login:y".to_vec(), 2)]);
    }
}
