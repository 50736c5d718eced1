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
use denied::{DeniedIdentifiers, hash};
use portable_atomic::{AtomicU64, Ordering};
use text::SharedText;

pub use denied::denial_weight;

/// How many records there are, the shared one included.
pub const RECORDS: usize = 128;
/// How many of them may have a whole identifier as their name.
const WHOLE_IDENTIFIER_RECORDS: usize = 32;
const STRIPES: usize = 8;
/// The most identifiers of a limit in [`LimitStatistics`].
const MAX_DENIED: usize = 16;
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

    /// Counts a denial of this weight (see [`denial_weight`]) for an identifier.
    pub fn note_denied(self, record: &Record, weight: u32, identifier: [&[u8]; 3]) {
        record.denied.note(self.region.secret(), weight, identifier);
    }

    /// What was counted so far, in the order of the limits' prefixes and names. The limits that share
    /// a record come last.
    pub fn snapshot(self) -> Vec<(LimitName, LimitStatistics)> {
        let shared = self.records.len().saturating_sub(1);
        let mut all: Vec<(LimitName, LimitStatistics)> = Vec::new();
        for (i, record) in self.records.iter().enumerate() {
            let outcomes = record.outcomes();
            if i < shared && record.hash.load(Ordering::Acquire) == 0 || outcomes == [0; 6] {
                continue;
            }
            let known = || LimitName::Known(record.prefix.read(), record.name.read());
            let name = if i < shared { known() } else { LimitName::Others };
            let denied = record.denied.snapshot(self.region.secret());
            let new = LimitStatistics { outcomes, denied };
            // Two processes that met a new name at once may each have claimed a record for it.
            match all.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => known.add(new),
                None => all.push((name, new)),
            }
        }
        all.iter_mut().for_each(|(_, limit)| limit.denied.truncate(MAX_DENIED));
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        all
    }
}
