//! Decisions on servers that compare and swap: memcached, MariaDB and MySQL.
//!
//! Such a server runs no algorithm of ours. A decision reads the value of a key, applies the operation
//! here, and replaces the value if the server still holds the one that was read; if not, it begins
//! again. Processes of one host wait in the [`queue`](super::host::queue) for a hot key, and each hands
//! the next what it wrote, which the next one then need not read.

use super::host::Host;
use super::host::queue::{Handoff, Ticket};
use super::key::Key;
use super::kind::LimitKind;
use super::net::budget::Budget;
use super::request::Request;
use super::shm::MappedFile;
use crate::clock::{Reading, boot_time};
use crate::dsn::Secret;
use crate::error::{Error, Result};
use crate::limit::{Decision, Limit, Op, SECOND, State, apply};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// How often a decision is tried before it is denied because others were faster every time.
const MAX_TRIES: u32 = 64;
/// How long to wait in the queue, at most.
const MAX_QUEUE_TIME: Duration = Duration::from_millis(100);
/// How far the clocks of two writers may differ, in seconds.
pub const MAX_CLOCK_SKEW: u64 = 2;
/// How old the clock reading of a hand-off may be, in nanoseconds: the clock may have been set since.
const MAX_READING_AGE: u64 = SECOND;

/// A state that a server holds.
pub struct Found<V> {
    /// The state; [`State::FULL`] if the server holds none.
    pub state: State,
    /// What the server tells this value from others by.
    pub version: V,
    /// The time to decide at, in nanoseconds: at least, and at most. Both are the same if it was read
    /// within this call.
    pub now: [u64; 2],
    /// The reading that this time is from.
    pub clock: Reading,
}

/// What came of a swap.
pub enum Swap {
    /// It is done. The number names the new value in a hand-off, if it has one.
    Done(Option<u64>),
    /// The server holds another value by now.
    Lost,
    /// It was not done in time, for something else holds a lock.
    Locked,
    /// The server may yet do it, when it is not kept from the value any more: the key is held off.
    Blocked,
}

/// The place of one key on a server.
pub trait Entry {
    /// What the server tells one value from others by.
    type Version;

    /// Reads the state.
    fn read(&self, budget: &mut Budget) -> Result<Found<Self::Version>>;

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

    /// The error of a key that is held off.
    fn blocked(&self) -> Error;

    /// Which server, in a message.
    fn server(&self) -> String;
}

/// Decides by compare and swap for one kind of store, and queues for hot keys.
pub struct Decider {
    host: Host,
    /// How long a process may take to swap, in nanoseconds.
    swap_time: u64,
}

impl Decider {
    /// The decider of a store of this kind, on whose server a swap takes no longer than `swap_time`.
    pub fn new(kind: &str, swap_time: Duration, host_file: Rc<MappedFile>) -> Self {
        let host = Host::new(&format!("{kind} queue"), Secret(String::new()), host_file);
        Self { host, swap_time: swap_time.as_nanos() as u64 }
    }

    /// Decides on an entry, which the processes of this host know by `name` and `address`.
    pub fn decide<E: Entry>(
        &self,
        entry: &E,
        request: &Request<'_>,
        name: &[u8],
        address: &[u8],
    ) -> Result<Decision> {
        let mut budget = Budget::start(*request.timeouts);
        if matches!(request.op, Op::Peek { .. }) {
            return request.swap(entry, None, &mut budget);
        }
        let parts = [name, b"@", address, b""];
        // The queue's key is not the caller's: its hash must not be cached for the caller.
        let key_hash = Cell::default();
        let key = Key { parts, kind: LimitKind::TokenBucket, key_hash: &key_hash };
        // Half of the time is left for the call itself.
        let timeout = (request.timeouts.call / 2).min(MAX_QUEUE_TIME).as_nanos() as u64;
        self.host.in_queue(&key, self.swap_time, timeout, |ticket| {
            budget.waited(Duration::from_nanos(timeout));
            request.swap(entry, ticket, &mut budget)
        })
    }
}

