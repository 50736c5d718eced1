//! What the processes of a host count together: for each limit the outcomes of its calls.
//!
//! A limit has one of [`RECORDS`] records, found by a hash of its prefix and name, until its counts are reset (see [`claimed`]). The
//! last record is shared by all limits that find no free one. Outcomes are counted in one of several stripes, so that
//! processes do not wait for each other's cache lines.

use super::limit_statistics::{LimitName, LimitStatistics};
use super::minutes::{CallsOfMinute, Minutes};
use super::name_source::NameSource;
use super::outcome::{OUTCOMES, Outcome, OutcomeCounts};
use crate::clock::boot_time;
use crate::hash;
use crate::limit::SECOND;
use crate::mapped::claimed::{self, Claimed, Contents};
use crate::mapped::{Area, BLOCKS_SIZE, BODY_AT, DENIAL_LOG_SIZE, Mappable, Region, SharedText};
use crate::settings::MAX_PREFIX;
use portable_atomic::{AtomicU64, Ordering};

/// How many records there are, the shared one included.
pub const RECORDS: usize = 192;
const STRIPES: usize = 8;
/// The longest prefix that is kept, in bytes: no DSN has a longer one.
const LONGEST_PREFIX: usize = MAX_PREFIX;
/// The longest name that is kept, in bytes.
pub const LONGEST_NAME: usize = 56;

/// The size of the statistics' file, in bytes.
pub const FILE_SIZE: u64 =
    BODY_AT + (RECORDS * size_of::<Claimed<Record>>() + DENIAL_LOG_SIZE + BLOCKS_SIZE) as u64;

/// Where the calls of a limit are counted. The default is nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHandle {
    /// The index of the record.
    record: u32,
    /// The lower half of the record's id, which no other limit has in this record.
    tag: u32,
}

impl RecordHandle {
    pub(super) fn to_word(self) -> u64 {
        u64::from(self.record) << 32 | u64::from(self.tag)
    }

    pub(super) fn from_word(word: u64) -> Self {
        Self { record: (word >> 32) as u32, tag: word as u32 }
    }
}

impl Default for RecordHandle {
    fn default() -> Self {
        Self { record: u32::MAX, tag: 0 }
    }
}

/// How often each [`Outcome`] occurred, on cache lines of its own.
#[repr(C, align(64))]
#[derive(Default)]
pub struct Stripe {
    outcomes: [AtomicU64; OUTCOMES],
    /// Until when denials have been noted, if each one takes [`NOTE`].
    noted_until: AtomicU64,
}

/// So much time, in nanoseconds, has to pass for each denial that is noted: a thousand a second.
const NOTE: u64 = SECOND / 1_000;
/// So much of it may be used ahead.
const NOTES_AHEAD: u64 = 1_024 * NOTE;
/// One of so many denials beyond that is noted, as that many.
const SAMPLED_WEIGHT: u32 = 256;

impl Stripe {
    /// Counts an outcome; returns how often it had occurred before.
    #[inline(always)]
    pub fn count(&self, outcome: Outcome) -> u64 {
        let Some(counter) = self.outcomes.get(outcome as usize) else { return 0 };
        counter.fetch_add(1, Ordering::Relaxed)
    }

    /// For how many denials the one at `now` is noted that was counted as the `number`-th; 0 if it is not noted.
    #[inline(always)]
    pub fn weigh_denial(&self, number: u64, now: u64) -> u32 {
        let until = self.noted_until.load(Ordering::Relaxed).max(now);
        if until - now < NOTES_AHEAD {
            self.noted_until.store(until.saturating_add(NOTE), Ordering::Relaxed);
            return 1;
        }
        // Chosen by a hash: clients that are denied in turn must all be met.
        let chosen = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SAMPLED_WEIGHT.ilog2());
        if chosen == 0 { SAMPLED_WEIGHT } else { 0 }
    }
}

/// What is counted of a limit.
#[repr(C, align(64))]
pub struct Record {
    prefix: SharedText<{ LONGEST_PREFIX / 8 }>,
    name: SharedText<{ LONGEST_NAME / 8 }>,
    minutes: Minutes,
    stripes: [Stripe; STRIPES],
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

