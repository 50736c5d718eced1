//! What the processes of a host share about one store on servers: whether each server may be asked, how many processes connect,
//! and for operators since when the servers are up or down, how often they have failed, and why.

use super::breaker::{Access, Breaker, FailureMeaning, ServerState};
use super::gate::Gate;
use super::recent_time::{note_recent, recent};
use crate::limit::SECOND;
use crate::mapped::claimed::{self, Claimed, Contents};
use crate::mapped::{Area, Mappable, Region, STORE_SIZE, SharedText};
use crate::store::BREAKERS;
use portable_atomic::{AtomicU64, Ordering};
use std::time::Duration;

mod status;

pub use status::{ServerStatus, count_down, forget, list};

/// The number of the breaker of [writes](super::writes).
pub const OF_WRITES: u64 = BREAKERS - 1;

/// The longest name that is kept, in bytes.
const LONGEST_NAME: usize = 96;

/// The longest reason of a failure that is kept, in bytes.
const LONGEST_REASON: usize = 240;

/// A record is not given to another store as long as a process has called its own within so long, in nanoseconds. Each notes its calls once
/// a second.
const IN_USE: u64 = 2 * SECOND;

/// Without a write for so long, a server that must not be written to is an outage, in nanoseconds. Each process notes its writes
/// once a second.
const WITHOUT_WRITE: u64 = 2 * SECOND;

/// A server that has not said for so long that it must not be written to may be written to again, in nanoseconds.
const REFUSAL_COUNTS: u64 = 60 * SECOND;

/// An outage has ended when the servers have answered for so long: another node of a cluster may still be down.
const CONFIRMED: u64 = SECOND;

/// The record of a store, whatever the number of its servers.
#[repr(C)]
#[derive(Default)]
pub struct StoreRecord {
    /// When a process last called the store, also if a breaker kept the call from it; to about a second. 0 if an operator has
    /// forgotten the store since.
    called_at: AtomicU64,
    /// When the outage began that has not been reported as ended, in nanoseconds since boot; 0 if there is none.
    down_since: AtomicU64,
    /// When the last outage ended, or when something was first noted of the store; 0 before.
    up_since: AtomicU64,
    /// When the servers last answered a process, to about a second.
    answered_at: AtomicU64,
    /// When a process last could not ask the servers, for a reason of its own.
    unable_at: AtomicU64,
    /// When a server last let a process write, to about a second.
    written_at: AtomicU64,
    /// When a process last found only servers that say that they must not be written to.
    refused_at: AtomicU64,
    /// Counts the outages.
    outages: AtomicU64,
    /// The shortest round trip of the last minute in which one was noted: see [`note_recent`].
    round_trip: AtomicU64,
    /// How far this host's clock was behind another's at most, in the last minute in which it was.
    clock_behind: AtomicU64,
    /// How many processes connect.
    pub gate: Gate,
    /// One for each server of memcached, of which the 33rd shares that of the first, or for each 512 slots of a cluster.
    breakers: [Breaker; BREAKERS as usize],
    name: SharedText<{ LONGEST_NAME / 8 }>,
    /// Why the last call failed that did; empty before the first.
    last_failure: SharedText<{ LONGEST_REASON / 8 }>,
}

const _: () = assert!(size_of::<Claimed<StoreRecord>>() == STORE_SIZE);

// SAFETY: consists of atomics, of which any bits are a value.
unsafe impl Mappable for StoreRecord {}

impl Contents for StoreRecord {
    fn reset(&self) {
        let times = [&self.called_at, &self.down_since, &self.up_since, &self.answered_at];
        let times = times.into_iter().chain([&self.unable_at, &self.written_at, &self.refused_at]);
        let counts = [&self.outages, &self.round_trip, &self.clock_behind];
        times.chain(counts).for_each(|word| word.store(0, Ordering::Relaxed));
        self.gate.reset();
        self.breakers.iter().for_each(Breaker::reset);
        self.name.write(b"");
        self.last_failure.write(b"");
    }
}

