//! Leases that end, and batches that are given up on their way.

use super::*;

/// A lease of four tokens, three of which are left or whose next batch is on its way.
fn lease_of_four(set: &Set, is_fetching: bool) -> LeaseKey<'_> {
    let key = key(set, 7, 8);
    batch_of_four(&key);
    if is_fetching {
        assert!(matches!(key.take(3, T + 1, LONGEST), Step::Taken(_)));
        fetch(key.take(1, T + 1, LONGEST));
    }
    key
}

#[test]
fn bucket_whose_lease_was_ended_begins_anew() {
    for is_fetching in [false, true] {
        let set = set();
        let key = lease_of_four(&set, is_fetching);
        key.end(T + 2);
        let fetched = fetch(key.take(1, T + 2, LONGEST));
        assert_eq!((fetched.batch, fetched.left_over, fetched.level), (1, 0, None));
    }
}

#[test]
fn process_need_not_wait_for_a_batch_that_a_refund_has_made_too_many() {
    let set = set();
    let key = lease_of_four(&set, true);
    assert!(matches!(key.take(1, T + 2, LONGEST), Step::Await(_)));
    key.note_refund(3, &full(T + 30));
    let fetched = fetch(key.take(1, T + 2, LONGEST));
    assert_eq!(fetched.level, Some(full(T + 30)));
}

#[test]
fn ended_lease_takes_nothing_from_a_call_that_is_on_its_way() {
    let set = set();
    let key = key(&set, 7, 8);
    let fetched = fetch(key.take(1, T, LONGEST));
    key.end(T + 1);
    key.put(&fetched, 5, full(T), false, T, T + 2);
    assert_eq!(key.available(T + 2), None);
    assert_eq!(key.give_back(1, None, T + 2, |_| 9), None);
}
