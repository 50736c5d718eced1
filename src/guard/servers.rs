//! The servers that this host uses, for operators: their names, since when they are up or down, and how often
//! they have failed. Whether a server may be asked is the subject of [`breakers`](super::breakers).

use super::breakers::{Breakers, ServerState};
use crate::limit::SECOND;
use crate::mapped::{Area, Mappable, Region, SERVERS_SIZE, SharedText};
use portable_atomic::{AtomicU64, Ordering};
use recent_time::{note_recent, recent};
use std::time::Duration;

mod recent_time;

/// How many stores on servers have a record. A further one takes that of the store not used for longest.
const COUNT: usize = 32;

/// The longest name that is kept, in bytes.
const LONGEST_NAME: usize = 96;

/// The longest reason of a failure that is kept, in bytes.
const LONGEST_REASON: usize = 240;

/// A store that no process has called for so long is not listed, in nanoseconds.
const FORGOTTEN: u64 = 3_600 * SECOND;

/// A store that is down and that no process has called for so long is not listed: its servers may be gone for good.
const FORGOTTEN_DOWN: u64 = 300 * SECOND;

/// Without a write for so long, a server that must not be written to is an outage, in nanoseconds. Each process notes its writes
/// once a second.
const WITHOUT_WRITE: u64 = 2 * SECOND;

/// A server that has not said for so long that it must not be written to may be written to again, in nanoseconds.
const REFUSAL_COUNTS: u64 = 60 * SECOND;

/// An outage has ended when the servers have answered for so long: another node of a cluster may still be down.
const CONFIRMED: u64 = SECOND;

/// The records of a host's servers. A store has one, whatever the number of its servers.
#[repr(C, align(128))]
#[derive(Default)]
pub struct Servers([ServerRecord; COUNT]);

// SAFETY: consists of atomics, of which any bits are a value.
unsafe impl Mappable for Servers {}

const _: () = assert!(size_of::<Servers>() <= SERVERS_SIZE);

#[repr(C)]
#[derive(Default)]
struct ServerRecord {
    /// The store's id; 0 if the record is free.
    id: AtomicU64,
    /// How many breakers the store has.
    breakers: AtomicU64,
    /// When the outage began that has not been reported as ended, in nanoseconds since boot; 0 if there is none.
    down_since: AtomicU64,
    /// When the last outage ended, or when the store was first asked.
    up_since: AtomicU64,
    /// When a process last called the store, also if a breaker kept the call from it; to about a second.
    called_at: AtomicU64,
    /// When the servers last answered a process, to about a second.
    answered_at: AtomicU64,
    /// When a process last could not ask the servers, for a reason of its own.
    unable_at: AtomicU64,
    /// Counts the outages.
    outages: AtomicU64,
    /// The shortest round trip of the last minute in which one was noted: see [`note_recent`].
    round_trip: AtomicU64,
    /// How far this host's clock was behind another's at most, in the last minute in which it was.
    clock_behind: AtomicU64,
    name: SharedText<{ LONGEST_NAME / 8 }>,
    /// Why the last call failed that did; empty before the first.
    last_failure: SharedText<{ LONGEST_REASON / 8 }>,
    /// When a server last let a process write, to about a second.
    written_at: AtomicU64,
    /// When a process last found only servers that say that they must not be written to.
    refused_at: AtomicU64,
}

/// Identifies a store on servers to the records.
#[derive(Debug, Clone)]
pub struct StoreOnServers {
    /// The id of its first breaker.
    pub id: u64,
    /// How many breakers it has.
    pub breakers: u64,
    /// The kind of store and its addresses.
    pub name: String,
}

/// What is known of the servers of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerStatus {
    /// The kind of store and its addresses, cut at 96 bytes.
    pub name: String,
    /// Whether a server of the store does not answer, must not be written to, or no process can ask it.
    pub is_down: bool,
    /// Since when that is so, in nanoseconds since boot.
    pub since: u64,
    /// How often an outage has begun.
    pub outages: u64,
    /// Why the last call failed that did, cut at 240 bytes.
    pub last_failure: Option<String>,
    /// The shortest round trip of late, if one was measured.
    pub round_trip: Option<Duration>,
    /// How far this host's clock is behind that of another host of the store, if one has noticed within ten minutes.
    pub clock_behind: Option<Duration>,
}

