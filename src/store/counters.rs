//! What the processes of a host count together: for each limit the outcomes of its calls, and who was
//! denied most.
//!
//! A limit has a record, found by a hash of its name and never given up: there are [`RECORDS`],
//! and the last is for all limits that come too late. Outcomes are counted in one of several
//! stripes, so that processes do not wait for each other's cache lines.
//!
//! **Who was denied most.** Identifiers are without number, so only some are remembered, in sets of
//! [`WAYS`] (the Misra-Gries algorithm, "Finding repeated elements", 1982): one that is not there
//! takes from the least of its set, and the place once nothing is left there. So who is denied often
//! stays, however many others are denied once, and makes way once he comes no more. Once many were
//! denied, only some of the denials are looked at, and count for the others: the counts are estimates
//! then.

use super::file::Region;
use crate::dsn::MAX_PREFIX;
use portable_atomic::{AtomicU64, Ordering};
use std::sync::atomic::AtomicU32;

/// How many limits are told apart, and one for all others.
pub const RECORDS: usize = 128;
/// How many of them may be named by a whole identifier.
const BARE: usize = 32;

const STRIPES: usize = 8;
const SETS: usize = 16;
/// How many are told.
const MOST: usize = 16;
/// The identifiers in a set.
const WAYS: usize = 4;
/// The longest prefix that is kept, in bytes: the longest there can be.
const LONGEST_PREFIX: usize = MAX_PREFIX;
/// The longest name that is kept, in bytes.
pub const LONGEST_NAME: usize = 56;
/// The longest identifier that is kept, in bytes.
const LONGEST_IDENTIFIER: usize = 96;
/// So many denials in a stripe are looked at one by one; of the later ones, one in [`WEIGHT`], which
/// counts for as many if its identifier is known.
const EXACT: u64 = 1_024;
const WEIGHT: u32 = 32;

/// How a call ended, or what happened in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Accepted.
    Accepted,
    /// Denied.
    Denied,
    /// Accepted, for the limit is only watched; it would have been denied.
    DryRunDenied,
    /// The store failed.
    Failed,
    /// The policy answered, not the store.
    Degraded,
    /// A bucket in use had to go for want of room.
    Evicted,
}

impl Outcome {
    /// How a call ended that was accepted or not, or came to nothing.
    #[inline(always)]
    pub const fn of(accepted: Option<bool>, enforced: bool) -> Self {
        match accepted {
            Some(true) => Self::Accepted,
            Some(false) if enforced => Self::Denied,
            Some(false) => Self::DryRunDenied,
            None => Self::Failed,
        }
    }
}

/// How often something happened; on a cache line of its own.
#[repr(C, align(64))]
#[derive(Default)]
pub struct Stripe([AtomicU64; 8]);

/// A text that others may be writing: its length, and eight bytes to a word.
#[repr(C)]
struct Text<const WORDS: usize> {
    length: AtomicU32,
    reserved: AtomicU32,
    words: [AtomicU64; WORDS],
}

/// The identifiers that are counted. A word of a set is half an identifier's tag, half its count.
#[repr(C, align(64))]
struct Denied {
    sets: [[AtomicU64; WAYS]; SETS],
    identifiers: [[Text<{ LONGEST_IDENTIFIER / 8 }>; WAYS]; SETS],
}

/// What is counted of a limit.
#[repr(C, align(128))]
pub struct Record {
    /// The hash of its prefix and name; 0 if no limit has it.
    hash: AtomicU64,
    prefix: Text<{ LONGEST_PREFIX / 8 }>,
    name: Text<{ LONGEST_NAME / 8 }>,
    stripes: [Stripe; STRIPES],
    denied: Denied,
}

/// Whose counts they are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitName {
    /// A limit's: its prefix and its name.
    Known(Vec<u8>, Vec<u8>),
    /// Those of all limits that came after the last record was taken.
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

/// What is counted of a limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LimitStatistics {
    /// By [`Outcome`].
    pub outcomes: [u64; 6],
    /// Identifiers and about how often they were denied, the most first.
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

