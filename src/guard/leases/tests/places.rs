//! Leases of more buckets than a set has room for.

use super::*;

#[test]
fn late_batch_of_a_lease_that_lost_its_place_is_lost() {
    let set = set();
    let own = key(&set, 7, 8);
    let late = fetch(own.take(1, T, LONGEST));
    // Its process is paused, and others need the places.
    let now = T + 2 * LONGEST;
    for tag in 10..10 + (WAYS / 2) as u64 {
        fetch(key(&set, tag, 8).take(1, now, LONGEST));
    }
    assert!(own.find().is_none());
    // Later, the bucket has a place again.
    let now = T + SECOND;
    let fetched = fetch(own.take(1, now, LONGEST));
    own.put(&late, 5, T, false, now, now);
    assert_eq!(own.available(now), None);
    own.put(&fetched, 3, T, false, now, now);
    assert_eq!(own.available(now).unwrap().rest, 3);
}