/// The records of the stores in this file; none in a file for another purpose.
pub fn records(file: &Region) -> &[Claimed<StoreRecord>] {
    file.area(Area::Stores)
}

/// The index and the record of the store of this id, which takes a free one at `now` if it has none, or that of the store that was
/// not called for longest. None if all stores were called of late.
pub fn find_or_claim<'a>(
    records: &'a [Claimed<StoreRecord>],
    id: u64,
    name: &str,
    now: u64,
) -> Option<(usize, &'a StoreRecord)> {
    let claim = || claimed::find_or_claim(records, id);
    let (index, record) = claim().or_else(|| {
        let called_at = |record: &StoreRecord| record.called_at.load(Ordering::Relaxed);
        claimed::free_oldest(records, called_at, now.saturating_sub(IN_USE), now);
        claim()
    })?;
    // Each process: the one that claimed it may have died before it did.
    record.note_call(now);
    record.name.write(name.as_bytes());
    Some((index, record))
}

impl StoreRecord {
    /// The breaker of this number.
    pub fn breaker(&self, number: u64) -> &Breaker {
        let [first, ..] = &self.breakers;
        // Always there: the remainder is less than BREAKERS.
        self.breakers.get((number % BREAKERS) as usize).unwrap_or(first)
    }

    /// Notes that a process calls the store at `now`, whether the store is asked or not.
    pub fn note_call(&self, now: u64) {
        self.called_at.fetch_max(now, Ordering::Relaxed);
    }

    /// Notes that a call with this access, sent at `sent`, failed at `now` at the server behind this breaker, and why. Returns
    /// what that means.
    pub fn note_failure(
        &self,
        breaker: u64,
        access: Access,
        reason: &str,
        sent: u64,
        now: u64,
    ) -> FailureMeaning {
        let meaning = self.breaker(breaker).note_failure(access, sent, now);
        self.note_outage(meaning, reason, now)
    }

    /// Notes that the server behind this breaker answered at `now` a call with this access, which was to be answered by `due`. If it
    /// was in time, the server answers now, even if other processes have found it down meanwhile.
    pub fn note_success(&self, breaker: u64, access: Access, due: u64, now: u64) {
        let is_in_time = now <= due && access == Access::Granted;
        let access = if is_in_time { Access::Connected } else { access };
        self.breaker(breaker).note_success(access, now);
    }

    /// Notes that a write with this access, sent at `sent`, waited for a lock until `now`, as `reason` says. Returns what that means.
    pub fn note_waiting_write(
        &self,
        access: Access,
        reason: &str,
        sent: u64,
        now: u64,
    ) -> FailureMeaning {
        let meaning = self.breaker(OF_WRITES).note_waiting_write(access, sent, now);
        self.note_outage(meaning, reason, now)
    }

    /// Notes the reason of an outage for operators. Each time: the process that began the outage may have died before it noted that.
    fn note_outage(&self, meaning: FailureMeaning, reason: &str, now: u64) -> FailureMeaning {
        if matches!(meaning, FailureMeaning::OutageBegins | FailureMeaning::OutageContinues) {
            self.note_down(reason, now);
        }
        meaning
    }

    /// Notes that an outage has begun at `now`, and why. Another server of the store may have been down before.
    fn note_down(&self, reason: &str, now: u64) {
        self.note_reason(reason, now);
        self.begin_outage(now);
    }

    /// Notes that the store answered a process at `now`.
    ///
    /// Returns how long the servers did not answer, to the one process that finds that an outage has ended.
    pub fn note_answer(&self, now: u64) -> Option<u64> {
        self.note_known(now);
        self.answered_at.fetch_max(now, Ordering::Relaxed);
        self.end_outage(now)
    }

    /// Notes at `now` that a process could not ask the store, for a reason of its own.
    pub fn note_unable(&self, reason: &str, now: u64) {
        self.note_reason(reason, now);
        self.unable_at.fetch_max(now, Ordering::Relaxed);
    }

