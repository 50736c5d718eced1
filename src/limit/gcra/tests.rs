//! Properties that hold for any limits, times and calls.

use super::*;
use crate::bounds::{MAX_CAPACITY, MAX_DEBT, MAX_NOW, MAX_RATE, MAX_REFILL};
use crate::emptied::emptied;
use crate::error::LimitError;
use crate::reach::Debt;
use crate::span::{GRAIN, SECOND};
use proptest::prelude::*;

mod edges;

fn apply(limit: &TokenBucket, state: State, now: u64, op: Op) -> (Decision, State) {
    limit.apply(state, now, &op)
}

const T0: u64 = 1_000 * SECOND;

fn take(cost: u64) -> Op {
    Op::Take { cost }
}

fn limits() -> impl Strategy<Value = TokenBucket> {
    prop_oneof![
        (1i64..50, 0.01..1e3f64).prop_map(|(c, r)| TokenBucket::per_second(c, r)),
        (1i64..50, 1u32..50).prop_map(|(c, r)| TokenBucket::per_second(c, f64::from(r))),
        (1i64..50, 1u32..400).prop_map(|(l, w)| TokenBucket::per_period(l, f64::from(w))),
        (1i64..=MAX_CAPACITY.into(), 1.0..=MAX_RATE)
            .prop_map(|(c, r)| TokenBucket::per_second(c, r)),
    ]
    .prop_filter_map("a valid limit", Result::ok)
}

fn ops() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (0u64..4).prop_map(take),
        1 => (0u64..60).prop_map(take),
        2 => Just(Op::Check),
        1 => (0u64..4).prop_map(|cost| Op::Peek { cost }),
        1 => (0u64..4, 0u64..20).prop_map(|(cost, s)| Op::Reserve { cost, max_wait: s * SECOND }),
        1 => (0u64..4).prop_map(|cost| Op::Refund { cost, expiry: None }),
        1 => (0u64..60).prop_map(|cost| Op::Settle { cost, expiry: 0 }),
        1 => (1u64..6, 0u64..4).prop_map(|(least, leave)| Op::TakeUpTo { most: 5, least: least.min(5), leave }),
    ]
}

/// Steps of a clock that sometimes goes back, in nanoseconds.
fn steps() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => Just(0i64),
        4 => 0..SECOND as i64,
        2 => 0..60 * SECOND as i64,
        1 => -100 * SECOND as i64..0,
    ]
}

fn any_state() -> impl Strategy<Value = State> {
    let time = || prop_oneof![0..u64::MAX, 0..MAX_NOW, T0 - SECOND..T0 + 100 * SECOND];
    prop_oneof![
        (time(), 0..1u64 << 30)
            .prop_map(|(ns, part)| State::Filling { full_at: Span { ns, part } }),
        (time(), 0u32..1 << 24, any::<u8>())
            .prop_map(|(full_at, fraction, ahead)| State::Reserved { full_at, fraction, ahead }),
        (time(), time()).prop_map(|(forgiven_at, debt)| State::Overdrawn { forgiven_at, debt }),
        (time(), any::<u32>()).prop_map(|(until, asked)| State::Blocked {
            until,
            asked,
            number: 7
        }),
        (time(), any::<u32>()).prop_map(|(at, reach)| State::Emptied { at, reach }),
    ]
}

