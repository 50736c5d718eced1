//! Tries: lost swaps, locks, and the time that is left.

use super::*;
use crate::clock::at;
use crate::mapped::tests::Folder;
use crate::mapped::{Location, Purpose};
use crate::store::swap::attempt::longest_pause;

#[test]
fn lost_swaps_are_tried_again_until_the_bucket_is_too_busy() {
    let register = Register::new(9);
    assert!(decide(&register, &record(), TAKE, LONG).unwrap().is_accepted());
    assert_eq!(register.reads.get(), 10);
    let register = Register::new(u32::MAX);
    let busy = decide(&register, &record(), TAKE, LONG);
    assert_eq!(busy, Err(Error::busy("a register: the bucket is too busy")));
    let refund = decide(&register, &record(), Op::Refund { cost: 1, expiry: None }, LONG);
    assert!(refund.is_ok_and(Decision::is_accepted), "a full bucket has no debt");
}

#[test]
fn pauses_after_lost_swaps_leave_time_for_many_tries_though_trips_take_long() {
    let round_trip = Duration::from_millis(40);
    let register = Register { round_trip, ..Register::new(8) };
    assert!(decide(&register, &record(), TAKE, 10 * round_trip).unwrap().is_accepted());
}

#[test]
fn value_is_locked_after_two_lost_swaps() {
    let register = Register { has_locks: true, ..Register::new(u32::MAX) };
    assert!(decide(&register, &record(), TAKE, LONG).unwrap().is_accepted());
    assert_eq!(register.reads.get(), 2);
    let limit = slow_limit();
    let after = apply(&limit, &StoredState::FULL, NOW, TAKE).1.word();
    assert_eq!(register.held.get(), (after, 7 + 2 + 1), "two by rivals, then ours");
    let denied = Register { has_locks: true, ..Register::new(u32::MAX) };
    denied.held.set((State::blocked(NOW + SECOND, NOW), 1));
    assert!(!decide(&denied, &record(), TAKE, LONG).unwrap().is_accepted());
    assert_eq!(denied.held.get().1, 1, "a denial swaps nothing");
}

#[test]
fn no_trip_is_begun_without_the_time_for_it() {
    let (register, record) = (Register::new(0), record());
    let busy = Err(Error::busy("a register: the bucket is too busy"));
    assert_eq!(decide(&register, &record, TAKE, Duration::ZERO), busy);
    assert_eq!(register.reads.get(), 0);
    assert!(decide(&register, &record, TAKE, LONG).unwrap().is_accepted(), "the next one may ask");
}

#[test]
fn failure_of_a_trip_that_had_little_time_is_not_the_servers() {
    let silent = Register { is_silent: true, ..Register::new(0) };
    let limit = slow_limit();
    let ask = |waited: Duration| {
        let mut budget = Budget::start(timeouts(Duration::from_millis(100)));
        std::thread::sleep(waited);
        note_wait(waited);
        with_request(&limit, TAKE, |request| {
            Attempt { entry: &silent, request, turn: None, may_write: true }.decide(&mut budget)
        })
    };
    assert_eq!(ask(Duration::ZERO), Err(Error::storage("no answer")));
    assert_eq!(ask(Duration::from_millis(70)), Err(Error::busy("no answer")));
}

#[test]
fn swap_that_meets_a_lock_is_tried_again_while_there_is_time() {
    let met = |lock_wait: Duration, call: Duration| {
        let register = Register { lock_wait: Some(lock_wait), ..Register::new(0) };
        decide(&register, &record(), TAKE, call)
    };
    let busy = Err(Error::busy("a register: the bucket is too busy"));
    assert_eq!(met(Duration::ZERO, LONG), busy, "of 64 tries none got it");
    let (wait, call) = (Duration::from_millis(38), Duration::from_millis(40));
    assert_eq!(met(wait, call), Err(Error::refused("locked")));
}

#[test]
fn denial_stands_though_its_charge_cannot_be_written() {
    let empty = apply(&slow_limit(), &StoredState::FULL, NOW, Op::Take { cost: 10 }).1.word();
    let wait = Some(Duration::from_millis(38));
    let ask = |op, lock_wait: Option<Duration>, may_write: bool| {
        let register = Register { lock_wait, ..Register::new(0) };
        register.held.set((empty, 7));
        with_request(&slow_limit(), op, |request| {
            let mut budget = Budget::start(timeouts(Duration::from_millis(40)));
            let attempt = Attempt { entry: &register, request, turn: None, may_write };
            attempt.decide(&mut budget).map(|decision| decision.is_accepted())
        })
    };
    assert_eq!(ask(Op::Check, wait, true), Ok(false), "the write waits");
    assert_eq!(ask(Op::Check, None, false), Ok(false), "no write is tried");
    let settle = Op::Settle { cost: 1, expiry: NOW };
    assert_eq!(ask(settle, wait, true), Err(Error::refused("locked")));
    assert_eq!(ask(settle, None, false), Err(Error::refused("withheld")));
}

