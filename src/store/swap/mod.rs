//! Decisions on servers that compare and swap: memcached, MariaDB and MySQL.
//!
//! Such a server runs no algorithm. The process reads the value of a key, applies the operation to it, and
//! replaces the value if the server still holds the one that was read; if not, it tries again. For a hot
//! key the processes of one host wait in the hot-key [`queue`]. Each process hands off
//! the state it wrote to the next one, which then need not read it.

pub mod queue;

use super::key::Key;
use super::kind::LimitKind;
use super::request::Request;
use crate::clock::{Reading, boot_time};
use crate::error::{Error, Result};
use crate::limit::{Decision, Limit, Op, SECOND, StoredState, apply};
use crate::mapped::MappedFile;
use crate::net::budget::Budget;
use queue::{Handoff, Queue, Ticket};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// The most tries of a decision. If other processes were faster every time, the call is denied.
const MAX_TRIES: u32 = 64;
/// The longest wait in the hot-key queue.
const MAX_QUEUE_TIME: Duration = Duration::from_millis(100);
/// The largest difference between the clocks of two writers that is tolerated, in seconds.
pub const MAX_CLOCK_SKEW: u64 = 2;
/// The largest age of the clock reading of a hand-off, in nanoseconds. The server's clock may have been
/// set since the reading.
const MAX_READING_AGE: u64 = SECOND;

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
    /// The server may still replace the value, once a lock is released. The key is held off.
    Blocked,
}

/// The value of one key on a server.
pub trait SwapEntry {
    /// Tells one value from others.
    type Version;

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

    /// The error of a call on a key that is held off.
    fn blocked(&self) -> Error;

    /// Names the server in a message.
    fn server(&self) -> String;
}

/// Decides by compare and swap for one kind of store, with the hot-key queue.
pub struct SwapDecider {
    queue: Queue,
}

impl SwapDecider {
    /// The decider of a kind of store. A ticket of its queue is valid for `ticket_lifetime`.
    pub fn new(kind: &str, ticket_lifetime: Duration, host_file: Rc<MappedFile>) -> Self {
        Self { queue: Queue::new(kind, ticket_lifetime, host_file) }
    }

    /// Decides on an entry. `name` and `address` identify it in this host's queue.
    pub fn decide<E: SwapEntry>(
        &self,
        entry: &E,
        request: &Request<'_>,
        name: &[u8],
        address: &[u8],
    ) -> Result<Decision> {
        let mut budget = Budget::start(*request.timeouts);
        if matches!(request.op, Op::Peek { .. }) {
            return Attempt { entry, request, ticket: None }.decide(&mut budget);
        }
        let parts = [name, b"@", address, b""];
        // The queue's key differs from the caller's key, whose hash cache must not be used for it.
        let key_hash = Cell::default();
        let key = Key { parts, kind: LimitKind::TokenBucket, key_hash: &key_hash };
        // Leaves half of the time for the call itself.
        let timeout = (request.timeouts.call / 2).min(MAX_QUEUE_TIME).as_nanos() as u64;
        self.queue.wait(&key, timeout, |ticket| {
            budget.note_wait(Duration::from_nanos(timeout));
            Attempt { entry, request, ticket }.decide(&mut budget)
        })
    }
}

/// The attempt to apply a request to an entry.
struct Attempt<'a, E> {
    entry: &'a E,
    request: &'a Request<'a>,
    /// None for a request that changes nothing, or if there is no queue.
    ticket: Option<&'a Ticket<'a>>,
}