impl Request<'_> {
    fn swap<E: Entry>(
        &self,
        entry: &E,
        ticket: Option<&Ticket<'_>>,
        budget: &mut Budget,
    ) -> Result<Decision> {
        if ticket.is_some_and(|ticket| ticket.is_held_off) {
            return Err(entry.blocked());
        }
        let mut handed_off = ticket.and_then(|ticket| handed_off(entry, ticket));
        for tries in 1..=MAX_TRIES {
            let is_handed_off = handed_off.is_some();
            let found = match handed_off.take() {
                Some(found) => found,
                None => entry.read(budget)?,
            };
            let Some((decision, after)) = self.apply_within(found.state, found.now) else {
                continue;
            };
            if after == found.state {
                // The server does not verify a decision that changes nothing, so a hand-off alone must
                // not make it.
                if is_handed_off {
                    continue;
                }
                return Ok(decision);
            }
            match entry.swap(&found.version, after, decision.now, budget)? {
                Swap::Done(version) => {
                    if let (Some(ticket), Some(version)) = (ticket, version) {
                        ticket.hand_off(after, version, found.clock);
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
            // Another try would run out of time, and the server would be blamed for it.
            if !budget.is_left() {
                break;
            }
            // Rivals must not meet again: each waits for a time of its own, longer with every try.
            let spread = 20u64 << tries.min(6);
            let pause = Duration::from_micros(boot_time() / 64 % spread);
            std::thread::sleep(pause);
            budget.waited(pause);
        }
        self.busy(entry)
    }

    /// Decides at a time of which two bounds are known. The answer must be the same at both, and the
    /// state is the one that owes more: so a bucket gains nothing from a clock that is not known
    /// exactly. Nothing if the answers differ.
    fn apply_within(
        &self,
        state: State,
        [earliest, latest]: [u64; 2],
    ) -> Option<(Decision, State)> {
        let first = self.apply(state, earliest);
        if earliest == latest || self.frozen.is_some() {
            return Some(first);
        }
        let last = self.apply(state, latest);
        let owes_more = last.1.expires_at() > first.1.expires_at();
        (first.0.accepted == last.0.accepted).then_some(if owes_more { last } else { first })
    }

    fn apply(&self, state: State, now: u64) -> (Decision, State) {
        match self.frozen {
            Some(now) => apply(self.limit, state, now, *self.op),
            None => {
                let latest = latest_clock(self.limit, state, now);
                let (decision, after) = apply(self.limit, state, latest, *self.op);
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

/// What the process before this one has written.
///
/// The clock is the one that it decided by: processes that hand on a state must agree on the time, also
/// while the server's clock is set.
fn handed_off<E: Entry>(entry: &E, ticket: &Ticket<'_>) -> Option<Found<E::Version>> {
    let handoff = ticket.handoff()?;
    let version = entry.handed_off(&handoff)?;
    let is_fresh = handoff.clock.age() < MAX_READING_AGE;
    let (state, clock) = (handoff.state, handoff.clock);
    is_fresh.then(|| Found { state, version, now: clock.now(), clock })
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
    use crate::limit::Span;
    use crate::limit::TokenBucket;
    use crate::store::file::Set;
    use crate::store::net::Timeouts;
    use std::time::Instant;

    const TAKE: Op = Op::Take { cost: 1 };
    const NOW: u64 = 100_000 * SECOND;

    /// A server's register: a state with a version, and how many further swaps others make first.
    struct Register {
        held: Cell<(State, u64)>,
        rivals: Cell<u32>,
        reads: Cell<u32>,
        time: Cell<u64>,
        /// How late its answers arrive.
        late: Cell<u64>,
    }

    impl Register {
        fn new(rivals: u32) -> Self {
            let held = Cell::new((State::FULL, 7));
            let (rivals, reads) = (Cell::new(rivals), Cell::new(0));
            Self { held, rivals, reads, time: Cell::new(NOW), late: Cell::new(0) }
        }
    }

    impl Entry for Register {
        type Version = u64;

        fn read(&self, _: &mut Budget) -> Result<Found<u64>> {
            self.reads.set(self.reads.get() + 1);
            let (state, version) = self.held.get();
            let (time, now) = (self.time.get(), boot_time());
            let late = self.late.get();
            let clock = Reading { time: time - late, sent_at: now - late, read_at: now };
            Ok(Found { state, version, now: [clock.time; 2], clock })
        }

        fn handed_off(&self, handoff: &Handoff) -> Option<u64> {
            Some(handoff.version)
        }

        fn swap(&self, version: &u64, state: State, _: u64, _: &mut Budget) -> Result<Swap> {
            let (held, current) = self.held.get();
            if let Some(left) = self.rivals.get().checked_sub(1) {
                self.rivals.set(left);
                self.held.set((held, current + 1));
                return Ok(Swap::Lost);
            }
            if *version != current {
                return Ok(Swap::Lost);
            }
            self.held.set((state, current + 1));
            Ok(Swap::Done(Some(current + 1)))
        }

        fn blocked(&self) -> Error {
            Error::refused("blocked")
        }

        fn server(&self) -> String {
            "a register".to_owned()
        }
    }

    fn with_request<R>(limit: &Limit, op: Op, work: impl FnOnce(&Request<'_>) -> R) -> R {
        let (key_hash, parts) = (Cell::default(), [&b"x"[..], b"", b"", b""]);
        let key = Key { parts, kind: LimitKind::TokenBucket, key_hash: &key_hash };
        let (timeouts, evicted) = (&Timeouts::default(), &Cell::new(false));
        work(&Request { key: &key, limit, op: &op, frozen: None, timeouts, evicted })
    }

    fn decide(register: &Register, set: &Set, op: Op, budget: Duration) -> Result<Decision> {
        let limit = Limit::from(TokenBucket::per_second(10, 0.001).unwrap());
        let ticket = Ticket::wait(set, 1, [2, 3], SECOND, SECOND);
        let mut budget = Budget::start(Timeouts { call: budget, connect: budget });
        with_request(&limit, op, |request| request.swap(register, Some(&ticket), &mut budget))
    }

    fn set() -> Set {
        Set(std::array::from_fn(|_| portable_atomic::AtomicU128::new(0)))
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn handed_off_state_need_not_be_read() {
        let (register, set) = (Register::new(0), set());
        for _ in 0..10 {
            assert!(decide(&register, &set, TAKE, LONG).unwrap().accepted);
        }
        assert_eq!(register.reads.get(), 1);
        assert!(!decide(&register, &set, TAKE, LONG).unwrap().accepted);
        assert_eq!(register.reads.get(), 2, "a denial is the server's, not the hand-off's");
    }

    #[test]
    fn state_that_another_host_changed_is_read_again() {
        let (register, set) = (Register::new(0), set());
        decide(&register, &set, TAKE, LONG).unwrap();
        let full = Span::from_ns(NOW + 10_000 * SECOND);
        register.held.set((State::Filling { full_at: full }, 99));
        assert!(!decide(&register, &set, TAKE, LONG).unwrap().accepted);
        assert_eq!(register.reads.get(), 2);
    }

    #[test]
    fn lost_swaps_are_tried_again_until_the_bucket_is_too_busy() {
        let register = Register::new(9);
        assert!(decide(&register, &set(), TAKE, LONG).unwrap().accepted);
        assert_eq!(register.reads.get(), 10);
        let register = Register::new(u32::MAX);
        let denied = decide(&register, &set(), TAKE, LONG).unwrap();
        assert!(!denied.accepted && denied.retry_after() < 0.01);
        assert_eq!(register.reads.get(), MAX_TRIES);
        let refund = decide(&register, &set(), Op::Refund { cost: 1 }, LONG);
        assert!(matches!(refund, Ok(Decision { accepted: true, .. })), "a full bucket has no debt");
    }

    #[test]
    fn no_try_is_begun_without_the_time_for_it() {
        let (register, set) = (Register::new(0), set());
        decide(&register, &set, TAKE, LONG).unwrap();
        register.held.set((register.held.get().0, 99));
        let start = Instant::now();
        let denied = decide(&register, &set, TAKE, Duration::ZERO).unwrap();
        assert!(!denied.accepted && start.elapsed() < LONG);
        assert_eq!(register.reads.get(), 1, "the hand-off was lost, and nothing read after it");
    }

    #[test]
    fn answer_that_arrives_late_gives_no_tokens() {
        let fast = Limit::from(TokenBucket::per_second(10, 1_000.0).unwrap());
        let bounds = [NOW, NOW + SECOND];
        let at = |full_at| {
            let state = State::Filling { full_at: Span::from_ns(full_at) };
            with_request(&fast, TAKE, |request| request.apply_within(state, bounds))
        };
        let (decision, after) = at(NOW).unwrap();
        assert!(decision.accepted, "full at both times");
        assert_eq!(after.expires_at(), NOW + SECOND + SECOND / 1_000, "taken from at the later");
        assert!(at(NOW + 10_000_000).is_none(), "empty at the earlier: it is read again");

        let (register, set) = (Register::new(0), set());
        register.late.set(40 * SECOND / 1_000);
        for _ in 0..3 {
            assert!(decide(&register, &set, TAKE, LONG).unwrap().accepted);
        }
        assert_eq!(register.reads.get(), 1);
    }

    #[test]
    fn clock_that_is_set_back_gives_no_tokens() {
        let (register, set) = (Register::new(0), set());
        let mut accepted = 0;
        for call in 0..60 {
            if call == 5 {
                register.time.set(NOW - 3_600 * SECOND);
            }
            accepted += u32::from(decide(&register, &set, TAKE, LONG).unwrap().accepted);
        }
        assert!(accepted <= 10, "{accepted}");
    }

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
