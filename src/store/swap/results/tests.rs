//! Which room a result gets. `tests/swap_protocol.rs` lets processes interleave.

use super::*;
use crate::store::swap::key_record::{KeyRecord, Share};
use portable_atomic::AtomicU128;

#[test]
fn result_that_a_member_has_not_collected_is_kept_while_there_is_other_room() {
    let record: KeyRecord<AtomicU128, 3> = KeyRecord::new(|| AtomicU128::new(0));
    let batches = Batches { record: &record, secret: [2, 3] };
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
