//! What becomes of a claim when another slot has its key.

use super::*;

const TAG: u64 = 5;

fn claim(tag: u64) -> Slot {
    Slot::claim(tag, T0, 0)
}

/// Commits the claim of the key in slot `at`. Returns whether that is done, and what stands in the set.
fn commit_at(at: usize, slots: [Slot; 3]) -> (bool, Vec<Slot>) {
    let (set, limit) = (set_with(slots), TokenBucket::per_period(2, 60.0).unwrap().into());
    let mut call =
        Call { limit, op: Op::Take { cost: 1 }, now: T0, decision: None, evicted: false };
    let is_done = matches!(commit(&set, at, TAG, &mut call), InsertStep::Done);
    (is_done, slots_in(&set))
}

#[test]
fn claim_that_stands_alone_is_committed() {
    let (taken, other) = (filling(TAG, T0 + 30 * SECOND), filling(6, T0 + 1));
    assert_eq!(commit_at(1, [other, claim(TAG), claim(7)]), (true, vec![other, taken, claim(7)]));
}

#[test]
fn of_two_claims_of_a_key_the_later_one_is_withdrawn() {
    let (first, both) = (claim(TAG), [claim(TAG), filling(6, T0 + 1), claim(TAG)]);
    let left = vec![first, both[1], first.as_tombstone()];
    for at in [0, 2] {
        assert_eq!(commit_at(at, both), (false, left.clone()), "{at}");
    }
}

#[test]
fn claim_is_withdrawn_if_its_key_is_committed() {
    let (committed, withdrawn) = (filling(TAG, T0 + 1), claim(TAG).as_tombstone());
    for (at, other) in [(0, 2), (2, 0)] {
        let mut slots = [Slot::EMPTY; 3];
        (slots[at], slots[other]) = (claim(TAG), committed);
        let (is_done, after) = commit_at(at, slots);
        assert_eq!((is_done, after[at], after[other]), (false, withdrawn, committed));
    }
}

#[test]
fn only_a_claim_of_the_key_is_committed() {
    for slot in [claim(6), filling(TAG, T0 + 1), Slot::EMPTY] {
        let slots = [slot, Slot::EMPTY, Slot::EMPTY];
        assert_eq!(commit_at(0, slots), (false, slots.to_vec()));
    }
}

#[test]
fn slot_owes_as_much_as_another_only_if_it_owes_it_for_as_long() {
    let (debt, long) = (State::Overdrawn { forgiven_at: 1_000, debt: 90_000 }, filling(1, 50_000));
    let debt = Slot::committed(1, debt);
    assert!(owes_at_least(debt, debt) && owes_at_least(long, filling(2, 40_000)));
    assert!(!owes_at_least(debt, long) && !owes_at_least(long, debt));
    assert!(!owes_at_least(filling(2, 40_000), long));
}
