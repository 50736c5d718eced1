//! Sets that are too small for their keys.

use super::*;
use crate::limit::{Algorithm, FixedWindow, Limit, Op, SECOND, TokenBucket, apply};
use portable_atomic::AtomicU128;
use proptest::prelude::*;

const T0: u64 = 1_000_000 * SECOND;
const KEYS: usize = 24;

struct Call {
    limit: Limit,
    op: Op,
    now: u64,
    accepted: bool,
}

impl Change for Call {
    fn apply(&mut self, state: State) -> Option<State> {
        let (decision, after) = apply(&self.limit, state, self.now, self.op);
        self.accepted = decision.accepted;
        (after != state).then_some(after)
    }

    fn take_over(&self, new_again_at: u64) -> State {
        match &self.limit {
            Limit::TokenBucket(bucket) => bucket.taking_over(new_again_at, self.now),
            Limit::FixedWindow(window) => window.taking_over(new_again_at, self.now),
        }
    }

    fn takes(&self) -> bool {
        true
    }

    fn pushed_out(&mut self) {}
}

fn call(set: &[AtomicU128], tag: u64, limit: &Limit, op: Op, now: u64) -> bool {
    let mut call = Call { limit: *limit, op, now, accepted: false };
    update(set, tag, now, &mut call);
    call.accepted
}

fn set_of(size: usize) -> Vec<AtomicU128> {
    (0..size).map(|_| AtomicU128::new(0)).collect()
}

/// Limits that take from a second to a day to be as new, and whether their clients are checked.
fn limits() -> Vec<(Limit, Op)> {
    let bucket = |capacity, window| TokenBucket::per_window(capacity, window).unwrap().into();
    let window = |limit, interval| FixedWindow::new(limit, interval).unwrap().into();
    let take = Op::Take { cost: 1 };
    vec![
        (bucket(10, 300), take),
        (bucket(3, 1), take),
        (bucket(2, 86_400), take),
        (bucket(5, 20), take),
        (window(4, 60.0), take),
        (window(1, 3.0), take),
        (bucket(3, 60), Op::Check),
        (bucket(10, 30), Op::Check),
    ]
}

fn state_of(set: &[AtomicU128], tag: u64) -> Option<State> {
    find_settled(set, tag).map(|(_, slot)| slot.state())
}

proptest! {
    /// Many more keys than a set has room for, of limits short and long: whoever was pushed out and
    /// comes back is not let in where he would not have been, had he stayed.
    #[test]
    fn who_was_pushed_out_gains_nothing(
        size in 2usize..=WAYS,
        calls in prop::collection::vec(
            (0..KEYS, 0usize..4, 0u64..40, prop_oneof![4 => Just(1), 1 => 1u32..200]),
            1..300,
        ),
    ) {
        let (set, limits) = (set_of(size), limits());
        // What each would have, were there room for all.
        let mut alone = [State::FULL; KEYS];
        let mut now = T0;
        for (key, scale, wait, times) in calls {
            now += wait * [0, 1, SECOND / 10, SECOND * 5][scale];
            let (limit, op) = &limits[key % limits.len()];
            let tag = key as u64 + 1;
            for _ in 0..times {
                let was_there = state_of(&set, tag).is_some();
                let accepted = call(&set, tag, limit, *op, now);
                let (decision, after) = apply(limit, alone[key], now, *op);
                let checks = *op == Op::Check;
                // What check() holds against him is not kept, but that he comes back to an empty bucket.
                let may_be = decision.accepted || checks && was_there;
                prop_assert!(!accepted || may_be, "{key} at {}", now - T0);
                alone[key] = match state_of(&set, tag) {
                    Some(state) if checks => state,
                    _ if accepted || checks => after,
                    _ => alone[key],
                };
            }
        }
    }

    /// Whatever has been pushed out of a set, it is forgotten once all of it is as good as new: then
    /// newcomers begin with a full bucket as long as there is a free slot.
    #[test]
    fn newcomers_begin_full_where_there_is_room(
        calls in prop::collection::vec((0..KEYS, 0usize..4, 0u64..40), 1..400),
        newcomer in 0usize..8,
    ) {
        let (set, limits) = (set_of(WAYS), limits());
        // Longest first, so that one bucket in use outlives all that is pushed out.
        let day = &limits[2].0;
        let mut now = T0;
        let mut last = T0;
        for (key, scale, wait) in calls {
            now += wait * [0, 1, SECOND / 10, SECOND * 5][scale];
            let (limit, op) = &limits[key % limits.len()];
            call(&set, key as u64 + 1, limit, *op, now);
            last = now;
        }
        // A day's bucket takes up to a day, and a check's window begins with its last.
        now = last + 86_400 * SECOND + 600 * SECOND;
        call(&set, 900, day, Op::Take { cost: 1 }, now);
        call(&set, 901, day, Op::Take { cost: 1 }, now);
        let (limit, op) = &limits[newcomer];
        let capacity = limit.capacity();
        let begun = (0..capacity).filter(|_| call(&set, 950, limit, *op, now)).count() as u64;
        prop_assert_eq!(begun, capacity);
    }
}

#[test]
fn a_debt_that_is_forgiven_soon_frees_nobody_else() {
    let limit = TokenBucket::per_window(10, 60).unwrap().into();
    let set = set_of(2);
    let check = |tag, at| call(&set, tag, &limit, Op::Check, T0 + at * SECOND);
    for _ in 0..110 {
        check(1, 0);
    }
    assert!((0..10).all(|_| check(2, 40)));
    check(3, 55);
    // Who hammered is forgiven by now. Who was pushed out has had 21 seconds, which are worth three.
    assert!((0..10).filter(|_| check(2, 61)).count() <= 3);
}

#[test]
fn what_was_pushed_out_is_forgotten_when_it_is_as_good_as_new() {
    let [day, minute] = [(2, 86_400), (5, 60)]
        .map(|(capacity, window)| Limit::from(TokenBucket::per_window(capacity, window).unwrap()));
    let set = set_of(WAYS);
    call(&set, 1, &day, Op::Take { cost: 1 }, T0);
    for i in 0..40 {
        call(&set, 10 + i, &minute, Op::Check, T0 + i * SECOND);
    }
    for hour in 1..48 {
        let now = T0 + hour * 3_600 * SECOND;
        // It stays in use.
        call(&set, 1, &day, Op::Take { cost: 1 }, now);
        assert!(call(&set, 1_000 + hour, &minute, Op::Take { cost: 5 }, now), "{hour} hours later");
    }
}
