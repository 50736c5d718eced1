//! What operators see of the stores on servers: those that are up or down, since when, and why.

use super::super::breaker::ServerState;
use super::super::recent_time::recent;
use super::StoreRecord;
use crate::limit::SECOND;
use crate::mapped::claimed::Claimed;
use portable_atomic::Ordering;
use std::time::Duration;

/// A store that no process has called for so long is not listed, in nanoseconds.
pub(super) const FORGOTTEN: u64 = 3_600 * SECOND;

/// A store that is down and that no process has called for so long is not listed: its servers may be gone for good.
pub(super) const FORGOTTEN_DOWN: u64 = 300 * SECOND;

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

/// The stores that a process has called within the last hour, those that are down within the last five minutes, in the
/// order of their names. Those of one name, which differ in their login or database, are one.
pub fn list(records: &[Claimed<StoreRecord>], now: u64) -> Vec<ServerStatus> {
    let claimed = records.iter().filter(|record| record.is_claimed());
    let mut list: Vec<_> = claimed.filter_map(|record| listed(record.contents(), now)).collect();
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

/// Leaves the stores of this name out of the list until a process calls them. Returns whether there is one.
pub fn forget(records: &[Claimed<StoreRecord>], name: &str) -> bool {
    let known = records.iter().map(Claimed::contents).filter(|record| is_known(record));
    let named = known.filter(|record| name_of(record) == name);
    named.map(|record| record.called_at.store(0, Ordering::Relaxed)).count() > 0
}

/// The number of servers that are down, without those that no process has asked for a minute.
pub fn count_down(records: &[Claimed<StoreRecord>], now: u64) -> usize {
    let breakers = records.iter().flat_map(|record| &record.contents().breakers);
    breakers.filter(|breaker| breaker.state(now) == ServerState::Down).count()
}

/// Whether something is known of the store, and no operator has forgotten it since.
fn is_known(record: &StoreRecord) -> bool {
    [&record.called_at, &record.up_since].iter().all(|time| time.load(Ordering::Relaxed) != 0)
}

/// When the servers last answered, if each process that called since could not ask them.
fn out_of_reach_since(record: &StoreRecord, now: u64) -> Option<u64> {
    let [unable_at, answered_at] =
        [&record.unable_at, &record.answered_at].map(|time| time.load(Ordering::Relaxed));
    let is_recent = now.saturating_sub(unable_at) < FORGOTTEN_DOWN;
    // Answers are noted once a second by each process.
    let has_no_answer = unable_at > answered_at.saturating_add(2 * SECOND);
    (is_recent && has_no_answer).then(|| answered_at.max(record.up_since.load(Ordering::Relaxed)))
}

/// What is known of the store, if it is to be listed at `now`.
fn listed(record: &StoreRecord, now: u64) -> Option<ServerStatus> {
    let status = is_known(record).then(|| status(record, now))?;
    let forgotten = if status.is_down { FORGOTTEN_DOWN } else { FORGOTTEN };
    let called_at = record.called_at.load(Ordering::Relaxed);
    (now.saturating_sub(called_at) < forgotten).then_some(status)
}

fn status(record: &StoreRecord, now: u64) -> ServerStatus {
    let began = record.down_since.load(Ordering::Acquire);
    let (is_down, since) = match record.answers_since(now) {
        Some(since) if !record.is_unwritable(now) => match out_of_reach_since(record, now) {
            Some(since) => (true, since),
            None => (false, since),
        },
        // Until a process has noted the outage in the record, it begins now.
        _ => (true, if began == 0 { now } else { began }),
    };
    let reason = record.last_failure.read();
    let reason = String::from_utf8_lossy(&reason).into_owned();
    ServerStatus {
        name: name_of(record),
        is_down,
        since,
        outages: record.outages.load(Ordering::Relaxed),
        last_failure: (!reason.is_empty()).then_some(reason),
        round_trip: recent(record.round_trip.load(Ordering::Relaxed), now, u64::MAX),
        clock_behind: recent(record.clock_behind.load(Ordering::Relaxed), now, 10),
    }
}

fn name_of(record: &StoreRecord) -> String {
    String::from_utf8_lossy(&record.name.read()).into_owned()
}