impl Region {
    /// What is counted, of a file for that.
    #[inline(always)]
    pub fn records(&self) -> &[Record] {
        // SAFETY: any bit pattern is a Record, which is made of atomics that other processes
        // change by atomic operations only.
        unsafe { self.all_of::<Record>() }
    }

    /// The record of a limit: its index. `bare` tells whether the name is a whole identifier, which
    /// may be a client's: those have places of their own, and leave the others to limits.
    pub fn record_of(&self, prefix: &[u8], name: &[u8], bare: bool) -> usize {
        let prefix = prefix.get(..LONGEST_PREFIX).unwrap_or(prefix);
        let name = name.get(..LONGEST_NAME).unwrap_or(name);
        // The length sets ("a", "bc") apart from ("ab", "c").
        let hash = self.hash_of(&[&[prefix.len() as u8], prefix, name].concat()).max(1);
        let records = self.records();
        let last = records.len().saturating_sub(1);
        let known = records.iter().position(|record| record.hash.load(Ordering::Acquire) == hash);
        let free = || {
            let places = if bare { 0..BARE } else { BARE..last };
            let claim = |at: &usize| {
                let Some(record) = records.get(*at) else { return false };
                let claimed =
                    record.hash.compare_exchange(0, hash, Ordering::AcqRel, Ordering::Acquire);
                claimed.is_ok() || claimed == Err(hash)
            };
            places.into_iter().find(claim)
        };
        let Some(at) = known.or_else(free) else { return last };
        if let Some(record) = records.get(at) {
            // Each process writes them: the first may have died before it did.
            record.prefix.write(prefix);
            record.name.write(name);
        }
        at
    }

    /// What is counted so far, in the order of the limits' prefixes and names. What all limits count
    /// together that have no record comes last.
    pub fn snapshot(&self) -> Vec<(LimitName, LimitStatistics)> {
        let records = self.records();
        let last = records.len().saturating_sub(1);
        let mut all: Vec<(LimitName, LimitStatistics)> = Vec::new();
        for (i, record) in records.iter().enumerate() {
            let outcomes = record.outcomes();
            if i < last && record.hash.load(Ordering::Acquire) == 0 || outcomes == [0; 6] {
                continue;
            }
            let named = || LimitName::Known(record.prefix.read(), record.name.read());
            let name = if i < last { named() } else { LimitName::Others };
            let new = LimitStatistics { outcomes, denied: self.denied_of(record) };
            // Two processes that came with one name at the same time may have made a record each.
            match all.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => known.add(new),
                None => all.push((name, new)),
            }
        }
        all.iter_mut().for_each(|(_, limit)| limit.denied.truncate(MOST));
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        all
    }

    fn denied_of(&self, record: &Record) -> Vec<(Vec<u8>, u32)> {
        let words = record.denied.sets.as_flattened();
        let mut found: Vec<_> = words
            .iter()
            .zip(record.denied.identifiers.as_flattened())
            .filter_map(|(word, identifier)| {
                let word = word.load(Ordering::Acquire);
                let identifier = identifier.read();
                // Else it is being replaced.
                (word as u32 > 0 && tag(self.hash_of(&identifier)) == (word >> 32) as u32)
                    .then_some((identifier, word as u32))
            })
            .collect();
        found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        found
    }

    /// Counts a denial, of so much `weight`, for an identifier.
    pub fn note_denied(&self, record: &Record, weight: u32, identifier: [&[u8]; 3]) {
        let mut bytes = [0u8; LONGEST_IDENTIFIER];
        let parts = identifier.iter().flat_map(|part| part.iter());
        let length = bytes.iter_mut().zip(parts).map(|(to, from)| *to = *from).count();
        let identifier = bytes.get(..length).unwrap_or_default();
        let hash = self.hash_of(identifier);
        let (tag, at) = (tag(hash), hash as usize % SETS);
        let sets = record.denied.sets.get(at).zip(record.denied.identifiers.get(at));
        let Some((set, identifiers)) = sets else { return };
        let words = || set.iter().map(|word| (word, word.load(Ordering::Acquire)));
        let known = words().position(|(_, seen)| (seen >> 32) as u32 == tag);
        let at = known.or_else(|| {
            let least = words().enumerate().min_by_key(|(_, (_, seen))| *seen as u32);
            least.map(|(at, _)| at)
        });
        let Some((word, text)) = at.and_then(|at| set.get(at).zip(identifiers.get(at))) else {
            return;
        };
        let seen = word.load(Ordering::Acquire);
        let (owner, count) = ((seen >> 32) as u32, seen as u32);
        let new = match count.saturating_sub(weight) {
            // A count that is full stays so, rather than become the tag's.
            _ if owner == tag => entry(tag, count.saturating_add(weight)),
            0 => entry(tag, 1),
            left => entry(owner, left),
        };
        let put = word.compare_exchange(seen, new, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if put && (new >> 32) as u32 == tag {
            // Each time: who put the tag there may have died before.
            text.write(identifier);
        }
    }

    /// A hash that is fast and hard enough to foresee: who finds two identifiers of one hash has
    /// them counted as one.
    fn hash_of(&self, bytes: &[u8]) -> u64 {
        let [low, high] = self.secret();
        let fold = |a: u64, b: u64| {
            let product = u128::from(a) * u128::from(b);
            (product as u64) ^ (product >> 64) as u64
        };
        let (words, rest) = bytes.as_chunks::<8>();
        let mut last = [0u8; 8];
        last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        let all = words.iter().copied().chain([last]);
        let hash = all.fold(low ^ bytes.len() as u64, |hash, word| {
            fold(hash ^ u64::from_le_bytes(word), high | 1)
        });
        fold(hash ^ high, low | 1)
    }
}

