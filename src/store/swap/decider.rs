//! Decides by compare and swap, when it is the call's turn.

use super::attempt::Attempt;
use super::entry::SwapEntry;
use super::hot_key::{HotKey, KeyRecord};
use super::locked_key::is_locked;
use super::turn::{Next, take};
use crate::clock::{boot_time, frozen};
use crate::error::Result;
use crate::hash;
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
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// Decides by compare and swap for one kind of store.
pub struct SwapDecider {
    host_file: Rc<MappedFile>,
    keys: Keys,
}

/// The shortest time for which a process is waited for before each trip: more than a trip takes as a rule, for
/// a busy machine may suspend the process.
const SHORTEST_TURN: Duration = Duration::from_millis(25);

impl SwapDecider {
    /// The decider of a kind of store, whose records are in `host_file`.
    pub fn new(kind: &str, host_file: Rc<MappedFile>) -> Self {
        Self { host_file, keys: Keys::new(hash::plain(&[kind.as_bytes()]).max(1)) }
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
        let alone = |budget: &mut Budget| decide_alone(entry, request, entry.may_write(), budget);
        if matches!(request.op, Op::Peek { .. }) || frozen().is_some() {
            return alone(&mut budget);
        }
        let file = &self.host_file;
        let region = file.open_if_due(boot_time()).ok().map(|()| file.region());
        let Some(region) = region.as_deref().and_then(Option::as_ref) else {
            return alone(&mut budget);
        };
        let parts = [name, b"@", address, b""];
        // This key differs from the caller's key, whose hash cache must not be used for it.
        let key_hash = Cell::new(KeyHash::default());
        let key = Key { parts, kind: LimitKind::TokenBucket, key_hash: &key_hash };
        let key = self.keys.hash(&key, region, file.number());
        match find::<KeyRecord>(region.area(Area::HotKeys), key) {
            Some(record) => {
                let hot_key = HotKey { record, key, secret: region.secret() };
                decide_in_turn(entry, request, hot_key, budget)
            }
            None => alone(&mut budget),
        }
    }
}

/// Decides without a turn.
fn decide_alone<E: SwapEntry>(
    entry: &E,
    request: &Request<'_>,
    may_write: bool,
    budget: &mut Budget,
) -> Result<Decision> {
    Attempt { entry, request, turn: None, may_write }.decide(budget)
}

/// Decides when it is the call's turn.
fn decide_in_turn<E: SwapEntry>(
    entry: &E,
    request: &Request<'_>,
    hot_key: HotKey<'_>,
    mut budget: Budget,
) -> Result<Decision> {
    // A process that waits has a connection: it may be the next to ask.
    entry.connect(&mut budget)?;
    let time = turn_time(entry.round_trip(), request.timeouts.call).as_nanos() as u64;
    let mut has_slept = false;
    loop {
        if is_locked(hot_key, boot_time()) {
            return decide_alone(entry, request, false, &mut budget);
        }
        let next = take(hot_key, has_slept, boot_time(), time);
        let spare = budget.spare(entry.round_trip());
        if spare.is_zero() {
            // A turn that there is no time for goes to the next one.
            return Err(entry.busy());
        }
        let sleep = match next {
            Next::Ask(turn) => {
                let may_write = entry.may_write();
                return Attempt { entry, request, turn: Some(turn), may_write }.decide(&mut budget);
            }
            Next::AskAlone => {
                return decide_alone(entry, request, entry.may_write(), &mut budget);
            }
            Next::Sleep(sleep) => sleep,
        };
        let at_most = sleep.at_most.min(spare);
        sleep_while(&hot_key.record.turn, sleep.seen, sleep.groups, at_most);
        note_wait(at_most);
        has_slept = true;
    }
}

/// For how long a process is waited for before each trip. Half of a call's time at most: calls that wait for a process that was
/// killed have the other half.
fn turn_time(round_trip: Duration, call: Duration) -> Duration {
    (3 * round_trip).max(call / 8).max(SHORTEST_TURN).min(call / 2)
}

#[cfg(test)]
mod tests;
