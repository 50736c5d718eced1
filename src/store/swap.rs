//! Decisions on servers that compare and swap: memcached, MariaDB and MySQL.
//!
//! Such a server runs no algorithm of ours. A decision reads the value of a key, applies the operation
//! here, and replaces the value if the server still holds the one that was read; if not, it begins
//! again. Processes of one host wait in the [`queue`](super::shm::queue) for a hot key, and each hands
//! the next what it wrote: that saves the next one reading it.

use super::net::Timeouts;
use super::net::budget::Budget;
use super::shm::host::Host;
use super::shm::queue::{Handoff, Ticket};
use super::{Key, Settings};
use crate::clock::boot_time;
use crate::dsn::Secret;
use crate::error::{Error, Result};
use crate::limit::{Decision, Limit, Op, SECOND, State, apply};
use std::cell::Cell;
use std::time::Duration;

/// How often a decision is tried before it is denied because others were faster every time.
const MAX_TRIES: u32 = 64;
/// How long to wait in the queue, at most.
const MAX_QUEUE_TIME: Duration = Duration::from_millis(100);
/// How far the clocks of two writers may differ, in seconds.
pub const MAX_CLOCK_SKEW: u64 = 2;
/// For how long the server's clock need not be read again, in nanoseconds.
const MAX_CLOCK_AGE: u64 = SECOND;
/// The same for a bucket that the server does not hold: its first state depends little on the time, and
/// every later decision reads the clock.
const MAX_CLOCK_AGE_OF_NEWCOMERS: u64 = 60 * SECOND;

/// What a call asks of an entry.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The limit.
    pub limit: &'a Limit,
    /// The operation.
    pub op: Op,
    /// The time of a test's clock.
    pub frozen: Option<u64>,
}

/// A state that a server holds.
pub struct Found<V> {
    /// The state; [`State::FULL`] if the server holds none.
    pub state: State,
    /// What the server tells this value from others by.
    pub version: V,
    /// The time to decide at, in nanoseconds, if it came with the state.
    pub now: Option<u64>,
}

/// What came of a swap.
pub enum Swap {
    /// It is done. The number names the new value in a hand-off, if it has one.
    Done(Option<u64>),
    /// The server holds another value by now.
    Lost,
}

/// The place of one key on a server.
pub trait Entry {
    /// What the server tells one value from others by.
    type Version;

    /// Reads the state.
    fn read(&self, budget: &mut Budget) -> Result<Found<Self::Version>>;

    /// Reads the clock, where no time came with the state.
    fn clock(&self, budget: &mut Budget) -> Result<u64>;

    /// The version of what another process of this host has just written, if it can be known.
    fn handed_off(&self, handoff: &Handoff) -> Option<Self::Version>;

    /// Replaces the value by `state`, decided at `now`, if it still is that of `version`.
    fn swap(
        &self,
        version: &Self::Version,
        state: State,
        now: u64,
        budget: &mut Budget,
    ) -> Result<Swap>;

    /// Which server, in a message.
    fn server(&self) -> String;
}

/// The queue for the hot keys of one kind of store.
pub struct Queue {
    host: Host,
    timeouts: Timeouts,
    clock: Cell<Option<ServerClock>>,
}

/// The clock that decides, as this process last read it.
#[derive(Clone, Copy)]
struct ServerClock {
    time: u64,
    /// When its time was here, on this host's clock.
    read_at: u64,
}

impl ServerClock {
    /// The time now, less a round trip at most. Nothing if it was read longer than `max_age` ago: it may
    /// have been set since.
    fn now(self, max_age: u64) -> Option<u64> {
        let age = boot_time().checked_sub(self.read_at)?;
        (age < max_age).then(|| self.time + age)
    }
}

impl Queue {
    /// The queue of a store of this kind.
    pub fn new(kind: &str, timeouts: Timeouts, settings: &Settings) -> Self {
        let host = Host::new(&format!("{kind} queue"), Secret(String::new()), settings);
        Self { host, timeouts, clock: Cell::new(None) }
    }

    /// Decides on an entry, which the processes of this host know by `name` and `address`.
    pub fn decide<E: Entry>(
        &self,
        entry: &E,
        request: Request<'_>,
        name: &[u8],
        address: &[u8],
    ) -> Result<Decision> {
        let mut budget = Budget::start(self.timeouts);
        if matches!(request.op, Op::Peek { .. }) {
            return self.swap_until_done(entry, request, None, &mut budget);
        }
        let parts = [name, b"@", address, b""];
        // Not the caller's place: that belongs to the caller's key.
        let place = Cell::default();
        let key = Key { parts, place: &place, window: false, evicted: Cell::new(false) };
        // Half of the time is left for the call itself.
        let timeout = (self.timeouts.call / 2).min(MAX_QUEUE_TIME).as_nanos() as u64;
        self.host.in_queue(&key, timeout, |ticket| {
            self.swap_until_done(entry, request, ticket, &mut budget)
        })
    }

    fn swap_until_done<E: Entry>(
        &self,
        entry: &E,
        request: Request<'_>,
        ticket: Option<&Ticket<'_>>,
        budget: &mut Budget,
    ) -> Result<Decision> {
        if let Some((found, now)) = ticket.and_then(|ticket| self.handed_off(entry, ticket)) {
            let (decision, after) = request.apply(found.state, now);
            // With nothing to swap, the server could not tell whether this still is its value.
            if after != found.state
                && request.swap(entry, &found, after, decision.now, ticket, budget)?
            {
                return Ok(decision);
            }
        }
        for tries in 1..=MAX_TRIES {
            let found = entry.read(budget)?;
            let now = self.now(entry, found.now, budget)?;
            let (decision, after) = request.apply(found.state, now);
            if after == found.state
                || request.swap(entry, &found, after, decision.now, ticket, budget)?
            {
                return Ok(decision);
            }
            // Another try would run out of time, and the server would be blamed for it.
            if !budget.is_left() {
                break;
            }
            // Rivals must not meet again: each waits for a time of its own, longer with every try.
            let spread = 20u64 << tries.min(6);
            std::thread::sleep(Duration::from_micros(boot_time() / 64 % spread));
        }
        request.busy(entry)
    }

