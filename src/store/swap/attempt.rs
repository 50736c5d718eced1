//! The attempt to apply a request to an entry, for its own call or for all of a batch.

use super::basis::Basis;
use super::batch;
use super::entry::{Found, Swap, SwapEntry};
use super::handoff::{hand_off, handed_off};
use super::key_record::{Batch, Batches, Share};
use super::locked_key::{note_lock, note_swapped};
use super::repeated::{Applied, apply_all};
use super::results;
use super::results::Reserved;
use crate::clock::{Reading, boot_time};
use crate::error::{Error, ErrorKind, Result};
use crate::limit::{Decision, Limit, SECOND, StoredState};
use crate::net::budget::Budget;
use crate::net::pause::note_wait;
use crate::store::request::Request;
use portable_atomic::AtomicU128;
use std::time::Duration;

/// The most tries of a decision.
const MAX_TRIES: u32 = 64;
/// After how many lost swaps the value is locked, where the server has locks.
const LOST_BEFORE_LOCK: u32 = 2;
/// The largest age of the clock reading of a hand-off, in nanoseconds. The server's clock may have been
/// set since the reading.
const MAX_READING_AGE: u64 = SECOND;
/// The longest round trip of a hand-off's clock reading, in nanoseconds, unless the limit allows a longer one. A state may be written
/// that is too late by as much.
const MAX_READING_TIME: u64 = SECOND / 100;
/// The shortest time to wait after the first lost swap, on average, in nanoseconds.
const SHORTEST_PAUSE: u64 = 20_000;

/// The attempt to apply a request to an entry.
pub(super) struct Attempt<'a, E> {
    pub entry: &'a E,
    pub request: &'a Request<'a>,
    /// None for a call that is in no batch.
    pub batch: Option<OwnBatch<'a>>,
    /// Whether the call may write. If not, it is denied by what is read, or fails.
    pub may_write: bool,
}

/// A batch that this process asks for. When it is dropped, the next one may ask.
pub(super) struct OwnBatch<'a> {
    pub batches: Batches<'a>,
    pub batch: Batch,
    pub key: u64,
    /// How long this process is waited for before each trip, in nanoseconds.
    pub asking_time: u64,
}

impl Drop for OwnBatch<'_> {
    fn drop(&mut self) {
        batch::release(self.batches, &self.batch);
    }
}

