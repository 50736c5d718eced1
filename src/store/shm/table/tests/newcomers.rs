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
    // The second is from a clock that has gone back.
    for expired in [T0 - 1, T0 + 2 * MAX_REFILL + 1] {
        let others = filling(9, T0 + 30 * SECOND);
        let set = set_with([tombstone, filling(8, expired), others]);
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
