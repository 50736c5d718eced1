//! Compare-and-swap: hand-offs, locked keys and batches.

mod clock;
mod tries;

use super::*;
use crate::clock::Reading;
use crate::error::Error;
use crate::limit::{Limit, SECOND, Span, State, StoredState, TokenBucket, apply};
use crate::net::Timeouts;
use crate::store::swap::batch::release;
use crate::store::swap::handoff::Handoff;
use crate::store::swap::key_record::tests::batches;
use crate::store::swap::key_record::{self, Batch, Share};
use crate::store::swap::locked_key::note_lock;
use crate::store::swap::results::collect;
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
            self.held.set((held, current + 1));
            return Ok(Swap::Lost);
        }
        if *version != current {
            return Ok(Swap::Lost);
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
        if let Some(after) = decide(&state.into(), &clock) {
            self.held.set((after.word(), version + 1));
        }
        Ok(Some(Swap::Done(Some(version + 1))))
    }

    fn round_trip(&self) -> Duration {
        self.round_trip
    }

    fn locked(&self) -> Error {
        Error::refused("locked")
    }

    fn withheld(&self) -> Error {
        Error::refused("withheld")
    }

    fn server(&self) -> String {
        "a register".to_owned()
    }
}

fn record() -> KeyRecord {
    key_record::tests::record()
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
        decide_in_batch(register, request, batches(record), 1, Budget::start(timeouts(budget)))
    })
}

/// Decides for this share of a batch, and returns what its members decide.
fn decide_for(register: &Register, limit: &Limit, op: Op, count: u32) -> Vec<Result<Decision>> {
    let record = record();
    let batches = batches(&record);
    with_request(limit, op, |request| {
        let kind = kind_of(1, request, batches.secret);
        let mut members: Vec<_> = (0..count).map(|_| Caller::new(batches, kind)).collect();
        // Another call is on its way, so that all of them wait.
        let mut other = Caller::new(batches, 99);
        let Step::Ask(under_way) = other.step(0, SECOND, true) else { panic!("no call waits") };
        for member in &mut members {
            assert!(matches!(member.step(0, SECOND, true), Step::Sleep(_)));
        }
        release(batches, &under_way);
        let mut decisions = Vec::new();
        let mut first = members.remove(0);
        let Step::Ask(batch) = first.step(0, SECOND, true) else { panic!("none asks") };
        assert_eq!(batch.share, Share { index: 0, count });
        let own = OwnBatch { batches, batch, key: 1, asking_time: SECOND };
        let mut budget = Budget::start(timeouts(LONG));
        decisions.push(
            Attempt { entry: register, request, batch: Some(own), may_write: true }
                .decide(&mut budget),
        );
        for mut member in members {
            let Step::Decided(basis, index) = member.step(0, SECOND, true) else {
                panic!("not decided")
            };
            decisions.push(Ok(repeated::decide_by(&basis, request, index)));
        }
        decisions
    })
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
    let mut other = Caller::new(batches(&record), 99);
    let now = boot_time();
    assert!(matches!(other.step(now, now + 50 * SECOND, true), Step::Ask(_)));
    let busy = decide(&register, &record, TAKE, Duration::from_millis(20));
    assert_eq!(busy, Err(Error::busy("a register: the bucket is too busy")));
    assert_eq!(register.reads.get(), 0);
    let left = Caller::new(batches(&record), 5).step(now, now, true);
    assert!(matches!(left, Step::Sleep(_)), "the call has left: the batch takes another kind");
}

#[test]
fn members_of_a_batch_decide_as_calls_one_after_the_other() {
    let limit = Limit::from(TokenBucket::per_second(5, 1.0).unwrap());
    let ops = [
        TAKE,
        Op::Take { cost: 2 },
        Op::Check,
        Op::TakeUpTo { most: 3, least: 1, leave: 1 },
        Op::Reserve { cost: 2, max_wait: 2 * SECOND },
    ];
    for op in ops {
        let register = Register::new(0);
        let decisions = decide_for(&register, &limit, op, 8);
        assert_eq!(register.reads.get(), 1, "{op:?}");
        let mut state = StoredState::FULL;
        for (i, decision) in decisions.into_iter().enumerate() {
            let (expected, after) = apply(&limit, &state, NOW, op);
            assert_eq!(decision.unwrap(), expected, "{op:?}, call {i}");
            state = after;
        }
        assert_eq!(register.held.get().0, state.word(), "{op:?}");
    }
}

