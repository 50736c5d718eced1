//! Decisions on servers that compare and swap: memcached, MariaDB and MySQL.
//!
//! Such a server runs no algorithm. A process reads the value of a key, applies the operation to it, and
//! replaces the value if the server still holds the one that was read; if not, it tries again. Of a host's processes that
//! make equal calls on one key at one time, one does so for all: see [`batch`].
//!
//! * [`batch`]: who asks the server, and for whom; [`control`]: its control word
//! * [`results`]: by what the calls of batches were decided on; [`basis`]: one of them; [`repeated`]: applies their operation
//! * [`handoff`]: the state that the last process wrote
//! * [`locked_key`]: keys whose value another session keeps locked
//! * [`attempt`]: reads, applies and swaps

mod attempt;
pub mod basis;
pub mod batch;
mod control;
pub mod handoff;
mod locked_key;
pub mod repeated;
mod results;

use super::key::{Key, KeyHash};
use super::kind::LimitKind;
use super::request::Request;
use super::shm::keys::Keys;
use super::shm::set::find;
use crate::clock::{Reading, boot_time};
use crate::error::{Error, Result};
use crate::limit::{Decision, Op, StoredState};
use crate::mapped::futex::sleep_while;
use crate::mapped::{Area, MappedFile};
use crate::net::budget::Budget;
use attempt::Attempt;
use batch::{Batches, Caller, KeyRecord, Step};
use control::Control;
use handoff::Handoff;
pub use repeated::latest_clock;
use siphasher::sip::SipHasher13;
use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::time::Duration;

/// The largest difference between the clocks of two writers that is tolerated, in seconds.
pub const MAX_CLOCK_SKEW: u64 = 2;

/// A state that a server holds.
pub struct Found<V> {
    /// The state; [`StoredState::FULL`] if the server holds none.
    pub state: StoredState,
    /// Tells this value from others.
    pub version: V,
    /// The earliest and the latest time to decide at, in nanoseconds. They are equal if the time was read
    /// within this call.
    pub now: [u64; 2],
    /// The clock reading that gave this time.
    pub clock: Reading,
}

/// The result of a swap.
pub enum Swap {
    /// The value is replaced. The number is the new value's version in a hand-off, if it has one.
    Done(Option<u64>),
    /// The server holds another value by now.
    Lost,
    /// Another session held a lock for too long. Nothing was done.
    Locked,
    /// The server may still replace the value, once a lock is released.
    Blocked,
}

/// Decides on a state and the time at which it was read. None if nothing changes.
pub type Decide<'a> = &'a mut dyn FnMut(&StoredState, &Reading) -> Option<StoredState>;

/// The value of one key on a server.
pub trait SwapEntry {
    /// Tells one value from others.
    type Version;

    /// Opens a connection if this process has none. A process that waits for others has one, too: it may be the next to ask.
    fn connect(&self, budget: &mut Budget) -> Result<()>;

    /// Reads the state.
    fn read(&self, budget: &mut Budget) -> Result<Found<Self::Version>>;

    /// The version of a value that another process of this host handed off. None if it must not be used.
    fn handed_off(&self, handoff: &Handoff) -> Option<Self::Version>;

    /// Replaces the value by `state`, which was decided at `now`, if the value still has `version`.
    fn swap(
        &self,
        version: &Self::Version,
        state: &StoredState,
        now: u64,
        budget: &mut Budget,
    ) -> Result<Swap>;

    /// Locks the value, and replaces it by what `decide` makes of it. None if the server has no locks.
    fn swap_locked(&self, _: Decide<'_>, _: &mut Budget) -> Result<Option<Swap>> {
        Ok(None)
    }

    /// How long a round trip to the server takes as a rule; zero before the first.
    fn round_trip(&self) -> Duration;

    /// The error of a call on a key that was found locked twice.
    fn locked(&self) -> Error;

    /// Names the server in a message.
    fn server(&self) -> String;
}

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
        let mut alone = || Attempt { entry, request, batch: None }.decide(&mut budget);
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
    // Half of a call's time at most: calls that wait for a process that was killed have the other half.
    let call = request.timeouts.call;
    let asking_time = (3 * entry.round_trip()).max(call / 8).max(MIN_ASKING_TIME).min(call / 2);
    let asking_time = asking_time.as_nanos() as u64;
    let mut caller = Caller::new(batches, kind);
    loop {
        let now = boot_time();
        if batches.is_locked(key, now) {
            caller.leave(now);
            return Err(entry.locked());
        }
        let may_ask = budget.has_time_for(entry.round_trip());
        match caller.step(now, now + asking_time, may_ask) {
            Step::Decided(basis, index) => {
                return Ok(repeated::decide_by(&basis, request, index));
            }
            Step::Ask(batch) => {
                let own = attempt::OwnBatch { batches, batch, key, kind, asking_time };
                return Attempt { entry, request, batch: Some(own) }.decide(&mut budget);
            }
            Step::Sleep(sleep) if budget.left() > Duration::ZERO => {
                let at_most = sleep.at_most.min(budget.left());
                sleep_while(&batches.record.control, sleep.seen, sleep.groups, at_most);
                budget.note_wait(at_most);
            }
            Step::Sleep(_) | Step::TooLate => {
                caller.leave(now);
                return Err(busy(entry));
            }
        }
    }
}

/// The error of a call that could not be decided on in its time beside others.
fn busy<E: SwapEntry>(entry: &E) -> Error {
    Error::busy(format!("{}: the bucket is too busy", entry.server()))
}

/// A hash of all that makes two calls on a key equal.
fn kind_of(key: u64, request: &Request<'_>, [low, high]: [u64; 2]) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(low, high);
    (key, request.limit, request.op).hash(&mut hasher);
    Control::kind_of(hasher.finish())
}

#[cfg(test)]
mod tests;
