//! Which room a result gets, and which members find it. `tests/swap_protocol.rs` lets processes interleave.

use super::*;
use crate::limit::StoredState;
use crate::mapped::word::Word;
use crate::store::swap::basis::BasisState;
use crate::store::swap::key_record::Share;
use crate::store::swap::key_record::tests::{batches, record};

#[test]
fn result_that_a_member_has_not_collected_is_kept_while_there_is_other_room() {
    let record = record::<3>();
    let batches = batches(&record);
    let share = Share { index: 0, count: 2 };
    let place = |number: u32, ms: u64| {
        let room = reserve(batches, &Batch { number, kind: 1, share }, ms * 1_000_000)?;
        record.results.iter().position(|words| std::ptr::eq(words, room.words))
    };
    assert_eq!(place(1, 0), Some(0));
    assert_eq!(place(2, 900), Some(1), "the first one's member may be suspended");
    assert_eq!(place(3, 1_050), Some(2));
    assert_eq!(place(4, 1_060), Some(0), "the oldest");
    assert_eq!(place(5, 1_060), Some(1), "the oldest now");
    assert_eq!(place(6, 1_060), None, "none is old");
}

const KIND: u64 = 1;
const MS: u64 = 1_000_000;

/// Batch 7, of three members.
const BATCH: Batch = Batch { number: 7, kind: KIND, share: Share { index: 0, count: 3 } };
const NEXT: Batch = Batch { number: 8, ..BATCH };

fn basis() -> Basis {
    Basis { state: BasisState::Whole(StoredState::FULL), now: 5 }
}

#[test]
fn room_makes_way_after_a_tenth_of_a_second_also_while_the_milliseconds_wrap() {
    for ms in [0, (1 << SINCE_BITS) - 50, 3 << SINCE_BITS] {
        let record = record::<1>();
        let has_room = |ms: u64| reserve(batches(&record), &BATCH, ms * MS).is_some();
        assert!(has_room(ms));
        assert!(!has_room(ms + KEPT_FOR));
        assert!(has_room(ms + KEPT_FOR + 1));
    }
}

#[test]
fn other_members_of_the_batch_find_its_result() {
    let record = record::<1>();
    let batches = batches(&record);
    let room = reserve(batches, &BATCH, MS).unwrap();
    assert_eq!(collect(batches, BATCH.number, KIND), None, "none is published");
    publish(batches, &room, KIND, &basis());
    assert_eq!(collect(batches, NEXT.number, KIND), None);
    assert_eq!(collect(batches, BATCH.number, KIND + 1), None);
    for left in [1, 0, 0] {
        assert_eq!(collect(batches, BATCH.number, KIND), Some(basis()));
        let [[.., last]] = &record.results;
        assert_eq!(Label::from_word(Word::load(last)).left, left);
    }
    assert!(reserve(batches, &NEXT, MS).is_some(), "all have it");
}

#[test]
fn room_that_was_lost_is_the_other_batchs() {
    let record = record::<1>();
    let batches = batches(&record);
    let lost = reserve(batches, &BATCH, 0).unwrap();
    let room = reserve(batches, &NEXT, 200 * MS).unwrap();
    publish(batches, &lost, KIND, &basis());
    assert_eq!(collect(batches, BATCH.number, KIND), None);
    give_up(&lost);
    publish(batches, &room, KIND, &basis());
    assert_eq!(collect(batches, NEXT.number, KIND), Some(basis()));
    give_up(&room);
    assert_eq!(collect(batches, NEXT.number, KIND), Some(basis()), "it is published already");
    let other = reserve(batches, &BATCH, 400 * MS).unwrap();
    give_up(&other);
    assert!(reserve(batches, &NEXT, 400 * MS).is_some(), "the room is free");
}
