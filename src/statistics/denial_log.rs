//! Which calls were denied lately, and why: an entry for each client, limit and cause. The clients that were denied most are
//! derived from the entries.
//!
//! Denials of one client by one limit for one cause are one entry while less than [`EPISODE`] lies between them, so a
//! client that hammers takes one entry. Entries lie in sets, found by a keyed hash. A full set gives up the
//! oldest entry of the limit that has most of them there: a flood on one limit leaves the entries of others, and room for new
//! ones. While clients come so fast that entries would not last for [`KEPT`], one in [`ADMITTED`] of the new ones of that limit
//! gets an entry.
//!
//! An entry's tag is the hash of all that does not change in it ([`tagged_set`](super::tagged_set)).

use super::context::CallContext;
use super::limit_statistics::LimitName;
use super::records::{RecordHandle, Records};
use super::tagged_set::{self, Position, TaggedSet};
use crate::guard::DecidedBy;
use crate::hash;
use crate::identifier::Identifier;
use crate::limit::{Limit, SECOND};
use crate::mapped::{Area, DENIAL_LOG_SIZE, Mappable, Region, SharedText};
use crate::store::LimitKind;
use portable_atomic::{AtomicU64, Ordering};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Denials that lie so far apart, in nanoseconds, are not one entry.
const EPISODE: u64 = 600 * SECOND;
/// How old an entry is, in nanoseconds, before any new one takes its place.
const KEPT: u64 = 3_600 * SECOND;
/// One new entry of so many takes the place of a younger one.
const ADMITTED: u64 = 16;
/// After so long without a denial an entry counts for half as much among those of the clients that were denied most, in
/// nanoseconds.
const HALF_LIFE: u64 = 3_600 * SECOND;
/// The most clients of a limit that are said to be denied most.
const MOST_DENIED: usize = 64;
/// The longest identifier that is kept, in bytes.
pub const LONGEST_IDENTIFIER: usize = 96;

/// What decided that a call is denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum DeniedBy {
    /// The store.
    Store = 0,
    /// What this host remembers of a denial by the store.
    DenyCache = 1,
    /// This host's own buckets, in position of a store that failed.
    Fallback = 2,
    /// The on-error policy.
    OnError = 3,
}