impl<E: SwapEntry> Attempt<'_, E> {
    /// Reads, applies and swaps until the swap succeeds, or the time is over.
    fn decide(&self, budget: &mut Budget) -> Result<Decision> {
        let Self { entry, ticket, .. } = *self;
        if ticket.is_some_and(|ticket| ticket.is_held_off) {
            return Err(entry.blocked());
        }
        let mut handed_off = self.handed_off();
        for tries in 1..=MAX_TRIES {
            let is_handed_off = handed_off.is_some();
            let found = match handed_off.take() {
                Some(found) => found,
                None => entry.read(budget)?,
            };
            let Some((decision, after)) = self.apply_within(&found.state, found.now) else {
                continue;
            };
            if after == found.state {
                // No swap verifies a decision that changes nothing, so it must not rest on a hand-off.
                if is_handed_off {
                    continue;
                }
                return Ok(decision);
            }
            match entry.swap(&found.version, &after, decision.now, budget)? {
                Swap::Done(version) => {
                    if let (Some(ticket), Some(version)) = (ticket, version) {
                        ticket.hand_off(&after, version, found.clock);
                    }
                    return Ok(decision);
                }
                Swap::Blocked => {
                    if let Some(ticket) = ticket {
                        ticket.hold_off();
                    }
                    return Err(entry.blocked());
                }
                Swap::Locked if !budget.is_left() => return Err(entry.blocked()),
                Swap::Locked | Swap::Lost => {}
            }
            // A try that runs out of time would count as a failure of the server.
            if !budget.is_left() {
                break;
            }
            // Waits for a random time that grows with every try, so that rivals do not meet again.
            let spread = 20u64 << tries.min(6);
            let pause = Duration::from_micros(boot_time() / 64 % spread);
            std::thread::sleep(pause);
            budget.note_wait(pause);
        }
        self.busy()
    }

    /// The state that the previous process in the queue wrote.
    ///
    /// Its clock reading comes with it: processes that hand off a state agree on the time, also while the
    /// server's clock is set.
    fn handed_off(&self) -> Option<Found<E::Version>> {
        // A hand-off knows the time by two bounds. An old hit would leave early by the later one, and a new
        // hit by the earlier one.
        if let Limit::SlidingWindow(_) = self.request.limit {
            return None;
        }
        let handoff = self.ticket?.handoff()?;
        let version = self.entry.handed_off(&handoff)?;
        let is_fresh = handoff.clock.age() < MAX_READING_AGE;
        let (state, clock) = (handoff.state, handoff.clock);
        is_fresh.then(|| Found { state, version, now: clock.now(), clock })
    }

    /// Decides at a time that is known by two bounds. Both must give the same answer, and the state that
    /// expires later is kept, so the bound that is wrong gives no tokens away. None if the answers differ.
    fn apply_within(
        &self,
        state: &StoredState,
        [earliest, latest]: [u64; 2],
    ) -> Option<(Decision, StoredState)> {
        let first = self.apply(state, earliest);
        if earliest == latest || self.request.frozen().is_some() {
            return Some(first);
        }
        let last = self.apply(state, latest);
        let owes_more = last.1.expires_at() > first.1.expires_at();
        (first.0.accepted == last.0.accepted).then_some(if owes_more { last } else { first })
    }

    fn apply(&self, state: &StoredState, now: u64) -> (Decision, StoredState) {
        let Request { limit, op, .. } = *self.request;
        match self.request.frozen() {
            Some(now) => apply(limit, state, now, *op),
            None => {
                let latest = match op {
                    // Need no limit, so the limit of the call does not say when the state was written.
                    Op::Reset | Op::Block { .. } => now,
                    _ => latest_clock(limit, state, now),
                };
                let (decision, after) = apply(limit, state, latest, *op);
                (in_time_of(now, decision), after)
            }
        }
    }

    /// The answer where other processes were faster at every try. A busy key is no failure of the server.
    fn busy(&self) -> Result<Decision> {
        let Request { limit, op, .. } = *self.request;
        if let Op::Refund { .. } | Op::Reset | Op::Block { .. } = op {
            // A denial would not say that nothing was done.
            return Err(Error::refused(format!("{}: the bucket is too busy", self.entry.server())));
        }
        let now = self.request.frozen().unwrap_or_else(boot_time);
        let full = apply(limit, &StoredState::FULL, now, Op::Peek { cost: 0 }).0;
        Ok(Decision { accepted: false, retry_at: full.now + SECOND / 1_000, ..full })
    }
}

/// The later of the clock that the store decides by and the clock that wrote the state.
///
/// A state from slightly in the future was written by a clock that is ahead; deciding by the slower clock
/// would shorten a debt. A state from further ahead than [`MAX_CLOCK_SKEW`] was written before a clock was
/// set back.
pub fn latest_clock(limit: &Limit, state: &StoredState, own: u64) -> u64 {
    let earliest_write = limit.earliest_write(state);
    let is_skew = earliest_write > own && earliest_write - own <= MAX_CLOCK_SKEW * SECOND;
    if is_skew { earliest_write } else { own }
}

/// Expresses a decision by another clock in the time of the clock that the store decides by. An accepted call has nothing to wait for.
fn in_time_of(own: u64, decision: Decision) -> Decision {
    let retry_at = if decision.accepted { own } else { decision.retry_at };
    Decision { now: own, retry_at, ..decision }
}

#[cfg(test)]
mod tests;
