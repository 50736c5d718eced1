//! What a lease takes from the limit of its bucket, and what of leases is counted.

use super::*;
use crate::guard::tests::{Folder, limit};
use crate::limit::{FixedWindow, SlidingWindow, State, TokenBucket, apply};
use crate::mapped::{LEASES, Location, MappedFile, Purpose};

/// When a bucket of 100 tokens is full that has so many at `T`.
fn full_at(tokens: u64) -> u64 {
    let took = apply(&limit(), &State::FULL.into(), T, Op::Take { cost: 100 - tokens }).0;
    took.expires_at
}

#[test]
fn batch_is_at_most_a_quarter_of_the_bucket_and_leaves_a_quarter() {
    for (batch, full_at, up_to) in [
        (8, Some(T), Some(8)),
        (64, Some(T), Some(25)),
        (64, Some(full_at(60)), Some(25)),
        (64, Some(full_at(30)), Some(5)),
        (64, Some(full_at(26)), None),
        (64, Some(full_at(10)), None),
        (8, None, None),
    ] {
        let fetch = Fetch { number: 1, batch, left_over: 0, spent: 0, level: full_at.map(full) };
        // A moment later, so that all of the tokens are there.
        match fetch.op(&limit(), 1, T + 1) {
            Op::Lease { most, least: 1, known: 0, fresh: 1.., spent: 0 } => {
                assert_eq!(up_to, Some(most));
            }
            op => assert_eq!((op, up_to), (Op::Take { cost: 1 }, None)),
        }
    }
    let fetch = Fetch { number: 1, batch: 8, left_over: 0, spent: 3, level: Some(full(T)) };
    for cost in [8, 9] {
        assert_eq!(fetch.op(&limit(), cost, T), Op::Take { cost }, "the call needs as many itself");
    }
    // The server still counts tokens as held, so it is told.
    let fetch = Fetch { level: Some(counted(full(T), 4)), ..fetch };
    let told = fetch.op(&limit(), 9, T);
    assert!(matches!(told, Op::Lease { most: 9, least: 9, known: 5, spent: 3, .. }), "{told:?}");
}

#[test]
fn bucket_is_scarce_with_less_than_a_quarter_left() {
    for (left, scarce) in [(0, true), (24, true), (25, false), (26, false), (100, false)] {
        let decision = apply(&limit(), &State::FULL.into(), T, Op::Take { cost: 100 - left }).0;
        assert_eq!(is_scarce(&limit(), &decision), scarce);
        assert_eq!(missing(&limit(), &decision), 100 - left);
    }
}

#[test]
fn limits_are_told_apart_by_a_few_bits() {
    let hash = |capacity| {
        LeaseKey::limit_hash(&TokenBucket::per_second(capacity, 5.0).unwrap().into()).unwrap()
    };
    assert_eq!(hash(9), hash(9));
    let hashes: std::collections::HashSet<_> = (1..=50).map(hash).collect();
    assert!(hashes.iter().all(|hash| *hash < 1 << LIMIT_BITS));
    assert!(hashes.len() > 40, "two of 50 limits may have the same");
    let window = |interval| LeaseKey::limit_hash(&FixedWindow::new(9, interval).unwrap().into());
    assert!(window(1.0) != window(2.0) && window(1.0).is_some());
    let sliding = SlidingWindow::new(9, 1.0).unwrap();
    assert_eq!(LeaseKey::limit_hash(&sliding.into()), None, "it has no leases");
}

#[test]
fn buckets_with_tokens_to_hand_out_are_counted() {
    let folder = Folder::new();
    let file = MappedFile::new(Location::new(&folder.files(), LEASES, Purpose::Leases));
    file.open().unwrap();
    let region = file.region();
    let region = region.as_ref().unwrap();
    let hour = (boot_time() + 3_600 * SECOND) >> UNIT_BITS;
    let busy = Lease { tag: 7, tokens: 3, valid_until: hour, ..Lease::default() };
    let leases = [
        [busy, busy],
        [busy, Lease { tokens: 0, ..busy }],
        [Lease { valid_until: 5, ..busy }, busy],
    ];
    let sets = region.area::<Set>(Area::Leases);
    for (set, leases) in sets.iter().zip(leases) {
        for (words, lease) in set.0.chunks(WORDS).zip(leases) {
            words[0].store(lease.to_word(), Ordering::Relaxed);
            // The note of another bucket looks like a lease.
            words[1].store(busy.to_word(), Ordering::Relaxed);
        }
    }
    let counted = usage(region);
    assert_eq!((counted.slots, counted.used), (32_704, 4));
}
