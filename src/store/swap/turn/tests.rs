//! Whose turn it is, as one process after the other finds it.

use super::*;
use crate::limit::SECOND;
use crate::mapped::futex::sleep_while;
use crate::mapped::word::Word;
use crate::store::swap::hot_key::KeyRecord;
use crate::store::swap::hot_key::tests::{hot_key, record};
use std::thread;

const NOW: u64 = 100_000 * SECOND;
const TIME: u64 = SECOND / 50;

fn ask(record: &KeyRecord, key: u64, has_slept: bool, now: u64) -> Option<Turn<'_>> {
    match take(hot_key(record, key), has_slept, now, TIME) {
        Next::Ask(turn) => Some(turn),
        _ => None,
    }
}

fn sleep(record: &KeyRecord, has_slept: bool, now: u64) -> Sleep {
    match take(hot_key(record, 1), has_slept, now, TIME) {
        Next::Sleep(sleep) => sleep,
        _ => panic!("the turn is free"),
    }
}

#[test]
fn one_call_at_a_time_has_the_turn() {
    let record = record();
    for _ in 0..3 {
        let turn = ask(&record, 1, false, NOW).unwrap();
        assert!(ask(&record, 1, false, NOW).is_none());
        assert!(ask(&record, 1, true, NOW).is_none(), "it has slept");
        drop(turn);
    }
}

#[test]
fn call_sleeps_until_the_turn_changes_or_is_over() {
    let record = record();
    let turn = ask(&record, 1, false, NOW).unwrap();
    let Sleep { seen, groups, at_most } = sleep(&record, false, NOW + 5_000);
    assert_eq!((groups, at_most), (NEW, Duration::from_nanos(TIME - 5_000)));
    assert_eq!(
        sleep(&record, true, NOW),
        Sleep { seen, groups: OLD, at_most: Duration::from_nanos(TIME) }
    );
    turn.extend(NOW + TIME);
    assert_eq!(sleep(&record, false, NOW + TIME).seen, seen, "extended, it is the same turn");
    drop(turn);
    assert_ne!(Word::load(&record.turn) as u32, seen);
}

#[test]
fn turn_that_is_over_is_taken_and_its_process_no_longer_has_it() {
    let record = record();
    let killed = ask(&record, 1, false, NOW).unwrap();
    assert!(ask(&record, 1, false, NOW + TIME - 1_000).is_none());
    let turn = ask(&record, 1, false, NOW + TIME).unwrap();
    let taken = Word::load(&record.turn);
    killed.extend(NOW + 9 * SECOND);
    drop(killed);
    assert_eq!(Word::load(&record.turn), taken, "it was given up");
    drop(turn);
    assert!(ask(&record, 1, false, NOW).is_some());
}

#[test]
fn turn_is_handed_to_a_call_that_sleeps_and_others_wait_behind_it() {
    let record = record();
    let turn = ask(&record, 1, false, NOW).unwrap();
    let Sleep { seen, groups, .. } = sleep(&record, false, NOW);
    thread::scope(|scope| {
        let sleeper =
            scope.spawn(|| sleep_while(&record.turn, seen, groups, Duration::from_secs(60)));
        // It may not have fallen asleep yet: then the turn is free for all.
        let mut turn = Some(turn);
        while !sleeper.is_finished() {
            drop(turn.take());
            let is_handed = State::from_word(Word::load(&record.turn)).is_handed;
            assert_eq!(ask(&record, 1, false, NOW).is_some(), !is_handed);
            turn = ask(&record, 1, true, NOW);
        }
    });
}

#[test]
fn turn_that_none_sleeps_for_is_free() {
    let record = record();
    let turn = ask(&record, 1, false, NOW).unwrap();
    sleep(&record, false, NOW);
    drop(turn);
    assert!(ask(&record, 1, false, NOW).is_some());
}

#[test]
fn record_of_another_key_is_not_waited_for() {
    let record = record();
    let turn = ask(&record, 1, false, NOW).unwrap();
    assert!(matches!(take(hot_key(&record, 2), false, NOW, TIME), Next::AskAlone));
    drop(turn);
    let turn = ask(&record, 2, false, NOW).unwrap();
    assert!(matches!(take(hot_key(&record, 1), true, NOW, TIME), Next::AskAlone));
    drop(turn);
}

#[test]
fn times_wrap() {
    // The times of a host that has been up for a year do not fit.
    for now in [0, 5 * SECOND, (1 << UNTIL_BITS) * 1_000 - 1_000, 400 * 86_400 * SECOND] {
        let left = |until: u64, at| State::default().until(until).time_left(at);
        assert_eq!(left(now + SECOND, now), SECOND);
        assert_eq!([SECOND, 9 * SECOND].map(|late| left(now + SECOND, now + late)), [0; 2]);
        assert_eq!(left(now + MAX_LEAD, now), MAX_LEAD);
        assert_eq!(left(now + 2 * MAX_LEAD, now), 0, "garbage");
    }
}
