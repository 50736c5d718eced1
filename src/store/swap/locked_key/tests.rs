//! When calls on a key fail at once.

use super::*;
use crate::limit::SECOND;
use crate::store::shm::word::Word;
use crate::store::swap::key_record::RESULTS;
use crate::store::swap::key_record::tests::{batches, record};

const NOW: u64 = 100 * SECOND;
const KEY: u64 = 1;

/// Whether calls on the key fail at once at `now`, if its lock was met at these times.
fn fails(met: &[u64], now: u64) -> bool {
    let record = record::<RESULTS>();
    let batches = batches(&record);
    met.iter().for_each(|at| note_lock(batches, KEY, *at));
    assert!(!is_locked(batches, KEY + 1, now), "another key");
    is_locked(batches, KEY, now)
}

#[test]
fn calls_fail_for_a_second_once_the_lock_was_met_twice_within_two() {
    assert!(!fails(&[NOW], NOW));
    let again = NOW + 2 * PAUSE;
    assert!(fails(&[NOW, again], again) && fails(&[NOW, again], again + PAUSE - 1));
    assert!(!fails(&[NOW, again], again + PAUSE));
    assert!(!fails(&[NOW, again + 1], again + 1), "not in a row");
    assert!(fails(&[NOW, again + 1, again + 2], again + 2));
    assert!(fails(&[NOW, NOW, NOW], NOW), "two of several calls that wait");
}

#[test]
fn time_that_none_writes_is_garbage() {
    let record = record::<RESULTS>();
    let batches = batches(&record);
    let write =
        |until: u64| Word::store(&record.lock_seen, u128::from(KEY) << 64 | u128::from(until));
    write(NOW + PAUSE + 1);
    assert!(!is_locked(batches, KEY, NOW));
    note_lock(batches, KEY, NOW);
    assert!(!is_locked(batches, KEY, NOW), "met for the first time");
    write(NOW + PAUSE);
    assert!(is_locked(batches, KEY, NOW));
}

#[test]
fn swap_of_the_key_ends_it() {
    let record = record::<RESULTS>();
    let batches = batches(&record);
    (0..2).for_each(|_| note_lock(batches, KEY, NOW));
    note_swapped(batches, KEY + 1);
    assert!(is_locked(batches, KEY, NOW));
    note_lock(batches, KEY + 1, NOW);
    assert!(!is_locked(batches, KEY + 1, NOW), "the lock of another key was met before");
    (0..2).for_each(|_| note_lock(batches, KEY, NOW));
    note_swapped(batches, KEY);
    assert!(!is_locked(batches, KEY, NOW));
}
