//! Which calls were denied lately, and why: an entry for each client, limit and cause.
//!
//! Denials of one client by one limit for one cause are one entry while less than [`EPISODE`] lies between them, so a
//! client that hammers takes one entry. Entries lie in sets of [`WAYS`], found by a keyed hash. A full set gives up the
//! oldest entry of the limit that has most of them there: a flood on one limit leaves the entries of others. While clients
//! come so fast that entries would not last for [`KEPT`], one in [`ADMITTED`] of the new ones gets an entry.
//!
//! An entry's tag is the hash of all that does not change in it. Processes write without a lock; a reader leaves out an
//! entry whose tag is not that of its contents: another process is writing it, or died before it had.

use super::denied::LONGEST_IDENTIFIER;
use super::limit_statistics::LimitName;
use super::records::{RecordHandle, Records};
use crate::guard::DecidedBy;
use crate::limit::{Limit, SECOND};
use crate::mapped::{Area, DENIAL_LOG_SIZE, Mappable, Region, SharedText};
use crate::store::LimitKind;
use portable_atomic::{AtomicU64, Ordering, fence};
use siphasher::sip::SipHasher13;
use std::cmp::Reverse;
use std::hash::Hasher;

/// Denials that lie so far apart, in nanoseconds, are not one entry.
const EPISODE: u64 = 600 * SECOND;
/// How old an entry is, in nanoseconds, before any new one takes its place.
const KEPT: u64 = 3_600 * SECOND;
/// One new entry of so many takes the place of a younger one.
const ADMITTED: u64 = 16;
const WAYS: usize = 8;

/// What decided that a call is denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum DeniedBy {
    /// The store.
    Store = 0,
    /// What this host remembers of a denial by the store.
    DenyCache = 1,
    /// This host's own buckets, in place of a store that failed.
    Fallback = 2,
    /// The on-error policy.
    OnError = 3,
}

impl From<DecidedBy> for DeniedBy {
    fn from(decided_by: DecidedBy) -> Self {
        match decided_by {
            // A lease has tokens, or the store is asked.
            DecidedBy::Store | DecidedBy::Lease => Self::Store,
            DecidedBy::DenyCache => Self::DenyCache,
            DecidedBy::Host => Self::Fallback,
            DecidedBy::Policy => Self::OnError,
        }
    }
}

/// Why a call is denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum DenialReason {
    /// There were not enough tokens, hits or permits.
    Empty = 0,
    /// The client is blocked.
    Blocked = 1,
    /// The table was full, and the client new.
    NoRoom = 2,
    /// No store decided, and the on-error policy denies.
    Outage = 3,
}

/// How a denial came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DenialCause {
    /// The algorithm of the limit.
    pub kind: LimitKind,
    /// How many tokens, hits or permits the limit allows.
    pub capacity: u64,
    /// In how many nanoseconds; 0 if that says nothing.
    pub window: u64,
    /// Why the call is denied.
    pub reason: DenialReason,
    /// What decided.
    pub by: DeniedBy,
    /// Whether the call was denied. In a dry run it went on.
    pub is_enforced: bool,
}

impl DenialCause {
    /// The cause of a denial by a limit.
    pub fn new(limit: &Limit, by: DeniedBy, is_blocked: bool, is_enforced: bool) -> Self {
        let reason = match by {
            DeniedBy::OnError => DenialReason::Outage,
            _ if is_blocked => DenialReason::Blocked,
            _ => DenialReason::Empty,
        };
        let (kind, capacity, window) = (limit.into(), limit.capacity(), limit.window());
        Self { kind, capacity, window, reason, by, is_enforced }
    }
}

/// Denials of one client by one limit for one cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedDenial {
    /// The limit.
    pub limit: LimitName,
    /// The identifier, cut at 96 bytes; empty if none is kept.
    pub identifier: Vec<u8>,
    /// How they came about.
    pub cause: DenialCause,
    /// About how many they are.
    pub count: u64,
    /// When the first of them was, in nanoseconds since boot.
    pub first_at: u64,
    /// When the last of them was.
    pub last_at: u64,
}

/// The entries whose hashes choose one set.
#[repr(C, align(128))]
#[derive(Default)]
struct DenialSet {
    /// The tags of the entries; 0 where there is none.
    tags: [AtomicU64; WAYS],
    /// When the last denial of each entry was.
    last_at: [AtomicU64; WAYS],
    entries: [LoggedEntry; WAYS],
}

// SAFETY: consists of atomics, of which any bits are a value.
unsafe impl Mappable for DenialSet {}