/// A span in parts of a nanosecond, without rounding.
fn parts(limit: &TokenBucket, span: Span) -> u128 {
    u128::from(span.ns) * u128::from(limit.parts) + u128::from(span.part)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn admissions_never_exceed_capacity_and_refill(
        limit in limits(),
        calls in prop::collection::vec((steps(), prop_oneof![Just(Op::Check), (0u64..6).prop_map(take)]), 1..200),
    ) {
        let (mut state, mut now, mut elapsed, mut admitted) = (State::FULL, T0, 0u64, 0u64);
        let mut forgiven = 0u128;
        for (step, op) in calls {
            let next = now.saturating_add_signed(step);
            elapsed += next.saturating_sub(now);
            now = next;
            if let State::Overdrawn { forgiven_at, .. } = state && forgiven_at <= now {
                // A silent client starts afresh: the only way to get more than the rate.
                forgiven += u128::from(limit.capacity);
            }
            let (decision, after) = apply(&limit, state, now, op);
            state = after;
            if decision.is_accepted() {
                admitted += match op { Op::Take { cost } => cost, _ => 1 };
            }
        }
        let taken = (u128::from(admitted)).saturating_sub(forgiven) * parts(&limit, limit.interval);
        let allowed = parts(&limit, limit.full) + parts(&limit, Span::from_ns(elapsed));
        prop_assert!(taken <= allowed, "{} admitted in {} ns of {:?}", admitted, elapsed, limit);
    }

    #[test]
    fn denied_call_changes_nothing(
        limit in limits(),
        calls in prop::collection::vec((0..3 * SECOND, ops()), 1..100),
    ) {
        let (mut state, mut now) = (State::FULL, T0);
        for (step, op) in calls {
            now += step;
            let (decision, after) = apply(&limit, state, now, op);
            let reads = matches!(op, Op::Peek { .. } | Op::Take { cost: 0 });
            if reads || !decision.is_accepted() && op != Op::Check {
                prop_assert_eq!(after, state);
            }
            state = after;
        }
    }

    #[test]
    fn retry_after_is_exact(
        limit in limits(),
        calls in prop::collection::vec((0..SECOND, ops()), 1..60),
        cost in 1u64..50,
    ) {
        let (mut state, mut now) = (State::FULL, T0);
        for (step, op) in calls {
            now += step;
            let (decision, after) = apply(&limit, state, now, op);
            state = after;
            if !decision.is_accepted() && decision.retry_at != Decision::NEVER {
                prop_assert!(decision.retry_at > now);
                prop_assert!(!apply(&limit, state, decision.retry_at - 1, op).0.is_accepted(), "{:?} {:?}", op, state);
                prop_assert!(apply(&limit, state, decision.retry_at, op).0.is_accepted(), "{:?} {:?}", op, state);
            }
        }
        let (decision, _) = apply(&limit, state, now, take(cost));
        if cost > limit.capacity {
            prop_assert_eq!(decision.retry_at, Decision::NEVER);
        } else if !decision.is_accepted() {
            prop_assert!(!apply(&limit, state, decision.retry_at - 1, take(cost)).0.is_accepted());
            prop_assert!(apply(&limit, state, decision.retry_at, take(cost)).0.is_accepted());
        }
        // The bucket is full at `full_at`, and not before.
        let (decision, _) = apply(&limit, state, now, Op::Peek { cost });
        let full = |at: u64| apply(&limit, state, at, Op::Peek { cost: 0 }).0.available.refill_time() == limit.full;
        prop_assert!(full(decision.expires_at));
        prop_assert!(decision.expires_at == now || !full(decision.expires_at - 1));
    }

    #[test]
    fn remaining_tokens_can_be_taken_and_no_more(
        limit in limits(),
        calls in prop::collection::vec((0..SECOND, ops()), 1..60),
    ) {
        let (mut state, mut now) = (State::FULL, T0);
        for (step, op) in calls {
            now += step;
            let (decision, after) = apply(&limit, state, now, op);
            state = after;
            let left = limit.tokens_in(decision.available.refill_time());
            prop_assert!(apply(&limit, state, now, take(left)).0.is_accepted());
            prop_assert!(!apply(&limit, state, now, take(left + 1)).0.is_accepted());
        }
    }

    #[test]
    fn no_input_panics(
        limit in limits(), state in any_state(), now in 0..=MAX_NOW,
        cost in prop_oneof![0u64..100, Just(u64::MAX)], max_wait: u64,
    ) {
        for op in [
            take(cost), Op::Peek { cost }, Op::Check, Op::Reserve { cost, max_wait },
            Op::Refund { cost, expiry: None }, Op::Reset, Op::TakeUpTo { most: cost, least: cost / 2, leave: cost / 3 },
            Op::Block { duration: max_wait }, Op::Settle { cost, expiry: max_wait }, Op::Refund { cost, expiry: Some(max_wait) },
            Op::Start { missing: now },
        ] {
            let (decision, after) = apply(&limit, state, now, op);
            let (again, _) = apply(&limit, after, now, Op::Peek { cost: 1 });
            prop_assert!(limit.tokens_in(decision.available.refill_time()) <= limit.capacity);
            prop_assert!(again.reset_after().is_finite());
        }
    }

    #[test]
    fn clock_that_went_back_denies_for_at_most_one_refill(
        limit in limits(), back in 0..T0, calls in 1u32..40,
    ) {
        let mut state = State::FULL;
        for i in 0..calls {
            let op = if i % 3 == 0 { Op::Check } else { take(1) };
            state = apply(&limit, state, T0, op).1;
        }
        let now = T0 - back;
        let (decision, state) = apply(&limit, state, now, take(1));
        let refilled = ceil_to_grain(ceil_to_grain(now) + limit.full.ceil());
        prop_assert!(decision.retry_at <= refilled);
        prop_assert!(apply(&limit, state, refilled, take(limit.capacity)).0.is_accepted() || decision.is_accepted());
    }

    #[test]
    fn full_bucket_gives_its_capacity_and_no_more(capacity in 1i64..3_000, rate in 1e-4..1e9f64) {
        let limit = TokenBucket::per_second(capacity, rate).unwrap();
        let mut state = State::FULL;
        for _ in 0..capacity {
            let (decision, after) = apply(&limit, state, T0, take(1));
            prop_assert!(decision.is_accepted());
            state = after;
        }
        prop_assert!(!apply(&limit, state, T0, take(1)).0.is_accepted());
    }

    #[test]
    fn saturated_bucket_does_not_drift(rate in 1u32..5_000, seconds in 1u64..400_000) {
        // A bucket that is kept empty gives exactly rate * seconds.
        let all = u64::from(rate) * seconds + 1;
        let limit = TokenBucket::per_second(all as i64, rate.into()).unwrap();
        let (_, mut state) = apply(&limit, State::FULL, T0, take(all));
        let now = T0 + seconds * SECOND;
        for _ in 0..3 {
            state = apply(&limit, state, now, take(all / 4)).1;
        }
        let left = all - 1 - all / 4 * 3;
        prop_assert_eq!(limit.tokens_in(apply(&limit, state, now, Op::Peek { cost: 0 }).0.available.refill_time()), left);
    }

    /// The rule of the published PDO class, in exact fractions, without its two faults: it had no
    /// lock, and its refill went beyond the limit.
    #[test]
    fn check_follows_the_published_rule(
        limit in 1i64..12, window in 1i64..40,
        steps in prop::collection::vec(prop_oneof![Just(0u64), 1u64..50, 1u64..900], 1..200),
    ) {
        // Steps of 100 ms. A token is `window` * 10 units, a step refills `limit` units.
        let (token, full) = (window * 10, limit * window * 10);
        let (mut balance, mut now, mut filled) = (full, 0i64, 0i64);
        let bucket = TokenBucket::per_period(limit, window as f64).unwrap();
        let mut state = State::FULL;
        for step in steps {
            now += step as i64;
            if now - filled >= window * 10 { balance = full }
            balance = (balance + (now - filled) * limit).min(full) - token;
            filled = now;
            let (decision, after) = apply(&bucket, state, T0 + now as u64 * SECOND / 10, Op::Check);
            state = after;
            // An overdrawn bucket is kept in units of a microsecond, rounded against the caller: where the
            // published rule is exactly at zero, this one may still be less than a unit below.
            if balance != 0 {
                prop_assert_eq!(decision.is_accepted(), balance >= 0, "balance {}", balance);
            } else if !decision.is_accepted() {
                prop_assert!(window * 1_000_000_000 % (limit * GRAIN as i64) != 0);
                break;
            }
        }
    }

    #[test]
    fn reserved_tokens_have_come_back_after_the_wait(
        limit in limits(), costs in prop::collection::vec((1u64..50, 0..SECOND), 1..40),
    ) {
        let (mut state, mut now, mut taken) = (State::FULL, T0, 0u64);
        for (cost, step) in costs {
            now += step;
            let (decision, after) = apply(&limit, state, now, Op::Reserve { cost, max_wait: MAX_DEBT });
            prop_assert_eq!(decision.is_accepted(), cost <= limit.capacity);
            if decision.is_accepted() {
                taken += cost;
                // Everything reserved so far has come back when the wait ends.
                let elapsed = Span::from_ns(now - T0 + decision.wait);
                let came = parts(&limit, limit.full) + parts(&limit, elapsed);
                prop_assert!(u128::from(taken) * parts(&limit, limit.interval) <= came);
            }
            state = after;
        }
    }
}