impl Servers {
    /// The records in this file; none in a file for another purpose.
    pub fn in_file(region: &Region) -> Option<&Self> {
        region.area(Area::Servers).first()
    }

    /// Notes that a process calls the store of this id at `now`, whether the store is asked or not. A store that has
    /// no record gets none: nothing is known of it.
    pub fn note_call(&self, id: u64, now: u64) {
        if let Some(record) = self.find(id) {
            record.called_at.fetch_max(now, Ordering::Relaxed);
        }
    }

    /// Leaves the stores of this name out of the list until a process calls them. Returns whether there is one.
    pub fn forget(&self, name: &str) -> bool {
        let is_named = |record: &&ServerRecord| {
            record.called_at.load(Ordering::Relaxed) != 0 && record.name() == name
        };
        let named = self.0.iter().filter(is_named);
        named.map(|record| record.called_at.store(0, Ordering::Relaxed)).count() > 0
    }

    /// Notes that the store answered a process at `now`.
    ///
    /// Returns how long the servers did not answer, to the one process that finds that an outage has ended.
    pub fn note_answer(
        &self,
        store: &StoreOnServers,
        breakers: &Breakers,
        now: u64,
    ) -> Option<u64> {
        let record = self.find_or_claim(store, now)?;
        record.answered_at.fetch_max(now, Ordering::Relaxed);
        record.end_outage(breakers, now)
    }

    /// Notes at `now` that a process could not ask the store, for a reason of its own.
    pub fn note_unable(&self, store: &StoreOnServers, reason: &str, now: u64) {
        let Some(record) = self.find_or_claim(store, now) else { return };
        record.called_at.fetch_max(now, Ordering::Relaxed);
        record.unable_at.fetch_max(now, Ordering::Relaxed);
        record.note_reason(store, reason);
    }

    /// Notes at `now` that a server of the store let a process write.
    pub fn note_write(&self, store: &StoreOnServers, now: u64) {
        if let Some(record) = self.find_or_claim(store, now) {
            record.written_at.fetch_max(now, Ordering::Relaxed);
        }
    }

    /// Notes at `now` that a process finds only servers that say that they must not be written to. Returns whether an outage begins.
    pub fn note_unwritable(&self, store: &StoreOnServers, reason: &str, now: u64) -> bool {
        let Some(record) = self.find_or_claim(store, now) else { return false };
        record.note_reason(store, reason);
        record.called_at.fetch_max(now, Ordering::Relaxed);
        record.refused_at.fetch_max(now, Ordering::Relaxed);
        record.is_unwritable(now) && record.begin_outage(now)
    }

    /// Whether processes find only servers that say that they must not be written to.
    pub fn is_unwritable(&self, store: &StoreOnServers, now: u64) -> bool {
        self.find(store.id).is_some_and(|record| record.is_unwritable(now))
    }

    /// Notes at `now` how long a round trip took.
    pub fn note_round_trip(&self, store: &StoreOnServers, took: Duration, now: u64) {
        if let Some(record) = self.find_or_claim(store, now) {
            note_recent(&record.round_trip, took, now, u64::min);
        }
    }

    /// Notes at `now` that this host's clock is so far behind another's. Returns whether no process has noted that for an hour.
    pub fn note_clock_behind(&self, store: &StoreOnServers, behind: Duration, now: u64) -> bool {
        let Some(record) = self.find_or_claim(store, now) else { return false };
        let before = note_recent(&record.clock_behind, behind, now, u64::max);
        recent(before, now, 60).is_none()
    }

    /// Ends an outage of the store if it answers at `now`. Returns how long the servers did not, to the one process that
    /// finds that it has ended.
    pub fn end_outage(&self, store: &StoreOnServers, breakers: &Breakers, now: u64) -> Option<u64> {
        self.find_or_claim(store, now)?.end_outage(breakers, now)
    }

    /// Notes that an outage has begun at `now`, and why. Another server of the store may have been down before.
    pub fn note_down(&self, store: &StoreOnServers, reason: &str, now: u64) {
        let Some(record) = self.find_or_claim(store, now) else { return };
        record.note_reason(store, reason);
        record.called_at.fetch_max(now, Ordering::Relaxed);
        record.begin_outage(now);
    }

