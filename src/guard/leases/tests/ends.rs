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
fn what_was_handed_out_is_told_until_the_server_knows_it() {
    for (is_denied, spent) in [(true, 3), (false, 0)] {
        let set = set();
        let key = lease_of_four(&set, false);
        assert!(matches!(key.take(3, T + 1, LONGEST), Step::Taken(_)));
        let fetched = fetch(key.take(1, T + 2, LONGEST));
        assert_eq!(fetched.spent, 3);
        key.give_up(&fetched, false, is_denied);
        assert_eq!(fetch(key.take(1, T + 3, LONGEST)).spent, spent);
    }
}

#[test]
fn lease_that_has_ended_gives_back_with_the_next_batch_what_it_got() {
    let set = set();
    let key = lease_of_four(&set, false);
    assert!(matches!(key.take(2, T + 1, LONGEST), Step::Taken(_)));
    let later = T + LIFETIME + SECOND / 2;
    assert_eq!(key.give_back(5, None, later, |_| 9).map(|(_, put)| put), Some(2));
    let fetched = fetch(key.take(1, later, LONGEST));
    assert_eq!((fetched.left_over, fetched.spent), (3, 0));
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