impl<E: SwapEntry> Attempt<'_, E> {
    /// Reads, applies and swaps until the swap succeeds, or the time is over. A denial stands, also if what it changes cannot be
    /// written.
    pub fn decide(&self, budget: &mut Budget) -> Result<Decision> {
        let (mut handed_off, mut lost) = (self.handed_off(), 0);
        let mut denial = None;
        for _ in 0..MAX_TRIES {
            // A try that runs out of time would count as a failure of the server.
            if !budget.has_time_for(self.entry.round_trip()) {
                let error = if lost == 0 { self.entry.too_late() } else { self.entry.busy() };
                return denial.ok_or(error);
            }
            let tried = match lost {
                ..LOST_BEFORE_LOCK => self.try_swap(handed_off.take(), &mut denial, budget)?,
                _ => self.try_swap_locked(&mut denial, budget)?,
            };
            match tried {
                Tried::Decided(decision) => return Ok(decision),
                // A hand-off did not suffice.
                Tried::Undecided => {}
                Tried::Unwritten(error) => return denial.ok_or(error),
                Tried::Not(Swap::Blocked) => {
                    if let Some(own) = &self.batch {
                        note_lock(own.batches, own.key, boot_time());
                    }
                    let error = self.entry.locked();
                    return denial.ok_or(error);
                }
                Tried::Not(Swap::Locked) if !budget.has_time_for(self.entry.round_trip()) => {
                    let error = self.entry.locked();
                    return denial.ok_or(error);
                }
                Tried::Not(_) => {
                    self.pause(lost, budget);
                    lost += 1;
                }
            }
        }
        denial.ok_or_else(|| self.entry.busy())
    }

    /// Reads, unless the state was handed off, applies and swaps. Keeps the `denial` that the state is worth.
    fn try_swap(
        &self,
        handed_off: Option<Found<E::Version>>,
        denial: &mut Option<Decision>,
        budget: &mut Budget,
    ) -> Result<Tried> {
        let entry = self.entry;
        self.prolong();
        let is_handed_off = handed_off.is_some();
        let found = match handed_off {
            Some(found) => found,
            None => within(budget, |budget| entry.read(budget))?,
        };
        let room = Room::reserve(self.batch.as_ref());
        let share = self.extend(&room);
        let Some((now, applied)) = self.apply_within(&found.state, found.now, share) else {
            return Ok(Tried::Undecided);
        };
        if applied.after == found.state {
            // No swap verifies a decision that changes nothing, so it must not rest on a hand-off.
            if is_handed_off {
                return Ok(Tried::Undecided);
            }
            self.publish(room, &found.state, now, &applied);
            return Ok(Tried::Decided(applied.decision));
        }
        // Also by a state that was handed off: it is milliseconds old, and while writes wait nothing else is to be had.
        *denial = applied.denial();
        if !self.may_write {
            return Ok(Tried::Unwritten(entry.withheld()));
        }
        if !budget.has_time_for(entry.round_trip()) {
            return Ok(Tried::Unwritten(entry.too_late()));
        }
        let decided_at = applied.decision.now;
        let swap =
            |budget: &mut Budget| entry.swap(&found.version, &applied.after, decided_at, budget);
        Ok(match within(budget, swap) {
            Ok(Swap::Done(version)) => {
                self.publish(room, &found.state, now, &applied);
                self.hand_off(&applied.after, version, found.clock);
                Tried::Decided(applied.decision)
            }
            Ok(other) => Tried::Not(other),
            Err(error) if error.is_refusal() => Tried::Unwritten(error),
            Err(error) => return Err(error),
        })
    }

    /// Locks the value and applies, where the server has locks; else swaps.
    fn try_swap_locked(&self, denial: &mut Option<Decision>, budget: &mut Budget) -> Result<Tried> {
        self.prolong();
        let room = Room::reserve(self.batch.as_ref());
        let mut done = None;
        let mut decide = |state: &StoredState, clock: &Reading| {
            let now = self.request.frozen().unwrap_or(clock.time);
            let applied = self.apply(state, now, self.extend(&room));
            let after = (applied.after != *state).then(|| applied.after.clone());
            done = Some((state.clone(), *clock, applied));
            after
        };
        let swapped = match within(budget, |budget| self.entry.swap_locked(&mut decide, budget)) {
            Err(error) if error.is_refusal() => return Ok(Tried::Unwritten(error)),
            other => other?,
        };
        Ok(match (swapped, done) {
            (None, _) => self.try_swap(None, denial, budget)?,
            (Some(Swap::Done(version)), Some((state, clock, applied))) => {
                self.publish(room, &state, clock.time, &applied);
                self.hand_off(&applied.after, version, clock);
                Tried::Decided(applied.decision)
            }
            (Some(other), _) => Tried::Not(other),
        })
    }

    /// Waits for a random time, so that rivals do not meet again.
    fn pause(&self, lost: u32, budget: &Budget) {
        let longest = longest_pause(self.entry.round_trip(), lost, budget.timeouts().call);
        let pause = Duration::from_nanos(boot_time() / 64 % longest).min(budget.left() / 2);
        std::thread::sleep(pause);
        note_wait(pause);
    }

    /// Prolongs the time for which this process is waited for. Returns the calls that it may decide on: its own alone, if it was
    /// given up.
    fn prolong(&self) -> Share {
        let Some(own) = &self.batch else { return Share::ALONE };
        batch::extend(own.batches, &own.batch, boot_time() + own.asking_time)
    }

    /// Prolongs the time for which this process is waited for. Returns the calls that it may decide on: its own alone, if there is
    /// no room to tell the others.
    fn extend(&self, room: &Option<Room<'_>>) -> Share {
        let share = self.prolong();
        if room.is_some() { share } else { Share::ALONE }
    }

    /// The state that the previous process of this host wrote.
    ///
    /// Its clock reading comes with it: processes that hand off a state agree on the time, also while the
    /// server's clock is set.
    fn handed_off(&self) -> Option<Found<E::Version>> {
        // A hand-off knows the time by two bounds. An old hit would leave early by the later one, and a new
        // hit by the earlier one.
        if matches!(self.request.limit, Limit::SlidingWindow(_)) || !self.may_write {
            return None;
        }
        let own = self.batch.as_ref()?;
        let handoff = handed_off(own.batches, own.key, boot_time())?;
        let version = self.entry.handed_off(&handoff)?;
        let (state, clock) = (handoff.state, handoff.clock);
        // The round trip tells how well the time is known: a process may have been suspended within it.
        let longest = MAX_READING_TIME.max(self.request.limit.window() / 64);
        let is_usable = clock.age() < MAX_READING_AGE && clock.round_trip() <= longest;
        is_usable.then(|| Found { state, version, now: clock.now(), clock })
    }

    /// Hands the next process of this host the state that was written.
    fn hand_off(&self, state: &StoredState, version: Option<u64>, clock: Reading) {
        let Some(own) = &self.batch else { return };
        note_swapped(own.batches, own.key);
        if let Some(version) = version {
            hand_off(own.batches, own.key, state, version, clock, boot_time());
        }
    }

    /// Tells the other members by what they were decided on.
    fn publish(&self, room: Option<Room<'_>>, state: &StoredState, now: u64, applied: &Applied) {
        if let Some(room) = room
            && applied.count > 1
            && let Some(basis) = applied.basis(self.request, state, now)
        {
            room.publish(&basis);
        }
    }

    /// Decides at a time that is known by two bounds. Both must accept as many calls, and the state that
    /// expires later is kept, so the bound that is wrong gives no tokens away. None if the answers differ.
    pub(super) fn apply_within(
        &self,
        state: &StoredState,
        [earliest, latest]: [u64; 2],
        share: Share,
    ) -> Option<(u64, Applied)> {
        let first = self.apply(state, earliest, share);
        if earliest == latest {
            return Some((earliest, first));
        }
        // The later bound would open the next window before this one has ended.
        let is_window = !matches!(self.request.limit, Limit::TokenBucket(_));
        if is_window && (earliest + 1..=latest).contains(&state.expires_at()) {
            return None;
        }
        let last = self.apply(state, latest, share);
        let owes_more = last.after.expires_at() > first.after.expires_at();
        let is_agreed = first.accepted == last.accepted && first.count == last.count;
        is_agreed.then_some(if owes_more { (latest, last) } else { (earliest, first) })
    }

    /// Applies the operation for all calls of a share, or for this one alone if the others could not be told.
    fn apply(&self, state: &StoredState, now: u64, share: Share) -> Applied {
        let all = apply_all(self.request, state, now, share);
        match share.count > 1 && all.basis(self.request, state, now).is_none() {
            true => apply_all(self.request, state, now, Share::ALONE),
            false => all,
        }
    }
}