const _: () = assert!(DENIAL_LOG_SIZE.is_multiple_of(size_of::<DenialSet>()));

#[repr(C)]
#[derive(Default)]
struct LoggedEntry {
    first_at: AtomicU64,
    count: AtomicU64,
    /// The limit's record and numbers, the cause, and whether the limit is enforced, in the words of [`Facts`].
    facts: [AtomicU64; 4],
    identifier: SharedText<{ LONGEST_IDENTIFIER / 8 }>,
}

/// The limit and the cause of a denial, as an entry keeps them.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Facts([u64; 4]);

impl Facts {
    fn new(handle: RecordHandle, cause: &DenialCause) -> Self {
        let DenialCause { kind, capacity, window, reason, by, is_enforced } = *cause;
        let bytes = [kind as u8, reason as u8, by as u8, is_enforced.into(), 0, 0, 0, 0];
        Self([handle.to_word(), u64::from_le_bytes(bytes), capacity, window])
    }

    fn record(self) -> RecordHandle {
        let Self([counter, ..]) = self;
        RecordHandle::from_word(counter)
    }

    /// The cause. None if the words are none that [`new`](Self::new) makes.
    fn cause(self) -> Option<DenialCause> {
        let Self([_, bytes, capacity, window]) = self;
        let [kind, reason, by, is_enforced, ..] = bytes.to_le_bytes();
        let reasons = [
            DenialReason::Empty,
            DenialReason::Blocked,
            DenialReason::NoRoom,
            DenialReason::Outage,
        ];
        let deciders =
            [DeniedBy::Store, DeniedBy::DenyCache, DeniedBy::Fallback, DeniedBy::OnError];
        Some(DenialCause {
            kind: *LimitKind::ALL.get(usize::from(kind))?,
            capacity,
            window,
            reason: *reasons.get(usize::from(reason))?,
            by: *deciders.get(usize::from(by))?,
            is_enforced: is_enforced != 0,
        })
    }

    /// The tag of the entry that has these facts and this identifier. Not 0, which marks a place without an entry.
    fn tag(self, secret: [u64; 2], identifier: &[u8]) -> u64 {
        let (Self(words), [low, high]) = (self, secret);
        let mut hasher = SipHasher13::new_with_keys(low, high);
        hasher.write(words.map(u64::to_le_bytes).as_flattened());
        hasher.write(identifier);
        hasher.finish().max(1)
    }
}

impl LoggedEntry {
    fn facts(&self) -> Facts {
        Facts(self.facts.each_ref().map(|word| word.load(Ordering::Relaxed)))
    }

    fn write(&self, facts: Facts, identifier: &[u8]) {
        let Facts(words) = facts;
        for (word, new) in self.facts.iter().zip(words) {
            if word.load(Ordering::Relaxed) != new {
                word.store(new, Ordering::Relaxed);
            }
        }
        self.identifier.write(identifier);
    }
}

/// The log of denials in the statistics' file.
#[derive(Clone, Copy)]
pub struct DenialLog<'a> {
    sets: &'a [DenialSet],
    records: Records<'a>,
    secret: [u64; 2],
}

impl<'a> DenialLog<'a> {
    /// The log in this file; without room in a file for another purpose.
    pub fn new(region: &'a Region) -> Self {
        let sets = region.area(Area::DenialLog);
        Self { sets, records: Records::new(region), secret: region.secret() }
    }

    /// Notes `weight` denials of an identifier at `now`.
    pub fn note(
        self,
        handle: RecordHandle,
        identifier: &[u8],
        cause: &DenialCause,
        weight: u32,
        now: u64,
    ) {
        let identifier = identifier.get(..LONGEST_IDENTIFIER).unwrap_or(identifier);
        let facts = Facts::new(handle, cause);
        let tag = facts.tag(self.secret, identifier);
        let Some(nth) = (tag as usize).checked_rem(self.sets.len()) else { return };
        let Some(set) = self.sets.get(nth) else { return };
        if let Some(nth) = set.find(tag, now) {
            set.add(nth, facts, identifier, weight, now);
        } else if let Some(nth) = set.choose(now) {
            set.begin(nth, facts, identifier, weight, now, tag);
        }
    }

    /// What was denied, the latest first.
    pub fn snapshot(self) -> Vec<LoggedDenial> {
        let mut denials: Vec<_> = self.entries().filter_map(|entry| self.read(entry)).collect();
        denials.sort_by_key(|denial| Reverse(denial.last_at));
        denials
    }

