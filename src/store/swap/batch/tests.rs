//! Batches: a member that lost its batch, and calls of two keys. `../tests.rs` decides in batches, `tests/swap_protocol.rs` lets processes interleave.

use super::*;
use crate::limit::SECOND;
use crate::store::swap::key_record::KeyRecord;
use portable_atomic::Ordering;

#[test]
fn member_of_a_batch_that_the_file_no_longer_holds_joins_again() {
    let record: KeyRecord = KeyRecord::new(|| AtomicU128::new(0));
    let batches = Batches { record: &record, secret: [2, 3] };
    let mut other = Caller::new(batches, 99);
    let Step::Ask(under_way) = other.step(0, SECOND, true) else { panic!("no call waits") };
    let mut member = Caller::new(batches, 1);
    assert!(matches!(member.step(0, SECOND, true), Step::Sleep(_)));
    release(batches, &under_way);
    // The batch is open, and has lost its member.
    let open = Control::from_word(record.control.load(Ordering::Relaxed));
    record.control.store(Control { members: 0, ..open }.to_word(), Ordering::Relaxed);
    let Step::Ask(batch) = member.step(0, SECOND, true) else { panic!("none asks") };
    assert_eq!(batch.share, Share::ALONE);
}

#[test]
fn call_of_another_key_waits_for_a_process_once_only() {
    let record: KeyRecord = KeyRecord::new(|| AtomicU128::new(0));
    let batches = Batches { record: &record, secret: [2, 3] };
    let Step::Ask(under_way) = Caller::new(batches, 99).step(0, SECOND, true) else {
        panic!("no call waits")
    };
    assert_eq!(extend(batches, &under_way, 2 * SECOND), under_way.share, "its key waits for it");
    let mut other = Caller::new(batches, 1);
    assert!(matches!(other.step(SECOND, 9 * SECOND, true), Step::Sleep(_)));
    // Its key's value is locked on the server.
    assert_eq!(extend(batches, &under_way, 20 * SECOND), under_way.share);
    assert!(matches!(other.step(2 * SECOND, 9 * SECOND, true), Step::Ask(_)));
    assert_eq!(extend(batches, &under_way, 20 * SECOND), Share::ALONE, "it was given up");
}