    /// What the process before has written, and the time.
    fn handed_off<E: Entry>(
        &self,
        entry: &E,
        ticket: &Ticket<'_>,
    ) -> Option<(Found<E::Version>, u64)> {
        let handoff = ticket.handoff()?;
        let version = entry.handed_off(&handoff)?;
        let now = self.clock.get()?.now(MAX_CLOCK_AGE)?;
        Some((Found { state: handoff.state, version, now: Some(now) }, now))
    }

    /// The time to decide at, which may have come with the state.
    fn now<E: Entry>(&self, entry: &E, read: Option<u64>, budget: &mut Budget) -> Result<u64> {
        let known = || self.clock.get().and_then(|clock| clock.now(MAX_CLOCK_AGE_OF_NEWCOMERS));
        if read.is_none()
            && let Some(now) = known()
        {
            return Ok(now);
        }
        let time = read.map_or_else(|| entry.clock(budget), Ok)?;
        self.clock.set(Some(ServerClock { time, read_at: boot_time() }));
        Ok(time)
    }
}

impl Request<'_> {
    /// Swaps what was found, and hands it to the next process. False if the server holds another
    /// value by now.
    fn swap<E: Entry>(
        &self,
        entry: &E,
        found: &Found<E::Version>,
        state: State,
        now: u64,
        ticket: Option<&Ticket<'_>>,
        budget: &mut Budget,
    ) -> Result<bool> {
        let Swap::Done(version) = entry.swap(&found.version, state, now, budget)? else {
            return Ok(false);
        };
        if let (Some(ticket), Some(version)) = (ticket, version) {
            ticket.hand_off(state, version);
        }
        Ok(true)
    }

    fn apply(&self, state: State, now: u64) -> (Decision, State) {
        match self.frozen {
            Some(now) => apply(self.limit, state, now, self.op),
            None => {
                let latest = latest_clock(self.limit, state, now);
                let (decision, after) = apply(self.limit, state, latest, self.op);
                (as_of(now, decision), after)
            }
        }
    }

    /// The answer if others were faster at every try: a busy key is no failure of the server.
    fn busy<E: Entry>(&self, entry: &E) -> Result<Decision> {
        if let Op::Refund { .. } | Op::Reset = self.op {
            // A denial could not tell that nothing was given back.
            return Err(Error::refused(format!("{}: the bucket is too busy", entry.server())));
        }
        let now = self.frozen.unwrap_or_else(boot_time);
        let full = apply(self.limit, State::FULL, now, Op::Peek { cost: 0 }).0;
        Ok(Decision { accepted: false, retry_at: full.now + SECOND / 1_000, ..full })
    }
}

/// The later of our clock and the clock that the state was written by. A state that is slightly in the
/// future comes from a clock ahead of ours: to cut it to our time would shorten a debt. Beyond
/// [`MAX_CLOCK_SKEW`] a clock has been set back.
fn latest_clock(limit: &Limit, state: State, own: u64) -> u64 {
    let written_at = limit.written_at(state);
    let is_skew = written_at > own && written_at - own <= MAX_CLOCK_SKEW * SECOND;
    if is_skew { written_at } else { own }
}

/// A decision made by another clock, in the time of our own. An accepted call has nothing to wait for.
fn as_of(own: u64, decision: Decision) -> Decision {
    let retry_at = if decision.accepted { own } else { decision.retry_at };
    Decision { now: own, retry_at, ..decision }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::TokenBucket;

    #[test]
    fn hosts_with_different_clocks_admit_no_more_than_the_limit() {
        let ops = [Op::Take { cost: 1 }, Op::Check, Op::Reserve { cost: 1, max_wait: SECOND }];
        for (op, skew_ms) in ops.into_iter().flat_map(|op| [(op, 0), (op, 5), (op, 900)]) {
            let limit = TokenBucket::per_second(100, 100.0).unwrap().into();
            let (mut state, mut accepted) = (State::FULL, 0);
            // Ten seconds, every 0.2 ms a call, by two hosts alternately.
            for call in 0..50_000u64 {
                let own = 1_000 * SECOND + call * 200_000 + call % 2 * skew_ms * 1_000_000;
                let (decision, after) = apply(&limit, state, latest_clock(&limit, state, own), op);
                state = after;
                accepted += u64::from(decision.accepted);
            }
            // What ten seconds and the skew are worth, and a reservation's second.
            assert!(accepted <= 1_100 + skew_ms / 10 + 100, "{op:?}, {skew_ms} ms: {accepted}");
        }
    }

    #[test]
    fn call_accepted_by_another_clock_has_nothing_to_wait_for() {
        let limit = Limit::from(TokenBucket::per_second(100, 100.0).unwrap());
        let (own, other) = (1_000 * SECOND, 1_001 * SECOND);
        let (accepted, after) = apply(&limit, State::FULL, other, Op::Take { cost: 100 });
        assert_eq!(as_of(own, accepted).retry_after(), 0.0);
        let (denied, _) = apply(&limit, after, other, Op::Take { cost: 1 });
        assert_eq!(as_of(own, denied).retry_after(), 1.01);
    }
}
