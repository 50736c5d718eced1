//! Leases of more buckets than a set has room for.

use super::*;

#[test]
fn late_batch_of_a_lease_that_lost_its_place_is_lost() {
    let set = set();
    let own = key(&set, 7, 8);
    let late = fetch(own.take(1, T, LONGEST));
    // Its process is paused, and others need the places.
    let now = T + 2 * LONGEST;
    for tag in 10..10 + (WAYS / WORDS) as u64 {
        fetch(key(&set, tag, 8).take(1, now, LONGEST));
    }
    assert!(own.find().is_none());
    // Later, the bucket has a place again.
    let now = T + SECOND;
    let fetched = fetch(own.take(1, now, LONGEST));
    own.put(&late, 5, full(T), false, now, now);
    assert_eq!(own.available(now), None);
    own.put(&fetched, 3, full(T), false, now, now);
    assert_eq!(own.available(now).unwrap().rest, 3);
}

#[test]
fn bucket_gets_the_place_of_one_that_has_no_tokens_to_hand_out() {
    let set = set();
    let others: Vec<_> = (10..10 + (WAYS / WORDS) as u64).map(|tag| key(&set, tag, 4)).collect();
    others.iter().for_each(batch_of_four);
    let own = key(&set, 7, 8);
    assert_eq!(own.take(1, T + 1, LONGEST), Step::Ask, "all have tokens");
    assert!(matches!(others[1].take(3, T + 1, LONGEST), Step::Taken(_)));
    let fetched = fetch(own.take(1, T + 1, LONGEST));
    assert!(others[1].find().is_none());
    assert_eq!(others[1].take(1, T + 1, LONGEST), Step::Ask, "a batch is on its way");
    own.put(&fetched, 2, full(T), false, T + SECOND, T + SECOND);
    assert!(matches!(others[1].take(1, T + LIFETIME, LONGEST), Step::Fetch(_)));
    assert!(others[0].find().is_none(), "it has ended first");
}