    /// Forgets the denials by some limits, and those of limits that have lost their records.
    pub fn forget(self, is_wanted: impl Fn(&LimitName) -> bool) {
        for (tag, _, entry) in self.entries() {
            if self.records.name(entry.facts().record()).is_none_or(|name| is_wanted(&name)) {
                tag.store(0, Ordering::Relaxed);
            }
        }
    }

    fn entries(self) -> impl Iterator<Item = (&'a AtomicU64, &'a AtomicU64, &'a LoggedEntry)> {
        let of_set = |set: &'a DenialSet| {
            let places = set.tags.iter().zip(&set.last_at).zip(&set.entries);
            places.map(|((tag, last_at), entry)| (tag, last_at, entry))
        };
        self.sets.iter().flat_map(of_set)
    }

    fn read(
        self,
        (tag, last_at, entry): (&AtomicU64, &AtomicU64, &LoggedEntry),
    ) -> Option<LoggedDenial> {
        let seen = tag.load(Ordering::Acquire);
        if seen == 0 {
            return None;
        }
        let (facts, identifier) = (entry.facts(), entry.identifier.read());
        if facts.tag(self.secret, &identifier) != seen {
            return None;
        }
        let cause = facts.cause()?;
        let limit = self.records.name(facts.record())?;
        let (count, first_at) =
            (entry.count.load(Ordering::Relaxed), entry.first_at.load(Ordering::Relaxed));
        let last_at = last_at.load(Ordering::Relaxed);
        // The fence keeps the loads above before that of the tag. If it differs, another entry has taken the place meanwhile.
        fence(Ordering::Acquire);
        (tag.load(Ordering::Relaxed) == seen).then_some(LoggedDenial {
            limit,
            identifier,
            cause,
            count,
            first_at,
            last_at,
        })
    }
}

impl DenialSet {
    /// The place of an entry with this tag whose last denial is not long ago.
    fn find(&self, tag: u64, now: u64) -> Option<usize> {
        let places = self.tags.iter().zip(&self.last_at);
        let mut places = places.map(|(tag, last_at)| (tag.load(Ordering::Acquire), last_at));
        places.position(|(seen, last_at)| {
            seen == tag && now.saturating_sub(last_at.load(Ordering::Relaxed)) < EPISODE
        })
    }

    /// The place for a new entry; none if there is none for it.
    fn choose(&self, now: u64) -> Option<usize> {
        let free = self.tags.iter().position(|tag| tag.load(Ordering::Relaxed) == 0);
        if free.is_some() {
            return free;
        }
        let limits = self.entries.each_ref().map(|entry| entry.facts().record());
        let times = self.last_at.each_ref().map(|last_at| last_at.load(Ordering::Relaxed));
        let of_limit = |limit: &_| limits.iter().filter(|other| *other == limit).count();
        let places = limits.iter().zip(times).enumerate();
        let (nth, (_, last_at)) =
            places.max_by_key(|(_, (limit, last_at))| (of_limit(limit), Reverse(*last_at)))?;
        // The time in nanoseconds is as good as a random number.
        let is_admitted = now.saturating_sub(last_at) >= KEPT
            || now.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & (ADMITTED - 1) == 0;
        is_admitted.then_some(nth)
    }

    /// Adds denials to an entry.
    fn add(&self, nth: usize, facts: Facts, identifier: &[u8], weight: u32, now: u64) {
        let Some((last_at, entry)) = self.last_at.get(nth).zip(self.entries.get(nth)) else {
            return;
        };
        last_at.fetch_max(now, Ordering::Relaxed);
        entry.count.fetch_add(weight.into(), Ordering::Relaxed);
        // Each time: processes that wrote different entries here at once have left a mix of them.
        entry.write(facts, identifier);
    }

    /// Puts a new entry in the place of another one.
    fn begin(&self, nth: usize, facts: Facts, identifier: &[u8], weight: u32, now: u64, tag: u64) {
        let Some((last_at, entry)) = self.last_at.get(nth).zip(self.entries.get(nth)) else {
            return;
        };
        let Some(word) = self.tags.get(nth) else { return };
        // Without a tag while it is written; the fence keeps the stores below after that of the zero.
        word.store(0, Ordering::Relaxed);
        fence(Ordering::Release);
        last_at.store(now, Ordering::Relaxed);
        entry.first_at.store(now, Ordering::Relaxed);
        entry.count.store(weight.into(), Ordering::Relaxed);
        entry.write(facts, identifier);
        word.store(tag, Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
