//! One permit in a set of slots.

use super::*;
use crate::limit::Span;
use portable_atomic::AtomicU128;
use std::cell::Cell;

const T: u64 = 1_000;
const TAG: u64 = 7;

fn set_of<const N: usize>(slots: [Slot; N]) -> [AtomicU128; N] {
    slots.map(|slot| AtomicU128::new(slot.0))
}

/// Takes the permit of `TAG` until `ends_at`.
fn take_until<W: Word>(set: &[W], now: u64, ends_at: u64) -> Option<Slot> {
    take(set, TAG, now, HeldSlot { ends_at, holder: 3 })
}

#[test]
fn permit_is_held_until_its_lifetime_ends() {
    let set = set_of([Slot::EMPTY; 2]);
    assert!(!has_slot(&set, TAG));
    let permit = take_until(&set, T, T + 10).unwrap();
    assert_eq!(permit.as_held(), Some(HeldSlot { ends_at: T + 10, holder: 3 }));
    assert_eq!(find(&set, TAG, T + 9), Some(permit));
    assert_eq!(take_until(&set, T + 9, T + 20), None);
    assert_eq!(find(&set, TAG, T + 10), None);
    assert!(has_slot(&set, TAG) && !has_slot(&set, TAG + 1));
    assert!(take_until(&set, T + 10, T + 20).is_some());
}

#[test]
fn what_is_no_permit_is_not_held() {
    let bucket = State::Filling { full_at: Span::from_ns(T + 10) };
    assert!(!is_held(Slot::committed(TAG, bucket), T));
    assert!(!is_held(Slot::free(TAG), T));
}

#[test]
fn permit_is_renewed_and_freed_by_its_latest_content_alone() {
    let set = set_of([Slot::EMPTY; 2]);
    let first = take_until(&set, T, T + 10).unwrap();
    let renewed = renew(&set, first, T + 9, T + 50).unwrap();
    assert_eq!(renewed.as_held(), Some(HeldSlot { ends_at: T + 50, holder: 3 }));
    assert_eq!(renew(&set, first, T + 9, T + 90), None);
    assert!(!free(&set, first));
    assert_eq!(find(&set, TAG, T + 49), Some(renewed));
    assert_eq!(renew(&set, renewed, T + 50, T + 90), None, "its lifetime has ended");
    assert!(free(&set, renewed) && !free(&set, renewed));
    assert_eq!(find(&set, TAG, T), None);
}

#[test]
fn reset_frees_a_permit_that_was_renewed_meanwhile() {
    let set = set_of([Slot::EMPTY; 2]);
    let seen = take_until(&set, T, T + 10).unwrap();
    renew(&set, seen, T, T + 50).unwrap();
    reset(&set, seen, T);
    assert_eq!(find(&set, TAG, T), None);
    reset(&set, seen, T);
    assert!(has_slot(&set, TAG), "a permit that is free already stays so");
}

#[test]
fn permit_takes_the_slot_of_no_other_that_is_held() {
    let other = |tag| Slot::held(tag, HeldSlot { ends_at: T + 10, holder: 4 });
    let set = set_of([other(1), other(2)]);
    assert_eq!(take_until(&set, T, T + 20), None);
    assert_eq!(set.each_ref().map(Word::load), [other(1).0, other(2).0]);
    assert!(take_until(&set, T + 10, T + 20).is_some(), "their lifetimes have ended");
}

/// A word that another process changes once, just before this process does.
struct ContendedWord {
    word: AtomicU128,
    rival: Cell<Option<Slot>>,
}

impl Word for ContendedWord {
    fn load(&self) -> u128 {
        Word::load(&self.word)
    }

    fn replace(&self, old: u128, new: u128) -> bool {
        if let Some(slot) = self.rival.take() {
            Word::store(&self.word, slot.0);
        }
        Word::replace(&self.word, old, new)
    }

    fn store(&self, word: u128) {
        Word::store(&self.word, word);
    }
}

#[test]
fn permit_whose_only_slot_goes_to_another_meanwhile_is_not_taken() {
    let other = Slot::held(TAG + 1, HeldSlot { ends_at: T + 10, holder: 4 });
    let word = AtomicU128::new(Slot::free(TAG).0);
    let set = [ContendedWord { word, rival: Cell::new(Some(other)) }];
    assert_eq!(take_until(&set, T, T + 20), None);
    assert_eq!(set[0].load(), other.0);
}