    /// The stores that a process has called within the last hour, those that are down within the last five minutes, in the
    /// order of their names. Those of one name, which differ in their login or database, are one.
    pub fn list(&self, breakers: &Breakers, now: u64) -> Vec<ServerStatus> {
        let status = |record: &ServerRecord| {
            let called_at = record.called_at.load(Ordering::Relaxed);
            if called_at == 0 || record.id.load(Ordering::Acquire) == 0 {
                return None;
            }
            let status = record.status(breakers, now);
            let forgotten = if status.is_down { FORGOTTEN_DOWN } else { FORGOTTEN };
            (now.saturating_sub(called_at) < forgotten).then_some(status)
        };
        let mut list: Vec<_> = self.0.iter().filter_map(status).collect();
        // Of one name those that are down come first, then those that changed last.
        list.sort_by(|a, b| (&a.name, b.is_down, b.since).cmp(&(&b.name, a.is_down, a.since)));
        list.dedup_by(|next, kept| {
            let is_same = next.name == kept.name;
            if is_same {
                kept.outages = kept.outages.max(next.outages);
                kept.last_failure = kept.last_failure.take().or(next.last_failure.take());
                kept.round_trip = kept.round_trip.or(next.round_trip);
                kept.clock_behind = kept.clock_behind.max(next.clock_behind);
            }
            is_same
        });
        list
    }

    /// The record of a store, which takes a free one, or that of the store that was not asked for longest.
    fn find_or_claim(&self, store: &StoreOnServers, now: u64) -> Option<&ServerRecord> {
        // As often as other processes can claim a free record before this one does.
        let find_or_claim = |_| self.find(store.id).or_else(|| self.claim(store.id, now));
        let record = (0..COUNT).find_map(find_or_claim)?;
        // Each time: the process that claimed it may have died before it did.
        record.breakers.store(store.breakers, Ordering::Relaxed);
        record.name.write(store.name.as_bytes());
        Some(record)
    }

    fn find(&self, id: u64) -> Option<&ServerRecord> {
        self.0.iter().find(|record| record.id.load(Ordering::Acquire) == id)
    }

    /// Claims a record; none if another process was faster.
    fn claim(&self, id: u64, now: u64) -> Option<&ServerRecord> {
        let records = self.0.iter().map(|record| (record, record.id.load(Ordering::Acquire)));
        let last_use = |(record, seen): &(&ServerRecord, u64)| match seen {
            0 => 0,
            _ => record.called_at.load(Ordering::Relaxed).max(1),
        };
        let (record, seen) = records.min_by_key(last_use)?;
        // Another store must not take it before it is used.
        record.called_at.fetch_max(now, Ordering::Relaxed);
        record.id.compare_exchange(seen, id, Ordering::AcqRel, Ordering::Relaxed).ok()?;
        // What another process notes of an outage before this is done it notes again at the next failure.
        record.up_since.store(now, Ordering::Relaxed);
        if seen != 0 {
            for time in [&record.down_since, &record.answered_at, &record.unable_at]
                .into_iter()
                .chain([&record.written_at, &record.refused_at])
            {
                time.store(0, Ordering::Relaxed);
            }
            for count in [&record.outages, &record.round_trip, &record.clock_behind] {
                count.store(0, Ordering::Relaxed);
            }
            record.last_failure.write(b"");
        }
        Some(record)
    }
}

impl ServerRecord {
    /// Begins an outage at `now`. Returns false if there is one.
    fn begin_outage(&self, now: u64) -> bool {
        let (down_since, begins) = (&self.down_since, now.max(1));
        let begun = down_since.compare_exchange(0, begins, Ordering::AcqRel, Ordering::Relaxed);
        if begun.is_ok() {
            self.outages.fetch_add(1, Ordering::Relaxed);
        }
        begun.is_ok()
    }

    /// Whether processes find only servers that say that they must not be written to.
    fn is_unwritable(&self, now: u64) -> bool {
        let [refused_at, written_at] =
            [&self.refused_at, &self.written_at].map(|time| time.load(Ordering::Relaxed));
        let is_recent = refused_at != 0 && now.saturating_sub(refused_at) < REFUSAL_COUNTS;
        is_recent && (written_at == 0 || refused_at > written_at.saturating_add(WITHOUT_WRITE))
    }