#[test]
fn reservations_do_not_drift() {
    for rate in [3.0, 700_000.0, 999_999_999.0] {
        let limit = TokenBucket::per_second(1, rate).unwrap();
        let (mut state, mut wait) = (State::FULL, 0);
        let reserve = Op::Reserve { cost: 1, max_wait: MAX_DEBT };
        let rounds = 100_001;
        for _ in 0..rounds {
            let (decision, after) = apply(&limit, state, T0, reserve);
            (state, wait) = (after, decision.wait);
        }
        // The last one waits for all before it, rounded up by a nanosecond at most.
        let exact = (f64::from(rounds - 1) * 1e9 / rate).ceil() as u64;
        assert!((exact..=exact + 1).contains(&wait), "{wait} ns at {rate}");
    }
}

#[test]
fn reservation_on_top_of_the_longest_debt_is_charged() {
    let limit = TokenBucket::per_second(2, 2.0 * SECOND as f64 / MAX_REFILL as f64).unwrap();
    let overdrawn =
        State::Overdrawn { forgiven_at: T0 + limit.full.ceil(), debt: MAX_DEBT - GRAIN };
    let (decision, state) =
        apply(&limit, overdrawn, T0, Op::Reserve { cost: 2, max_wait: MAX_DEBT });
    // The debt is forgiven by then.
    assert_eq!((decision.is_accepted(), decision.wait), (true, limit.full.ceil()));
    // Both tokens are taken by then: the next one comes back half a refill later, or after that.
    let served = T0 + decision.wait;
    let next = apply(&limit, state, served, take(1)).0;
    assert!(!next.is_accepted() && next.retry_at >= served + limit.full.ns / 2, "{next:?}");
}

