//! Decides by compare and swap, as a member of a batch.

use super::attempt::{Attempt, OwnBatch};
use super::batch::{Caller, Step};
use super::entry::SwapEntry;
use super::key_record::{Batches, KeyRecord};
use super::locked_key::is_locked;
use super::repeated;
use crate::clock::boot_time;
use crate::error::Result;
use crate::limit::{Decision, Op};
use crate::mapped::futex::sleep_while;
use crate::mapped::set::find;
use crate::mapped::{Area, MappedFile};
use crate::net::budget::Budget;
use crate::net::pause::note_wait;
use crate::store::key::{Key, KeyHash};
use crate::store::kind::LimitKind;
use crate::store::request::Request;
use crate::store::shm::keys::Keys;
use siphasher::sip::SipHasher13;
use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::time::Duration;

/// Decides by compare and swap for one kind of store.
pub struct SwapDecider {
    host_file: Rc<MappedFile>,
    keys: Keys,
}

/// The shortest time for which a process that asks the server is waited for before each trip: more than a trip takes as a rule, for
/// a busy machine may suspend the process.
const MIN_ASKING_TIME: Duration = Duration::from_millis(20);

impl SwapDecider {
    /// The decider of a kind of store, whose records are in `host_file`.
    pub fn new(kind: &str, host_file: Rc<MappedFile>) -> Self {
        let mut hasher = SipHasher13::new();
        hasher.write(kind.as_bytes());
        Self { host_file, keys: Keys::new(hasher.finish().max(1)) }
    }

    /// Decides on an entry. `name` and `address` identify it on this host.
    pub fn decide<E: SwapEntry>(
        &self,
        entry: &E,
        request: &Request<'_>,
        name: &[u8],
        address: &[u8],
    ) -> Result<Decision> {
        let mut budget = Budget::start(*request.timeouts);
        let may_write = entry.may_write();
        let mut alone = || Attempt { entry, request, batch: None, may_write }.decide(&mut budget);
        if matches!(request.op, Op::Peek { .. }) || request.frozen().is_some() {
            return alone();
        }
        let file = &self.host_file;
        let region = file.open_if_due(boot_time()).ok().map(|()| file.region());
        let Some(region) = region.as_deref().and_then(Option::as_ref) else { return alone() };
        let parts = [name, b"@", address, b""];
        // This key differs from the caller's key, whose hash cache must not be used for it.
        let key_hash = Cell::new(KeyHash::default());
        let key = Key { parts, kind: LimitKind::TokenBucket, key_hash: &key_hash };
        let key = self.keys.hash(&key, region, file.number());
        let Some(record) = find::<KeyRecord>(region.area(Area::HotKeys), key) else {
            return alone();
        };
        let batches = Batches { record, secret: region.secret() };
        decide_in_batch(entry, request, batches, key, budget)
    }
}

/// Decides as a member of a batch on the record of this key.
fn decide_in_batch<E: SwapEntry>(
    entry: &E,
    request: &Request<'_>,
    batches: Batches<'_>,
    key: u64,
    mut budget: Budget,
) -> Result<Decision> {
    entry.connect(&mut budget)?;
    let kind = kind_of(key, request, batches.secret);
    let asking_time = asking_time(entry.round_trip(), request.timeouts.call).as_nanos() as u64;
    let mut caller = Caller::new(batches, kind);
    loop {
        let now = boot_time();
        if is_locked(batches, key, now) {
            caller.leave(now);
            let reader = Attempt { entry, request, batch: None, may_write: false };
            return reader.decide(&mut budget);
        }
        let may_ask = budget.has_time_for(entry.round_trip());
        match caller.step(now, now + asking_time, may_ask) {
            Step::Decided(basis, index) => {
                return Ok(repeated::decide_by(&basis, request, index));
            }
            Step::Ask(batch) => {
                let own = OwnBatch { batches, batch, key, asking_time };
                let may_write = entry.may_write();
                return Attempt { entry, request, batch: Some(own), may_write }.decide(&mut budget);
            }
            Step::Sleep(sleep) if budget.left() > Duration::ZERO => {
                let at_most = sleep.at_most.min(budget.left());
                sleep_while(&batches.record.control, sleep.seen, sleep.groups, at_most);
                note_wait(at_most);
            }
            Step::Sleep(_) | Step::TooLate => {
                caller.leave(now);
                return Err(entry.busy());
            }
        }
    }
}

/// How long a process that asks is waited for before each trip. Half of a call's time at most: calls that wait for a process that was
/// killed have the other half.
fn asking_time(round_trip: Duration, call: Duration) -> Duration {
    (3 * round_trip).max(call / 8).max(MIN_ASKING_TIME).min(call / 2)
}

/// A hash of all that makes two calls on a key equal. A call that settles equals no other: the members of a batch ask again if the
/// process that asked for them was killed, and what is taken twice is lost, but what is given back twice is too much.
fn kind_of(key: u64, request: &Request<'_>, [low, high]: [u64; 2]) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(low, high);
    (key, request.limit, request.op).hash(&mut hasher);
    if request.op.settles() {
        (boot_time(), std::process::id()).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests;