/// The room for the result of a batch. Given up when it is dropped.
struct Room<'a> {
    own: &'a OwnBatch<'a>,
    reserved: Option<Reserved<'a, AtomicU128>>,
}

impl<'a> Room<'a> {
    /// None if there is no room, or no other call needs it.
    fn reserve(own: Option<&'a OwnBatch<'a>>) -> Option<Self> {
        let own = own.filter(|own| own.batch.share.count > 1)?;
        let reserved = results::reserve(own.batches, &own.batch, boot_time())?;
        Some(Self { own, reserved: Some(reserved) })
    }

    fn publish(mut self, basis: &Basis) {
        if let Some(reserved) = self.reserved.take() {
            results::publish(self.own.batches, &reserved, self.own.batch.kind, basis);
        }
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        if let Some(reserved) = &self.reserved {
            results::give_up(reserved);
        }
    }
}

/// What a try came to.
enum Tried {
    /// The call is decided on.
    Decided(Decision),
    /// The state that was handed off does not say enough.
    Undecided,
    /// It cannot be written: the server refuses that, or there is no time.
    Unwritten(Error),
    /// The value was not replaced.
    Not(Swap),
}

/// The longest pause after a lost swap, in nanoseconds; `lost` were lost before it. It grows with the round trip and with every lost
/// swap. It stays short beside the call's time: where processors are busy trips take long, and long pauses would leave a call few tries.
pub(super) fn longest_pause(round_trip: Duration, lost: u32, call: Duration) -> u64 {
    let [round_trip, call] = [round_trip, call].map(|time| time.as_nanos() as u64);
    let longest = (call / 16).max(SHORTEST_PAUSE);
    ((2 * round_trip.max(SHORTEST_PAUSE)) << lost.min(4)).min(longest)
}

/// Makes a trip. If it has less than half of a call's time, its failure says nothing of the server.
fn within<T>(budget: &mut Budget, trip: impl FnOnce(&mut Budget) -> Result<T>) -> Result<T> {
    let has_little = budget.left() < budget.timeouts().call / 2;
    trip(budget).map_err(|error| match error.kind() {
        ErrorKind::Storage if has_little => Error::busy(error.into_message()),
        _ => error,
    })
}
