//! Compare-and-swap: hand-offs, locked keys and turns.

mod clock;
mod tries;

use super::*;
use crate::clock::Reading;
use crate::error::Error;
use crate::limit::{Limit, SECOND, Span, State, StoredState, TokenBucket, apply};
use crate::net::Timeouts;
use crate::store::swap::handoff::Handoff;
use crate::store::swap::hot_key::tests::{hot_key, record};
use crate::store::swap::locked_key::note_lock;
use crate::store::swap::turn::Turn;
use crate::store::swap::{Decide, Found, Swap};
use crate::store::with_request;

const TAKE: Op = Op::Take { cost: 1 };
const NOW: u64 = 100_000 * SECOND;

/// A server with one value, and the number of swaps that other processes make first.
struct Register {
    held: Cell<(State, u64)>,
    rivals: Cell<u32>,
    reads: Cell<u32>,
    time: Cell<u64>,
    /// The delay of its answers.
    late: Cell<u64>,
    /// What a trip is said to take.
    round_trip: Duration,
    has_locks: bool,
    /// How long a swap waits for a lock, which it does not get.
    lock_wait: Option<Duration>,
    /// Whether a write waits until its time is over, and how often that was noted.
    blocks: bool,
    noted: Cell<u32>,
    /// What the value is once rivals have swapped it.
    after_rivals: Option<State>,
    /// It answers no reading.
    is_silent: bool,
    /// Is called before each reading.
    on_read: Box<dyn Fn()>,
}

impl Register {
    fn new(rivals: u32) -> Self {
        let held = Cell::new((State::FULL, 7));
        let (rivals, reads) = (Cell::new(rivals), Cell::new(0));
        let (time, late) = (Cell::new(NOW), Cell::new(0));
        Self {
            held,
            rivals,
            reads,
            time,
            late,
            round_trip: Duration::ZERO,
            has_locks: false,
            lock_wait: None,
            blocks: false,
            noted: Cell::new(0),
            after_rivals: None,
            is_silent: false,
            on_read: Box::new(|| {}),
        }
    }
}

impl SwapEntry for Register {
    type Version = u64;

    fn connect(&self, _: &mut Budget) -> Result<()> {
        Ok(())
    }

    fn read(&self, _: &mut Budget) -> Result<Found<u64>> {
        (self.on_read)();
        if self.is_silent {
            return Err(Error::storage("no answer"));
        }
        self.reads.set(self.reads.get() + 1);
        let (state, version) = self.held.get();
        let (time, now) = (self.time.get(), boot_time());
        let late = self.late.get();
        let clock = Reading { time: time - late, sent_at: now - late, read_at: now };
        Ok(Found { state: state.into(), version, now: [clock.time; 2], clock })
    }

    fn handed_off(&self, handoff: &Handoff) -> Option<u64> {
        Some(handoff.version)
    }

    fn swap(&self, version: &u64, state: &StoredState, _: u64, _: &mut Budget) -> Result<Swap> {
        let (held, current) = self.held.get();
        if let Some(wait) = self.lock_wait {
            std::thread::sleep(wait);
            note_wait(wait);
            return Ok(Swap::Locked);
        }
        if let Some(left) = self.rivals.get().checked_sub(1) {
            self.rivals.set(left);
            let swapped = self.after_rivals.filter(|_| left == 0).unwrap_or(held);
            self.held.set((swapped, current + 1));
            return Ok(Swap::Lost);
        }
        if *version != current {
            return Ok(Swap::Lost);
        }
        if self.blocks {
            return Ok(Swap::Blocked);
        }
        self.held.set((state.word(), current + 1));
        Ok(Swap::Done(Some(current + 1)))
    }

    fn swap_locked(&self, decide: Decide<'_>, _: &mut Budget) -> Result<Option<Swap>> {
        if !self.has_locks {
            return Ok(None);
        }
        let ((state, version), now) = (self.held.get(), boot_time());
        let clock = Reading { time: self.time.get(), sent_at: now, read_at: now };
        match decide(&state.into(), &clock) {
            Some(_) if self.blocks => return Ok(Some(Swap::Blocked)),
            Some(after) => self.held.set((after.word(), version + 1)),
            None => {}
        }
        Ok(Some(Swap::Done(Some(version + 1))))
    }

    fn round_trip(&self) -> Duration {
        self.round_trip
    }

    fn locked(&self) -> Error {
        self.noted.set(self.noted.get() + 1);
        Error::refused("locked")
    }

    fn withheld(&self) -> Error {
        Error::refused("withheld")
    }

    fn server(&self) -> String {
        "a register".to_owned()
    }
}

fn timeouts(call: Duration) -> Timeouts {
    Timeouts { call, connect: call }
}

/// Ten tokens that hardly come back.
fn slow_limit() -> Limit {
    TokenBucket::per_second(10, 0.001).unwrap().into()
}

/// Decides as the only call on its key, which is slow.
fn decide(register: &Register, record: &KeyRecord, op: Op, budget: Duration) -> Result<Decision> {
    decide_on(register, record, slow_limit(), op, budget)
}