#[test]
fn write_that_waits_is_noted_though_the_denial_stands() {
    let empty = apply(&slow_limit(), &StoredState::FULL, NOW, Op::Take { cost: 10 }).1.word();
    let register = Register { blocks: true, ..Register::new(0) };
    register.held.set((empty, 7));
    assert_eq!(decide(&register, &record(), Op::Check, LONG).map(Decision::is_accepted), Ok(false));
    assert_eq!(register.noted.get(), 1);
}

#[test]
fn denial_of_a_row_that_was_locked_stands_though_its_charge_cannot_be_written() {
    let empty = apply(&slow_limit(), &StoredState::FULL, NOW, Op::Take { cost: 10 }).1.word();
    // What rivals write meanwhile decides.
    let ask = |before, after| {
        let after_rivals = Some(after);
        let register = Register { blocks: true, has_locks: true, after_rivals, ..Register::new(2) };
        register.held.set((before, 7));
        decide(&register, &record(), Op::Check, LONG).map(Decision::is_accepted)
    };
    assert_eq!(ask(State::FULL, empty), Ok(false));
    assert_eq!(ask(empty, State::FULL), Err(Error::refused("locked")));
}

#[test]
fn pause_grows_with_the_round_trip_and_with_lost_swaps_up_to_a_part_of_the_calls_time() {
    let longest = |us: u64, lost: u32, ms: u64| {
        longest_pause(Duration::from_micros(us), lost, Duration::from_millis(ms)) / 1_000
    };
    assert_eq!([0, 20, 100].map(|us| longest(us, 0, 16)), [40, 40, 200]);
    assert_eq!([1, 2, 4, 5, 9].map(|lost| longest(0, lost, 160)), [80, 160, 640, 640, 640]);
    assert_eq!([longest(100, 3, 16), longest(9, 9, 0)], [1_000, 20]);
}

#[test]
fn process_that_asks_is_waited_for_until_it_is_done() {
    let (record, was_asking) = (Rc::new(record()), Rc::new(Cell::new(false)));
    let is_asking = |record: &KeyRecord| {
        let now = boot_time() + SECOND;
        !matches!(take(hot_key(record, 1), false, now, 0), Next::Ask(_))
    };
    let on_read = {
        let (record, was_asking) = (Rc::clone(&record), Rc::clone(&was_asking));
        Box::new(move || was_asking.set(is_asking(&record)))
    };
    let register = Register { on_read, ..Register::new(0) };
    let turn = match take(hot_key(&record, 1), false, 0, 2 * SECOND) {
        Next::Ask(turn) => Some(turn),
        _ => None,
    };
    with_request(&slow_limit(), TAKE, |request| {
        let mut budget = Budget::start(timeouts(LONG));
        let attempt = Attempt { entry: &register, request, turn, may_write: true };
        attempt.decide(&mut budget).unwrap();
    });
    assert!(was_asking.get(), "while it reads");
    assert!(!is_asking(&record), "it is done");
}

#[test]
fn peek_and_a_call_at_a_frozen_time_wait_for_no_turn() {
    let folder = Folder::new();
    let location = Location::new(&folder.files(), "host", Purpose::Host);
    let decider = Rc::new(SwapDecider::new("a register", Rc::new(MappedFile::new(location))));
    let limit = slow_limit();
    let answers = Rc::new(Cell::new([false; 3]));
    let on_read = {
        let (decider, answers) = (Rc::clone(&decider), Rc::clone(&answers));
        // While a process asks, others wait for it.
        Box::new(move || {
            let calls = [(Op::Peek { cost: 1 }, None), (TAKE, Some(NOW)), (TAKE, None)];
            answers.set(calls.map(|(op, time)| {
                with_request(&limit, op, |request| {
                    at(time, || decider.decide(&Register::new(0), request, b"name", b"address"))
                        .is_ok()
                })
            }));
        })
    };
    let register = Register { on_read, ..Register::new(0) };
    let limit = slow_limit();
    with_request(&limit, TAKE, |request| {
        let request = &Request { timeouts: &timeouts(LONG), ..*request };
        decider.decide(&register, request, b"name", b"address").unwrap();
    });
    assert_eq!(answers.get(), [true, true, false]);
}