impl Stripe {
    /// Counts; what it was before.
    #[inline(always)]
    pub fn count(&self, outcome: Outcome) -> u64 {
        let Some(counter) = self.0.get(outcome as usize) else { return 0 };
        counter.fetch_add(1, Ordering::Relaxed)
    }
}

impl Record {
    /// One of the stripes, for a process or thread of this number.
    #[inline(always)]
    pub fn stripe(&self, number: u32) -> &Stripe {
        let [first, ..] = &self.stripes;
        // Never absent: the remainder is less than their number.
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
}

impl<const WORDS: usize> Text<WORDS> {
    /// As much of `text` as there is room for.
    fn write(&self, text: &[u8]) {
        let text = text.get(..WORDS * 8).unwrap_or(text);
        for (word, bytes) in self.words.iter().zip(text.chunks(8)) {
            let mut whole = [0u8; 8];
            whole.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            let whole = u64::from_le_bytes(whole);
            // What is there already is left alone, with its cache line.
            if word.load(Ordering::Relaxed) != whole {
                word.store(whole, Ordering::Relaxed);
            }
        }
        if self.length.load(Ordering::Relaxed) != text.len() as u32 {
            self.length.store(text.len() as u32, Ordering::Release);
        }
    }

    fn read(&self) -> Vec<u8> {
        let length = self.length.load(Ordering::Acquire) as usize;
        let words = self.words.iter().map(|word| word.load(Ordering::Relaxed).to_le_bytes());
        words.flatten().take(length).collect()
    }
}

/// What the denial counts for that was the `before`-th of a stripe.
#[inline(always)]
pub fn weight(before: u64) -> u32 {
    match before {
        0..EXACT => 1,
        // One in so many, and not by turns: those who come by turns must all be met.
        _ if before.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - WEIGHT.ilog2()) == 0 => WEIGHT,
        _ => 0,
    }
}

fn tag(hash: u64) -> u32 {
    ((hash >> 32) as u32).max(1)
}

fn entry(tag: u32, count: u32) -> u64 {
    u64::from(tag) << 32 | u64::from(count)
}
