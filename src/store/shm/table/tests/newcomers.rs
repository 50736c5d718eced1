//! What a newcomer changes in its set, and what it leaves as it is.

use super::*;

const TAKE: Op = Op::Take { cost: 1 };

/// A bucket that is full again after so many seconds.
fn bucket(capacity: i64, seconds: f64) -> Limit {
    TokenBucket::per_period(capacity, seconds).unwrap().into()
}

#[test]
fn newcomer_that_leaves_nothing_to_remember_gets_no_slot() {
    let (set, limit) = (set_of(2), bucket(5, 60.0));
    let refund = Op::Refund { cost: 1, expiry: None };
    for op in [Op::Peek { cost: 1 }, Op::Take { cost: 6 }, Op::Take { cost: 0 }, refund, Op::Reset]
    {
        decide(&set, 1, &limit, op, T0);
        assert_eq!(slots_in(&set), [Slot::EMPTY; 2], "{op:?}");
    }
}

#[test]
fn newcomer_that_time_fills_evicts_no_client_while_it_is_denied() {
    let (set, limit) = (set_of(2), bucket(5, 300.0));
    assert!((1..=2).all(|tag| call(&set, tag, &limit, Op::Take { cost: 4 }, T0)));
    let before = slots_in(&set);
    assert!(!call(&set, 3, &limit, Op::Take { cost: 2 }, T0), "it starts with one token");
    assert_eq!(slots_in(&set), before);
    assert!(call(&set, 3, &limit, TAKE, T0));
}

#[test]
fn newcomer_that_finds_an_expired_slot_evicts_none_and_leaves_the_tombstone_as_it_is() {
    let tombstone = filling(7, T0 + 20 * SECOND).as_tombstone();
    let forgiven = State::Overdrawn { forgiven_at: T0 - SECOND, debt: 60 * SECOND };
    let from_future = filling(8, T0 + 2 * MAX_REFILL + 1);
    for expired in [filling(8, T0 - 1), Slot::committed(8, forgiven), from_future] {
        let others = filling(9, T0 + 30 * SECOND);
        let set = set_with([tombstone, expired, others]);
        let call =
            Call { limit: bucket(2, 60.0), op: TAKE, now: T0, decision: None, evicted: false };
        let call = update(&set, 1, T0, call);
        assert!(call.decision.unwrap().is_accepted() && !call.evicted);
        let taken = filling(1, T0 + 50 * SECOND);
        assert_eq!(slots_in(&set), [tombstone, taken, others]);
    }
}

#[test]
fn slot_is_in_use_until_it_expires_unless_no_limit_lasts_so_long() {
    for (expires_at, expected) in [
        (0, false),
        (T0, false),
        (T0 + 1, true),
        (T0 + 2 * MAX_REFILL, true),
        (T0 + 2 * MAX_REFILL + 1, false),
    ] {
        assert_eq!(is_in_use(filling(1, expires_at), T0), expected, "{expires_at}");
    }
}

#[test]
fn look_knows_what_a_newcomer_finds_unless_its_set_is_full_or_was() {
    let (taken, withdrawn) = (filling(2, T0 + 1), filling(2, T0).as_tombstone());
    let tombstone = taken.as_tombstone();
    let known = filling(1, T0 + 5);
    for (slots, expected) in [
        ([taken, Slot::EMPTY], Some(None)),
        ([Slot::claim(1, T0, 0), taken], Some(None)),
        ([withdrawn, taken], Some(None)),
        ([taken, known], Some(Some(known.state()))),
        ([tombstone, known], Some(Some(known.state()))),
        ([taken, taken], None),
        ([tombstone, Slot::EMPTY], None),
        ([Slot::EMPTY, tombstone], None),
    ] {
        let seen = match look(&set_with(slots), 1, T0) {
            Look::Known(_, slot) => Some(Some(slot.state())),
            Look::Free => Some(None),
            Look::Unclear => None,
        };
        assert_eq!(seen, expected, "{slots:?}");
    }
    let before_others = set_with([tombstone, Slot::EMPTY, taken]);
    assert!(matches!(look(&before_others, 1, T0), Look::Unclear));
}
