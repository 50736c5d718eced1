//! When calls on a key fail at once.

use super::*;
use crate::limit::SECOND;
use crate::mapped::word::Word;
use crate::store::swap::hot_key::tests::{hot_key, record};

const NOW: u64 = 100 * SECOND;
const KEY: u64 = 1;

/// Whether calls on the key fail at once at `now`, if its lock was met at these times.
fn fails(met: &[u64], now: u64) -> bool {
    let record = record();
    let hot_key = |key| hot_key(&record, key);
    met.iter().for_each(|at| note_lock(hot_key(KEY), *at));
    assert!(!is_locked(hot_key(KEY + 1), now), "another key");
    is_locked(hot_key(KEY), now)
}

#[test]
fn calls_fail_for_a_second_once_the_lock_was_met_three_times_within_two_seconds_each() {
    assert!(!fails(&[NOW], NOW));
    let (second, third) = (NOW + 2 * PAUSE, NOW + 4 * PAUSE);
    assert!(!fails(&[NOW, second], second), "two lost packets");
    let all = [NOW, second, third];
    assert!(fails(&all, third) && fails(&all, third + PAUSE - 4));
    assert!(!fails(&all, third + PAUSE));
    assert!(!fails(&[NOW, NOW, second + 4], second + 4), "not in a row");
    assert!(!fails(&[NOW, second, third + 4], third + 4), "not in a row");
    let after = third + 2 * PAUSE;
    assert!(fails(&[NOW, second, third, after], after), "met again after the pause");
    assert!(fails(&[NOW, NOW, NOW, NOW], NOW), "three of several calls that wait");
}

#[test]
fn time_that_none_writes_is_garbage() {
    let record = record();
    let hot_key = |key| hot_key(&record, key);
    let write = |until: u64| {
        let met = Met { count: MOST, at: until / UNIT, key: KEY };
        Word::store(&record.lock_seen, met.to_word());
    };
    write(NOW + PAUSE + 4);
    assert!(!is_locked(hot_key(KEY), NOW));
    note_lock(hot_key(KEY), NOW);
    assert!(!is_locked(hot_key(KEY), NOW), "met for the first time");
    write(NOW + PAUSE);
    assert!(is_locked(hot_key(KEY), NOW));
}

#[test]
fn swap_of_the_key_ends_it() {
    let record = record();
    let hot_key = |key| hot_key(&record, key);
    (0..MOST).for_each(|_| note_lock(hot_key(KEY), NOW));
    note_swapped(hot_key(KEY + 1));
    assert!(is_locked(hot_key(KEY), NOW));
    note_lock(hot_key(KEY + 1), NOW);
    assert!(!is_locked(hot_key(KEY + 1), NOW), "the lock of another key was met before");
    (0..MOST).for_each(|_| note_lock(hot_key(KEY), NOW));
    note_swapped(hot_key(KEY));
    assert!(!is_locked(hot_key(KEY), NOW));
}