/// Decides as the only call on the key of this limit.
fn decide_on(
    register: &Register,
    record: &KeyRecord,
    limit: impl Into<Limit>,
    op: Op,
    budget: Duration,
) -> Result<Decision> {
    with_request(&limit.into(), op, |request| {
        decide_in_turn(register, request, hot_key(record, 1), Budget::start(timeouts(budget)))
    })
}

/// The turn of another process, which is waited for until then.
fn turn_of_another(record: &KeyRecord, until: u64) -> Turn<'_> {
    let now = boot_time();
    let Next::Ask(turn) = take(hot_key(record, 1), false, now, until - now) else {
        panic!("no other has it")
    };
    turn
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn handed_off_state_need_not_be_read() {
    let (register, record) = (Register::new(0), record());
    for _ in 0..10 {
        assert!(decide(&register, &record, TAKE, LONG).unwrap().is_accepted());
    }
    assert_eq!(register.reads.get(), 1);
    assert!(!decide(&register, &record, TAKE, LONG).unwrap().is_accepted());
    assert_eq!(register.reads.get(), 2, "a denial is the server's, not the hand-off's");
}

#[test]
fn state_that_another_host_changed_is_read_again() {
    let (register, record) = (Register::new(0), record());
    decide(&register, &record, TAKE, LONG).unwrap();
    let full = Span::from_ns(NOW + 10_000 * SECOND);
    register.held.set((State::Filling { full_at: full }, 99));
    assert!(!decide(&register, &record, TAKE, LONG).unwrap().is_accepted());
    assert_eq!(register.reads.get(), 2);
}

#[test]
fn call_that_waits_longer_than_its_time_is_busy() {
    let (register, record) = (Register::new(0), record());
    let turn = turn_of_another(&record, boot_time() + 50 * SECOND);
    let busy = decide(&register, &record, TAKE, Duration::from_millis(20));
    assert_eq!(busy, Err(Error::busy("a register: the bucket is too busy")));
    assert_eq!(register.reads.get(), 0);
    drop(turn);
    assert!(decide(&register, &record, TAKE, LONG).unwrap().is_accepted());
}

#[test]
fn key_that_is_locked_three_times_is_only_read_by_all_processes_of_the_host() {
    let (register, record) = (Register::new(0), record());
    let block = || note_lock(hot_key(&record, 1), boot_time());
    (0..2).for_each(|_| block());
    assert!(decide(&register, &record, TAKE, LONG).unwrap().is_accepted(), "locked twice");
    block();
    assert!(!is_locked(hot_key(&record, 1), boot_time()), "it was swapped meanwhile");
    (0..2).for_each(|_| block());
    assert_eq!(decide(&register, &record, TAKE, LONG), Err(Error::refused("withheld")));
    let denied = decide(&register, &record, Op::Take { cost: 1_000_000 }, LONG);
    assert!(!denied.unwrap().is_accepted(), "a denial writes nothing");
    block();
    assert!(is_locked(hot_key(&record, 1), boot_time()), "a call that was on its way met it, too");
    assert!(!is_locked(hot_key(&record, 2), boot_time()), "another key");
    assert!(!is_locked(hot_key(&record, 1), boot_time() + 2 * SECOND));
}

#[test]
fn process_is_waited_for_three_round_trips_and_half_of_a_calls_time_at_most() {
    let turn_time = |round_trip, call| {
        turn_time(Duration::from_millis(round_trip), Duration::from_millis(call)).as_millis()
    };
    assert_eq!(
        [(0, 100), (0, 800), (1, 100)].map(|(trip, call)| turn_time(trip, call)),
        [25, 100, 25]
    );
    assert_eq!(
        [(30, 200), (40, 200), (0, 30)].map(|(trip, call)| turn_time(trip, call)),
        [90, 100, 15]
    );
}

#[test]
fn call_waits_for_a_process_that_asks_and_then_asks_itself() {
    let (register, record) = (Register::new(0), record());
    let until = boot_time() + SECOND / 50;
    std::mem::forget(turn_of_another(&record, until));
    assert!(decide(&register, &record, TAKE, LONG).unwrap().is_accepted());
    assert!(boot_time() + 1_000 >= until);
}

#[test]
fn process_that_was_given_up_decides_for_its_call() {
    let (register, record) = (Register::new(0), record());
    let turn = turn_of_another(&record, boot_time() + 1_000);
    assert!(decide(&register, &record, TAKE, LONG).unwrap().is_accepted());
    with_request(&slow_limit(), TAKE, |request| {
        let mut budget = Budget::start(timeouts(LONG));
        let attempt = Attempt { entry: &register, request, turn: Some(turn), may_write: true };
        assert_eq!(attempt.decide(&mut budget).unwrap().taken, 1);
    });
    let two = apply(&slow_limit(), &StoredState::FULL, NOW, Op::Take { cost: 2 }).1;
    assert_eq!(register.held.get().0, two.word());
}