#[test]
fn checked_client_stays_limited_until_it_is_silent_for_a_refill() {
    let limit = TokenBucket::per_period(3, 30.0).unwrap();
    let check = |state, seconds: u64| apply(&limit, state, T0 + seconds * SECOND, Op::Check);
    let mut state = State::FULL;
    for second in 0..=100 {
        let (decision, after) = check(state, second);
        assert_eq!(decision.is_accepted(), second < 3, "second {second}");
        state = after;
    }
    assert!(!check(state, 129).0.is_accepted());
    assert!(check(state, 130).0.is_accepted());
    assert_eq!(limit.tokens_in(check(state, 130).0.available.refill_time()), 2);
}

#[test]
fn reservation_makes_no_debt_of_denied_checks_last() {
    let limit = TokenBucket::per_second(10, 1.0).unwrap();
    let mut state = State::FULL;
    for _ in 0..1_000 {
        state = apply(&limit, state, T0, Op::Check).1;
    }
    let reserve = Op::Reserve { cost: 1, max_wait: 3_600 * SECOND };
    let (decision, mut state) = apply(&limit, state, T0, reserve);
    assert_eq!((decision.taken, decision.wait), (1, 10 * SECOND));
    let (next, after) = apply(&limit, state, T0, reserve);
    assert_eq!((next.taken, next.wait), (1, 11 * SECOND), "in turn");
    state = after;
    let peek = apply(&limit, state, T0 + 21 * SECOND, Op::Peek { cost: 10 }).0;
    assert!(peek.is_accepted());
}

#[test]
fn call_by_longer_numbers_takes_nothing_of_what_shorter_ones_reserved_or_settled() {
    let short = TokenBucket::per_second(10, 1.0).unwrap();
    let long = TokenBucket::per_period(10, 100.0).unwrap();
    let take = Op::Take { cost: 1 };
    let waits =
        |limit: &TokenBucket, state| apply(limit, state, T0, Op::Peek { cost: 1 }).0.retry_at - T0;
    for (op, owed) in [
        (Op::Reserve { cost: 10, max_wait: 3_600 * SECOND }, 11 * SECOND),
        (Op::Settle { cost: 7, expiry: T0 + 10 * SECOND }, 8 * SECOND),
    ] {
        let (_, empty) = apply(&short, State::FULL, T0, Op::Take { cost: 10 });
        let (_, owing) = apply(&short, empty, T0, op);
        assert_eq!(waits(&short, owing), owed);
        let (by_long, after) = apply(&long, owing, T0, take);
        assert!(by_long.is_accepted() && waits(&short, after) >= owed, "{op:?}: {after:?}");
        let by_short = apply(&short, after, T0 + owed + 10 * SECOND, take).0;
        assert!(by_short.is_accepted(), "{op:?}: no more than one refill longer");
    }
}

#[test]
fn limit_out_of_range_is_refused() {
    let bucket = TokenBucket::per_second;
    assert_eq!(bucket(0, 1.0), Err(LimitError::Capacity));
    assert_eq!(bucket(-1, 1.0), Err(LimitError::Capacity));
    assert_eq!(bucket(1 << 31, 1.0), Err(LimitError::Capacity));
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(bucket(10, rate), Err(LimitError::Rate));
    }
    assert_eq!(bucket(10, 1e9 + 1.0), Err(LimitError::RateTooHigh));
    for rate in [1e-8, 1e-9, 1e-20, 1e-300] {
        assert_eq!(bucket(10, rate), Err(LimitError::RefillTooLong));
    }
    assert_eq!(bucket(2, 1.0 / 63_115_201.0), Err(LimitError::RefillTooLong));
    assert!(bucket(2, 1.0 / 63_115_200.0).is_ok());
    assert!(bucket(MAX_CAPACITY.into(), 1e9).is_ok());
    assert_eq!(TokenBucket::per_period(10, 0.0), Err(LimitError::Interval));
    assert_eq!(TokenBucket::per_period(10, f64::NAN), Err(LimitError::Interval));
    for period in [1.3e8, 1e10, 1e19] {
        assert_eq!(TokenBucket::per_period(10, period), Err(LimitError::Interval));
    }
    assert_eq!(TokenBucket::per_period(2_000_000_000, 1.0), Err(LimitError::RateTooHigh));
    assert!(TokenBucket::per_period(1_000_000_000, 1.0).is_ok());
    assert!(TokenBucket::per_nanosecond(MAX_REFILL).is_ok());
}