    /// Begins a new minute if that is due: before a call at `now` is counted.
    #[inline(always)]
    pub fn note_minute(&self, now: u64) {
        if self.minutes.has_ended(now) {
            self.begin_minute(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_minute(&self, now: u64) {
        self.minutes.begin(now, decided(&self.outcomes()));
    }

    fn outcomes(&self) -> OutcomeCounts {
        let mut sums = [0u64; OUTCOMES];
        for stripe in &self.stripes {
            for (sum, counter) in sums.iter_mut().zip(&stripe.outcomes) {
                *sum = sum.wrapping_add(counter.load(Ordering::Relaxed));
            }
        }
        sums
    }
}

impl Contents for Record {
    /// Sets all counts to zero. The texts are those of the next limit once it has claimed the record.
    fn reset(&self) {
        for stripe in &self.stripes {
            let counters = stripe.outcomes.iter().chain([&stripe.noted_until]);
            counters.for_each(|counter| counter.store(0, Ordering::Relaxed));
        }
        self.minutes.clear();
    }
}

/// The calls that were decided on, of these outcomes.
fn decided(outcomes: &OutcomeCounts) -> CallsOfMinute {
    let count = |outcome: Outcome| outcomes.get(outcome as usize).copied().unwrap_or(0);
    let (denied, would_deny) = (count(Outcome::Denied), count(Outcome::DryRunDenied));
    let calls = count(Outcome::Accepted).saturating_add(denied).saturating_add(would_deny);
    CallsOfMinute { calls, denied, would_deny }
}

/// The records in a statistics' file.
#[derive(Clone, Copy)]
pub struct Records<'a> {
    records: &'a [Claimed<Record>],
    region: &'a Region,
}

impl<'a> Records<'a> {
    /// The records in this file; none in a file for another purpose.
    #[inline(always)]
    pub fn new(region: &'a Region) -> Self {
        Self { records: region.area(Area::Records), region }
    }

    /// The record of a limit. None if the limit had none when the handle was made, or has lost it since.
    #[inline(always)]
    pub fn get(self, handle: RecordHandle) -> Option<&'a Record> {
        let record = self.records.get(handle.record as usize)?;
        (record.id() as u32 == handle.tag).then(|| record.contents())
    }

    /// The record of a limit, which a limit without one takes now.
    pub fn find_or_claim(self, prefix: &[u8], name: &[u8], source: NameSource) -> RecordHandle {
        let prefix = prefix.get(..LONGEST_PREFIX).unwrap_or(prefix);
        let name = name.get(..LONGEST_NAME).unwrap_or(name);
        let id = self.id(prefix, name);
        let range = source.records(self.records.len());
        let first = range.start;
        if let Some((index, record)) =
            claimed::find_or_claim(self.records.get(range).unwrap_or_default(), id)
        {
            // Every process writes them: the first may have died before it did.
            record.prefix.write(prefix);
            record.name.write(name);
            // Fits: a file has 192 records.
            return RecordHandle { record: (first + index) as u32, tag: id as u32 };
        }
        let Some((shared, others)) = self.records.split_last() else {
            return RecordHandle::default();
        };
        // Its id changes when records become free, so that each limit looks for one of its own again.
        RecordHandle { record: others.len() as u32, tag: shared.shared_id() as u32 }
    }

    /// The name of the limit that a handle is of. None if it has lost its record since.
    pub(super) fn name(self, handle: RecordHandle) -> Option<LimitName> {
        if handle.record as usize + 1 == self.records.len() {
            return Some(LimitName::Others);
        }
        let record = self.records.get(handle.record as usize)?;
        let contents = self.get(handle)?;
        let name = LimitName::Known(contents.prefix.read(), contents.name.read());
        self.is_whole(record, &name).then_some(name)
    }

    /// The id of a limit.
    fn id(self, prefix: &[u8], name: &[u8]) -> u64 {
        // The length tells ("a", "bc") from ("ab", "c").
        let text = [&[prefix.len() as u8], prefix, name].concat();
        claimed::id(hash::keyed(self.region.secret(), &[&text]))
    }

    /// What was counted until `now`, in the order of the limits' prefixes and names, without the identifiers that were
    /// denied. The limits that share a record come last.
    pub fn snapshot(self, now: u64) -> Vec<(LimitName, LimitStatistics)> {
        let mut all: Vec<(LimitName, LimitStatistics)> = Vec::new();
        for (i, record, name) in self.used() {
            let (is_whole, record) = (self.is_whole(record, &name), record.contents());
            let outcomes = record.outcomes();
            if outcomes == [0; OUTCOMES] || !is_whole {
                continue;
            }
            let is_inferred = NameSource::is_inferred(i, self.records.len());
            let inferred = if is_inferred { outcomes } else { [0; OUTCOMES] };
            let minutes = record.minutes.snapshot(now, decided(&outcomes)).to_vec();
            let new = LimitStatistics { outcomes, inferred, minutes, denied: Vec::new() };
            // A name may be given in one place of the code and inferred in another.
            match all.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => known.add(new),
                None => all.push((name, new)),
            }
        }
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        all
    }

    /// Sets the counts of some limits to zero, and frees their records.
    pub fn reset(self, is_wanted: impl Fn(&LimitName) -> bool) {
        let now = boot_time();
        for (_, record, name) in self.used().filter(|(_, _, name)| is_wanted(name)) {
            match &name {
                LimitName::Known(prefix, text) => {
                    // A process that was killed while it freed the record has left the texts.
                    record.free_if_left(now);
                    record.free(self.id(prefix, text), now);
                }
                LimitName::Others => record.contents().reset(),
            }
        }
        // A limit that shared a record may have one of its own now.
        if let Some(shared) = self.records.last() {
            shared.renew();
        }
    }

    /// Whether a record's texts are those of its limit. Those of a record that has just been claimed are not.
    fn is_whole(self, record: &Claimed<Record>, name: &LimitName) -> bool {
        match name {
            LimitName::Known(prefix, name) => record.id() == self.id(prefix, name),
            LimitName::Others => true,
        }
    }

    /// The records that limits have, with their indices and names.
    fn used(self) -> impl Iterator<Item = (usize, &'a Claimed<Record>, LimitName)> {
        let shared = self.records.len().saturating_sub(1);
        self.records.iter().enumerate().filter_map(move |(i, record)| {
            let Record { prefix, name, .. } = record.contents();
            let name = match i < shared {
                true if record.is_free() => return None,
                true => LimitName::Known(prefix.read(), name.read()),
                false => LimitName::Others,
            };
            Some((i, record, name))
        })
    }
}

#[cfg(test)]
mod tests;