    /// Notes at `now` that a server of the store let a process write.
    pub fn note_write(&self, now: u64) {
        self.written_at.fetch_max(now, Ordering::Relaxed);
    }

    /// Notes at `now` that a process finds only servers that say that they must not be written to. Returns whether an outage begins.
    pub fn note_unwritable(&self, reason: &str, now: u64) -> bool {
        self.note_reason(reason, now);
        self.refused_at.fetch_max(now, Ordering::Relaxed);
        self.is_unwritable(now) && self.begin_outage(now)
    }

    /// Notes at `now` how long a round trip took.
    pub fn note_round_trip(&self, took: Duration, now: u64) {
        note_recent(&self.round_trip, took, now, u64::min);
    }

    /// The shortest round trip of this minute and the last.
    pub fn shortest_round_trip(&self, now: u64) -> Option<Duration> {
        recent(self.round_trip.load(Ordering::Relaxed), now, 1)
    }

    /// Notes at `now` that this host's clock is so far behind another's. Returns whether no process has noted that for an hour.
    pub fn note_clock_behind(&self, behind: Duration, now: u64) -> bool {
        let before = note_recent(&self.clock_behind, behind, now, u64::max);
        recent(before, now, 60).is_none()
    }

    /// Whether processes find only servers that say that they must not be written to.
    pub fn is_unwritable(&self, now: u64) -> bool {
        let [refused_at, written_at] =
            [&self.refused_at, &self.written_at].map(|time| time.load(Ordering::Relaxed));
        let is_recent = refused_at != 0 && now.saturating_sub(refused_at) < REFUSAL_COUNTS;
        is_recent && (written_at == 0 || refused_at > written_at.saturating_add(WITHOUT_WRITE))
    }

    /// Ends an outage if the servers answer at `now`. Returns how long they did not, to the one process that finds that it has
    /// ended. Called before a failure is noted, too: else an outage that ended while no process asked would go on.
    pub fn end_outage(&self, now: u64) -> Option<u64> {
        self.note_call(now);
        let since = self.down_since.load(Ordering::Acquire);
        if since == 0 {
            return None;
        }
        let mut ended_at = self.answers_since(now)?;
        if self.is_unwritable(now) {
            return None;
        }
        let mut quiet_since = ended_at;
        if ended_at <= since {
            // No breaker was open since: a server could be read, and none could be written to.
            (ended_at, quiet_since) = (now, self.refused_at.load(Ordering::Relaxed));
        }
        if now.saturating_sub(quiet_since) < CONFIRMED {
            return None;
        }
        let (order, failed) = (Ordering::AcqRel, Ordering::Relaxed);
        self.down_since.compare_exchange(since, 0, order, failed).ok()?;
        self.up_since.store(ended_at, Ordering::Relaxed);
        Some(ended_at.saturating_sub(since))
    }

    /// Begins an outage at `now`. Returns false if there is one.
    fn begin_outage(&self, now: u64) -> bool {
        let (down_since, begins) = (&self.down_since, now.max(1));
        let begun = down_since.compare_exchange(0, begins, Ordering::AcqRel, Ordering::Relaxed);
        if begun.is_ok() {
            self.outages.fetch_add(1, Ordering::Relaxed);
        }
        begun.is_ok()
    }

    /// When all servers of the store began to answer. None if one of its breakers is open, or was when the store
    /// was asked last.
    fn answers_since(&self, now: u64) -> Option<u64> {
        let mut closed_at = 0;
        let mut is_unknown = false;
        for breaker in &self.breakers {
            match breaker.state(now) {
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
    fn note_reason(&self, reason: &str, now: u64) {
        self.note_known(now);
        self.last_failure.write(reason.as_bytes());
    }

    /// Notes that something is known of the store, so that it is listed.
    fn note_known(&self, now: u64) {
        self.note_call(now);
        let (order, begins) = (Ordering::Relaxed, now.max(1));
        let _ = self.up_since.compare_exchange(0, begins, order, order);
    }
}

#[cfg(test)]
mod tests;