#[test]
fn batch_whose_calls_are_all_denied_is_told_so() {
    let limit = Limit::from(TokenBucket::per_second(5, 1.0).unwrap());
    let register = Register::new(0);
    register.held.set((State::Filling { full_at: Span::from_ns(NOW + 5 * SECOND) }, 1));
    let decisions = decide_for(&register, &limit, TAKE, 4);
    assert!(decisions.into_iter().all(|it| it.unwrap().retry_after() == 1.0));
    assert_eq!(register.held.get().1, 1, "nothing is written");
}

#[test]
fn process_that_was_given_up_takes_for_itself_alone() {
    let (register, record) = (Register::new(0), record());
    let batches = batches(&record);
    let limit = slow_limit();
    with_request(&limit, TAKE, |request| {
        let share = Share { index: 2, count: 7 };
        let own = OwnBatch {
            batches,
            batch: Batch { number: 5, kind: 2, share },
            key: 1,
            asking_time: 1,
        };
        let mut budget = Budget::start(timeouts(LONG));
        let alone = Attempt { entry: &register, request, batch: Some(own), may_write: true }
            .decide(&mut budget);
        assert_eq!(alone.unwrap().taken, 1);
        let after = apply(&limit, &StoredState::FULL, NOW, TAKE).1;
        assert_eq!(register.held.get().0, after.word(), "one token was taken");
        assert_eq!(collect(batches, 5, 2), None, "no result is published");
    });
}

#[test]
fn key_that_is_locked_three_times_is_only_read_by_all_processes_of_the_host() {
    let (register, record) = (Register::new(0), record());
    let block = || note_lock(batches(&record), 1, boot_time());
    (0..2).for_each(|_| block());
    assert!(decide(&register, &record, TAKE, LONG).unwrap().is_accepted(), "locked twice");
    block();
    assert!(!is_locked(batches(&record), 1, boot_time()), "it was swapped meanwhile");
    (0..2).for_each(|_| block());
    assert_eq!(decide(&register, &record, TAKE, LONG), Err(Error::refused("withheld")));
    let denied = decide(&register, &record, Op::Take { cost: 1_000_000 }, LONG);
    assert!(!denied.unwrap().is_accepted(), "a denial writes nothing");
    block();
    assert!(is_locked(batches(&record), 1, boot_time()), "a call that was on its way met it, too");
    assert!(!is_locked(batches(&record), 2, boot_time()), "another key");
    assert!(!is_locked(batches(&record), 1, boot_time() + 2 * SECOND));
}

#[test]
fn process_is_waited_for_three_round_trips_and_half_of_a_calls_time_at_most() {
    let asking_time = |round_trip, call| {
        asking_time(Duration::from_millis(round_trip), Duration::from_millis(call)).as_millis()
    };
    assert_eq!(
        [(0, 100), (0, 800), (1, 100)].map(|(trip, call)| asking_time(trip, call)),
        [20, 100, 20]
    );
    assert_eq!(
        [(30, 200), (40, 200), (0, 30)].map(|(trip, call)| asking_time(trip, call)),
        [90, 100, 15]
    );
}

#[test]
fn call_waits_for_a_process_that_asks_and_then_asks_itself() {
    let (register, record) = (Register::new(0), record());
    let now = boot_time();
    let mut killed = Caller::new(batches(&record), 99);
    assert!(matches!(killed.step(now, now + SECOND / 50, true), Step::Ask(_)));
    assert!(decide(&register, &record, TAKE, LONG).unwrap().is_accepted());
    assert!(boot_time() >= now + SECOND / 50);
}

#[test]
fn refunds_are_in_no_batch_with_others() {
    let limit = Limit::from(TokenBucket::per_second(5, 1.0).unwrap());
    let kinds =
        |op| with_request(&limit, op, |request| [0; 3].map(|_| kind_of(1, request, [2, 3])));
    let [first, second, third] = kinds(Op::Refund { cost: 2, expiry: None });
    assert!(first != second && second != third);
    let [first, second, third] = kinds(TAKE);
    assert!(first == second && second == third);
}