impl From<DecidedBy> for DeniedBy {
    fn from(decided_by: DecidedBy) -> Self {
        match decided_by {
            // Neither a lease nor an exemption denies a call.
            DecidedBy::Store | DecidedBy::Lease | DecidedBy::Exemption => Self::Store,
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

/// The entries whose hashes choose one set, with the time of the last denial of each.
type DenialSet = TaggedSet<LoggedEntry>;

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

// SAFETY: consists of atomics, of which any bits are a value.
unsafe impl Mappable for LoggedEntry {}

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

    /// The tag of the entry that has these facts and this identifier.
    fn tag(self, secret: [u64; 2], identifier: &[u8]) -> u64 {
        let facts = self.0.map(u64::to_le_bytes);
        tagged_set::tag(hash::keyed(secret, &[facts.as_flattened(), identifier]))
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
        if let Some(position) = find(set, tag, now) {
            position.advance(now);
            position.entry.count.fetch_add(weight.into(), Ordering::Relaxed);
            // Each time: processes that wrote different entries here at once have left a mix of them.
            position.entry.write(facts, identifier);
        } else if let Some(position) = choose(set, handle, now) {
            // If another process is faster, this denial has no entry.
            position.begin(tag, now, |entry| {
                entry.first_at.store(now, Ordering::Relaxed);
                entry.count.store(weight.into(), Ordering::Relaxed);
                entry.write(facts, identifier);
            });
        }
    }

    /// What was denied, the latest first.
    pub fn snapshot(self) -> Vec<LoggedDenial> {
        let mut denials: Vec<_> =
            self.positions().filter_map(|position| self.read(&position)).collect();
        denials.sort_by_key(|denial| Reverse(denial.last_at));
        denials
    }

    /// The identifiers that each limit has denied most by `now`, and about how often, the most often first.
    pub fn most_denied(self, now: u64) -> BTreeMap<LimitName, Vec<(Vec<u8>, u64)>> {
        let mut counts = BTreeMap::<_, u64>::new();
        for denial in self.snapshot() {
            let half_lives = now.saturating_sub(denial.last_at) / HALF_LIFE;
            let count = denial.count >> half_lives.min(63);
            if count > 0 && !denial.identifier.is_empty() {
                let sum = counts.entry((denial.limit, denial.identifier)).or_default();
                *sum = sum.saturating_add(count);
            }
        }
        let mut by_limit = BTreeMap::<_, Vec<_>>::new();
        for ((limit, identifier), count) in counts {
            by_limit.entry(limit).or_default().push((identifier, count));
        }
        for denied in by_limit.values_mut() {
            denied.sort_by_key(|(_, count)| Reverse(*count));
            denied.truncate(MOST_DENIED);
        }
        by_limit
    }

    /// Forgets the denials by some limits, and those of limits that have lost their records.
    pub fn forget(self, is_wanted: impl Fn(&LimitName) -> bool) {
        for position in self.positions() {
            let limit = self.records.name(position.entry.facts().record());
            if limit.is_none_or(|name| is_wanted(&name)) {
                position.forget();
            }
        }
    }

    fn positions(self) -> impl Iterator<Item = Position<'a, LoggedEntry>> {
        self.sets.iter().flat_map(TaggedSet::positions)
    }

    fn read(self, position: &Position<'_, LoggedEntry>) -> Option<LoggedDenial> {
        let read = |entry: &LoggedEntry| {
            let (facts, identifier) = (entry.facts(), entry.identifier.read());
            let (count, first_at) =
                (entry.count.load(Ordering::Relaxed), entry.first_at.load(Ordering::Relaxed));
            (facts.tag(self.secret, &identifier), (facts, identifier, count, first_at))
        };
        let ((facts, identifier, count, first_at), last_at) = position.read(read)?;
        let (cause, limit) = (facts.cause()?, self.records.name(facts.record())?);
        Some(LoggedDenial { limit, identifier, cause, count, first_at, last_at })
    }
}

/// The position of an entry with this tag whose last denial is not long ago.
fn find(set: &DenialSet, tag: u64, now: u64) -> Option<Position<'_, LoggedEntry>> {
    let is_recent =
        |position: &Position<'_, LoggedEntry>| now.saturating_sub(position.time()) < EPISODE;
    set.positions().find(|position| position.has_tag(tag) && is_recent(position))
}

/// The position for a new entry of this limit; none if there is none for it.
fn choose(set: &DenialSet, own: RecordHandle, now: u64) -> Option<Position<'_, LoggedEntry>> {
    let free = set.positions().find(Position::is_free);
    if free.is_some() {
        return free;
    }
    let limit = |position: &Position<'_, LoggedEntry>| position.entry.facts().record();
    let of_limit = |wanted| set.positions().filter(|position| limit(position) == wanted).count();
    let order = |position: &Position<'_, _>| (of_limit(limit(position)), Reverse(position.time()));
    let position = set.positions().max_by_key(order)?;
    // The time in nanoseconds is as good as a random number.
    let is_admitted = of_limit(own) < of_limit(limit(&position))
        || now.saturating_sub(position.time()) >= KEPT
        || now.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & (ADMITTED - 1) == 0;
    is_admitted.then_some(position)
}

/// Notes `weight` denials of a client in the log, with its identifier if it may be kept.
#[cold]
#[inline(never)]
pub fn note_denied(
    region: &Region,
    context: &CallContext<'_>,
    track: bool,
    weight: u32,
    now: u64,
    cause: &DenialCause,
) {
    let mut joined = [0u8; LONGEST_IDENTIFIER];
    let identifier = match context.identifier {
        _ if !track => b"",
        Identifier::Plain(identifier) => identifier,
        Identifier::Client { name, id } => join([name, b":", id], &mut joined),
    };
    DenialLog::new(region).note(context.record.get(), identifier, cause, weight, now);
}

/// Joins as much of the parts as there is room for.
fn join<'a>(parts: [&[u8]; 3], room: &'a mut [u8]) -> &'a [u8] {
    let mut length = 0;
    for part in parts {
        let rest = room.get_mut(length..).unwrap_or_default();
        let fits = part.len().min(rest.len());
        if let Some((to, from)) = rest.get_mut(..fits).zip(part.get(..fits)) {
            to.copy_from_slice(from);
        }
        length += fits;
    }
    room.get(..length).unwrap_or_default()
}

#[cfg(test)]
mod tests;