    /// Ends an outage if the servers answer at `now`, and returns how long they did not.
    fn end_outage(&self, breakers: &Breakers, now: u64) -> Option<u64> {
        self.called_at.fetch_max(now, Ordering::Relaxed);
        let since = self.down_since.load(Ordering::Acquire);
        if since == 0 {
            return None;
        }
        let answers_since = self.answers_since(breakers, now)?;
        if self.is_unwritable(now) {
            return None;
        }
        // If no breaker was open since, a server could be read, and none could be written to.
        let (ended_at, quiet_since) = match answers_since > since {
            true => (answers_since, answers_since),
            false => (now, self.refused_at.load(Ordering::Relaxed)),
        };
        let has_ended = now.saturating_sub(quiet_since) >= CONFIRMED
            && self
                .down_since
                .compare_exchange(since, 0, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok();
        if !has_ended {
            return None;
        }
        self.up_since.store(ended_at, Ordering::Relaxed);
        Some(ended_at.saturating_sub(since))
    }

    /// When all servers of the store began to answer. None if one of its breakers is open, or was when the store
    /// was asked last.
    fn answers_since(&self, breakers: &Breakers, now: u64) -> Option<u64> {
        let (id, count) = (self.id.load(Ordering::Acquire), self.breakers.load(Ordering::Relaxed));
        // No store has more than 100; the file may say anything.
        let parts = (0..count.min(256)).map(|part| breakers.state(Breakers::id(id, part), now));
        let mut closed_at = 0;
        let mut is_unknown = false;
        for state in parts {
            match state {
                ServerState::Down => return None,
                ServerState::Unknown => is_unknown = true,
                ServerState::Up { since } => closed_at = closed_at.max(since),
            }
        }
        // In a cluster whose other parts have answered since, no process may need that part any more.
        let began = self.down_since.load(Ordering::Acquire);
        (!is_unknown || closed_at > began)
            .then(|| closed_at.max(self.up_since.load(Ordering::Relaxed)))
    }

    /// Notes why a call failed.
    fn note_reason(&self, store: &StoreOnServers, reason: &str) {
        // The name stands before it wherever it is shown.
        let reason = reason.strip_prefix(&store.name).unwrap_or(reason);
        let reason = reason.strip_prefix(": ").unwrap_or(reason);
        self.last_failure.write(reason.as_bytes());
    }

    /// When the servers last answered, if each process that called since could not ask them.
    fn out_of_reach_since(&self, now: u64) -> Option<u64> {
        let [unable_at, answered_at] =
            [&self.unable_at, &self.answered_at].map(|time| time.load(Ordering::Relaxed));
        let is_recent = now.saturating_sub(unable_at) < FORGOTTEN_DOWN;
        // Answers are noted once a second by each process.
        let has_no_answer = unable_at > answered_at.saturating_add(2 * SECOND);
        (is_recent && has_no_answer).then(|| answered_at.max(self.up_since.load(Ordering::Relaxed)))
    }

    fn status(&self, breakers: &Breakers, now: u64) -> ServerStatus {
        let began = self.down_since.load(Ordering::Acquire);
        let (is_down, since) = match self.answers_since(breakers, now) {
            Some(since) if !self.is_unwritable(now) => match self.out_of_reach_since(now) {
                Some(since) => (true, since),
                None => (false, since),
            },
            // Until a process has noted the outage in the record, it begins now.
            _ => (true, if began == 0 { now } else { began }),
        };
        let reason = self.last_failure.read();
        let reason = String::from_utf8_lossy(&reason).into_owned();
        ServerStatus {
            name: self.name(),
            is_down,
            since,
            outages: self.outages.load(Ordering::Relaxed),
            last_failure: (!reason.is_empty()).then_some(reason),
            round_trip: recent(self.round_trip.load(Ordering::Relaxed), now, u64::MAX),
            clock_behind: recent(self.clock_behind.load(Ordering::Relaxed), now, 10),
        }
    }

    fn name(&self) -> String {
        String::from_utf8_lossy(&self.name.read()).into_owned()
    }
}

#[cfg(test)]
mod tests;
