//! The attempt to apply a request to an entry.

use super::entry::{Found, Swap, SwapEntry};
use super::handoff::{hand_off, handed_off};
use super::locked_key::{note_lock, note_swapped};
use super::skew;
use super::turn::Turn;
use crate::clock::{Reading, boot_time, frozen, sleep};
use crate::error::{Error, ErrorKind, Result};
use crate::limit::{Decision, Limit, SECOND, StoredState};
use crate::net::budget::Budget;
use crate::net::pause::note_wait;
use crate::store::request::Request;
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
    /// None for a call that waits for no other.
    pub turn: Option<Turn<'a>>,
    /// Whether the call may write. If not, it is denied by what is read, or fails.
    pub may_write: bool,
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
                    if let Some(turn) = &self.turn {
                        note_lock(turn.hot_key, boot_time());
                    }
                    // Made in any case: it notes that the write waited.
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
        let is_handed_off = handed_off.is_some();
        let found = match handed_off {
            Some(found) => found,
            None => self.trip(budget, |budget| entry.read(budget))?,
        };
        let Some((decision, after)) = self.decide_within(&found.state, found.now) else {
            return Ok(Tried::Undecided);
        };
        if after == found.state {
            // No swap verifies a decision that changes nothing, so it must not rest on a hand-off.
            return Ok(if is_handed_off { Tried::Undecided } else { Tried::Decided(decision) });
        }
        // Also by a state that was handed off: it is milliseconds old, and while writes wait nothing else is to be had.
        *denial = (!decision.is_accepted()).then_some(decision);
        if !self.may_write {
            return Ok(Tried::Unwritten(entry.withheld()));
        }
        if !budget.has_time_for(entry.round_trip()) {
            return Ok(Tried::Unwritten(entry.too_late()));
        }
        let swap = |budget: &mut Budget| entry.swap(&found.version, &after, decision.now, budget);
        Ok(match self.trip(budget, swap) {
            Ok(Swap::Done(version)) => {
                self.hand_off(&after, version, found.clock);
                Tried::Decided(decision)
            }
            Ok(other) => Tried::Not(other),
            Err(error) if error.is_refusal() => Tried::Unwritten(error),
            Err(error) => return Err(error),
        })
    }

    /// Locks the value and applies, where the server has locks; else swaps. Keeps the `denial` that the state is worth.
    fn try_swap_locked(&self, denial: &mut Option<Decision>, budget: &mut Budget) -> Result<Tried> {
        let mut done = None;
        let mut decide = |state: &StoredState, clock: &Reading| {
            let now = frozen().unwrap_or(clock.time);
            let (decision, after) = skew::decide(self.request, state, now);
            let changed = (after != *state).then(|| after.clone());
            done = Some((decision, after, *clock));
            changed
        };
        let swap = |budget: &mut Budget| self.entry.swap_locked(&mut decide, budget);
        let swapped = self.trip(budget, swap);
        if let Some((decision, ..)) = done {
            *denial = (!decision.is_accepted()).then_some(decision);
        }
        let swapped = match swapped {
            Err(error) if error.is_refusal() => return Ok(Tried::Unwritten(error)),
            other => other?,
        };
        Ok(match (swapped, done) {
            (None, _) => self.try_swap(None, denial, budget)?,
            (Some(Swap::Done(version)), Some((decision, after, clock))) => {
                self.hand_off(&after, version, clock);
                Tried::Decided(decision)
            }
            (Some(other), _) => Tried::Not(other),
        })
    }

    /// Makes a trip, for which this process is waited for. If it has less than half of a call's time, its failure says nothing of the
    /// server.
    fn trip<T>(
        &self,
        budget: &mut Budget,
        trip: impl FnOnce(&mut Budget) -> Result<T>,
    ) -> Result<T> {
        if let Some(turn) = &self.turn {
            turn.extend(boot_time());
        }
        let has_little = budget.left() < budget.timeouts().call / 2;
        trip(budget).map_err(|error| match error.kind() {
            ErrorKind::Storage if has_little => Error::busy(error.into_message()),
            _ => error,
        })
    }

    /// Waits for a random time, so that rivals do not meet again.
    fn pause(&self, lost: u32, budget: &Budget) {
        let longest = longest_pause(self.entry.round_trip(), lost, budget.timeouts().call);
        let pause = Duration::from_nanos(boot_time() / 64 % longest).min(budget.left() / 2);
        sleep(pause);
        note_wait(pause);
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
        let handoff = handed_off(self.turn.as_ref()?.hot_key, boot_time())?;
        let version = self.entry.handed_off(&handoff)?;
        let (state, clock) = (handoff.state, handoff.clock);
        // The round trip tells how well the time is known: a process may have been suspended within it.
        let longest = MAX_READING_TIME.max(self.request.limit.window() / 64);
        let is_usable = clock.age() < MAX_READING_AGE && clock.round_trip() <= longest;
        is_usable.then(|| Found { state, version, now: clock.now(), clock })
    }

    /// Hands the next process of this host the state that was written.
    fn hand_off(&self, state: &StoredState, version: Option<u64>, clock: Reading) {
        let Some(Turn { hot_key, .. }) = self.turn else { return };
        note_swapped(hot_key);
        if let Some(version) = version {
            hand_off(hot_key, state, version, clock, boot_time());
        }
    }

    /// Decides at a time that is known by two bounds. Both must take as much, and the state that expires later is kept, so the bound
    /// that is wrong gives no tokens away. Of a window the later bound counts: it must not seem to last longer than it does. None if
    /// the answers differ.
    pub(super) fn decide_within(
        &self,
        state: &StoredState,
        [earliest, latest]: [u64; 2],
    ) -> Option<(Decision, StoredState)> {
        let first = skew::decide(self.request, state, earliest);
        if earliest == latest {
            return Some(first);
        }
        // The later bound would open the next window before this one has ended.
        let is_window = !matches!(self.request.limit, Limit::TokenBucket(_));
        if is_window && (earliest + 1..=latest).contains(&state.expires_at()) {
            return None;
        }
        let last = skew::decide(self.request, state, latest);
        let is_agreed =
            first.0.is_accepted() == last.0.is_accepted() && first.0.taken == last.0.taken;
        let owes_more = last.1.expires_at() > first.1.expires_at();
        is_agreed.then_some(if owes_more || is_window { last } else { first })
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
