//! Limits with other numbers on one bucket, call by call.

use super::*;
use crate::SECOND;
use crate::reach::UNIT;
use crate::{Limit, Op, StoredState, apply};
use proptest::prelude::*;

const T: u64 = 1_000_000 * SECOND;

fn per(capacity: i64, seconds: f64) -> Limit {
    TokenBucket::per_period(capacity, seconds).unwrap().into()
}

/// A bucket that limits of any numbers call.
struct Bucket {
    state: StoredState,
    now: u64,
}

impl Bucket {
    fn call(&mut self, limit: &Limit, op: Op) -> crate::Decision {
        let (decision, after) = apply(limit, &self.state, self.now, op);
        self.state = after;
        decision
    }

    fn take(&mut self, limit: &Limit) -> bool {
        self.call(limit, Op::Take { cost: 1 }).is_accepted()
    }

    /// How many calls are accepted now.
    fn take_all(&mut self, limit: &Limit) -> u64 {
        (0..).take_while(|_| self.take(limit)).count() as u64
    }
}

#[test]
fn reach_is_rounded_up_by_less_than_a_fifty_thousandth() {
    for ns in [
        0,
        1,
        999,
        1_000,
        1_001,
        1 << 28,
        134_217_729_000,
        3_600 * SECOND,
        126_230_400 * SECOND,
        8 * 31_557_600 * SECOND,
    ] {
        for debt in [Debt::of(0), Debt::of(31), Debt { refills: 127, is_ahead: true }] {
            let reach = to_reach(ns, debt);
            let back = from_reach(reach);
            assert!(back >= ns && back - ns <= UNIT + ns / 50_000, "{ns} became {back}");
            assert_eq!(to_reach(back, debt), reach, "it is rounded once");
            assert_eq!((debt_of(reach), reach >> 30), (debt, 0));
        }
    }
    let most = Debt { refills: 127, is_ahead: true };
    assert_eq!(to_reach(u64::MAX, most), (1 << 30) - 1);
}

#[test]
fn rounding_costs_no_more_than_what_was_there_when_the_numbers_changed() {
    let [short, long] = [per(100, 1.0), per(1_000_000, 3_600.0)];
    let mut bucket = Bucket { state: StoredState::FULL, now: T };
    // Half of the bucket of the longer limit, which empties the shorter one.
    assert!(bucket.call(&long, Op::Take { cost: 500_000 }).is_accepted());
    assert!(!bucket.take(&short));
    assert_eq!(bucket.take_all(&short), 0);
    bucket.now += 1_800 * SECOND;
    let accepted = bucket.take_all(&long);
    // Half a refill after a bucket that was empty.
    assert!((500_000..=1_000_000).contains(&accepted), "{accepted}");
}

#[test]
fn longer_limit_finds_no_token_that_it_gave_out_before_a_shorter_one_denied() {
    let (short, long) = (per(10, 10.0), per(10, 3_600.0));
    let mut bucket = Bucket { state: StoredState::FULL, now: T };
    assert_eq!(bucket.take_all(&long), 10);
    for _ in 0..20 {
        assert!(!bucket.take(&short) && !bucket.take(&long));
    }
    // The shorter one holds from its first call on, and waits no longer than it can ask for.
    bucket.now += SECOND - 1;
    assert_eq!(bucket.take_all(&short), 0);
    bucket.now += 1;
    assert_eq!(
        (bucket.take_all(&long), bucket.take_all(&short), bucket.take_all(&long)),
        (0, 1, 0)
    );
    bucket.now += 10 * SECOND;
    assert_eq!((bucket.take_all(&short), bucket.take_all(&long)), (10, 0));
}

#[test]
fn bucket_is_as_any_other_once_it_was_full_by_all_numbers() {
    let (short, long) = (per(10, 10.0), per(10, 60.0));
    let mut bucket = Bucket { state: StoredState::FULL, now: T };
    bucket.take_all(&long);
    assert!(!bucket.take(&short));
    bucket.now += 61 * SECOND;
    assert!(bucket.take(&short));
    assert_eq!(bucket.state, State::Filling { full_at: Span::from_ns(bucket.now + SECOND) }.into());
}

#[test]
fn call_is_settled_in_an_emptied_bucket_by_its_own_cost() {
    let (short, long) = (per(10, 10.0), per(10, 3_600.0));
    let mut bucket = Bucket { state: StoredState::FULL, now: T };
    let taken = bucket.call(&long, Op::Take { cost: 10 });
    assert!(!bucket.take(&short));
    let left = |bucket: &mut Bucket, limit: &Limit| {
        limit.remaining(&bucket.call(limit, Op::Peek { cost: 0 }))
    };
    bucket.call(&long, taken.settle(8));
    // The rounding of the reach keeps a moment back. The shorter one has denied by its own numbers.
    assert_eq!((left(&mut bucket, &long), left(&mut bucket, &short)), (1, 0));
    bucket.take_all(&long);
    let of_short = Op::Settle { cost: 3, expiry: 0 };
    bucket.call(&short, of_short);
    assert_eq!(
        (left(&mut bucket, &short), bucket.call(&short, Op::Take { cost: 1 }).retry_after()),
        (0, 4.0)
    );
    bucket.call(&short, Op::Refund { cost: 4, expiry: None });
    assert_eq!(left(&mut bucket, &short), 1);
    bucket.call(&long, Op::Refund { cost: 10, expiry: None });
    assert_eq!((left(&mut bucket, &long), left(&mut bucket, &short)), (10, 10));
}

#[test]
fn shorter_limit_gets_its_bucket_once_for_all_that_a_longer_one_gives_back() {
    let (short, long) = (per(10, 10.0), per(10, 3_600.0));
    let mut bucket = Bucket { state: StoredState::FULL, now: T };
    assert_eq!(bucket.take_all(&long), 10);
    assert!(!bucket.take(&short));
    bucket.now += 10 * SECOND;
    assert_eq!(bucket.take_all(&short), 10);
    let mut accepted = 0;
    for _ in 0..10 {
        assert!(bucket.call(&long, Op::Refund { cost: 1, expiry: None }).is_accepted());
        accepted += bucket.take_all(&short);
    }
    assert!(accepted <= 10, "{accepted} more");
}

#[test]
fn denied_check_is_not_charged_in_an_emptied_bucket_and_reservations_are() {
    let (short, long) = (per(10, 10.0), per(10, 3_600.0));
    let mut bucket = Bucket { state: StoredState::FULL, now: T };
    bucket.take_all(&long);
    for _ in 1..=30 {
        let denied = bucket.call(&short, Op::Check);
        assert_eq!((denied.is_accepted(), denied.retry_after()), (false, 1.0));
    }
    let reserve = Op::Reserve { cost: 1, max_wait: 40 * SECOND };
    for i in 1..=10 {
        assert_eq!(bucket.call(&short, reserve).wait(), f64::from(i));
    }
    let denied = bucket.call(&short, reserve);
    assert_eq!((denied.is_accepted(), denied.retry_after()), (false, 1.0));
}

#[test]
fn longer_limit_keeps_what_it_reserved_in_an_emptied_bucket() {
    let (short, long) = (per(10, 10.0), per(10, 3_600.0));
    let reserve = Op::Reserve { cost: 10, max_wait: 3_600 * SECOND };
    let mut bucket = Bucket { state: StoredState::FULL, now: T };
    bucket.take_all(&long);
    assert!(!bucket.take(&short));
    assert!(bucket.call(&long, reserve).is_accepted());
    for _ in 0..20 {
        assert!(!bucket.take(&short) && !bucket.call(&long, reserve).is_accepted());
    }
    bucket.now += 20 * SECOND;
    assert_eq!((bucket.take_all(&short), bucket.take_all(&long)), (10, 0));
}

#[test]
fn shorter_limit_waits_for_as_many_refills_as_the_longer_one_reserved_which_it_does_not_take_away()
{
    let (short, long) = (per(10, 10.0), per(10, 3_600.0));
    let reserve = Op::Reserve { cost: 10, max_wait: 7_200 * SECOND };
    let mut bucket = Bucket { state: StoredState::FULL, now: T };
    for wait in [0.0, 3_600.0, 7_200.0] {
        assert_eq!(bucket.call(&long, reserve).wait(), wait);
    }
    for _ in 0..20 {
        assert!(!bucket.take(&short) && !bucket.call(&short, Op::Check).is_accepted());
        assert!(!bucket.call(&long, reserve).is_accepted());
    }
    // Two refills of its own.
    bucket.now += 20 * SECOND;
    assert_eq!(bucket.take_all(&short), 0);
    bucket.now += 10 * SECOND;
    assert_eq!(bucket.take_all(&short), 10);
    // One capacity was taken, two are reserved, and the shorter one took ten seconds' worth.
    bucket.now = T + (3 * 3_600 + 9) * SECOND;
    assert!(!bucket.call(&long, Op::Take { cost: 10 }).is_accepted());
    bucket.now += 2 * SECOND;
    assert!(bucket.call(&long, Op::Take { cost: 10 }).is_accepted());
}

#[test]
fn denied_check_forgives_neither_reservations_nor_further_charges() {
    let limit = per(10, 10.0);
    let reserve = Op::Reserve { cost: 5, max_wait: 100 * SECOND };
    let mut bucket = Bucket { state: StoredState::FULL, now: T };
    for wait in [0.0, 0.0, 5.0, 10.0] {
        assert_eq!(bucket.call(&limit, reserve).wait(), wait);
    }
    assert!(!bucket.call(&limit, Op::Check).is_accepted());
    assert_eq!(bucket.call(&limit, reserve).wait(), 15.0);
    // What was overdrawn by checks is forgiven, not what is charged after that.
    let mut bucket = Bucket { state: StoredState::FULL, now: T };
    for i in 0..30 {
        assert_eq!(bucket.call(&limit, Op::Check).is_accepted(), i < 10);
    }
    bucket.call(&limit, Op::Settle { cost: 4, expiry: 0 });
    assert!(!bucket.call(&limit, Op::Check).is_accepted());
    bucket.now += 13 * SECOND;
    assert_eq!(bucket.take_all(&limit), 9);
}

#[test]
fn clock_that_went_back_empties_a_bucket_for_one_refill() {
    let limit = per(10, 10.0);
    let mut bucket = Bucket { state: StoredState::FULL, now: T };
    bucket.take_all(&limit);
    for back in [864_000, 86_400] {
        bucket.now -= back * SECOND;
        assert!(!bucket.take(&limit));
        bucket.now += 10 * SECOND;
        assert_eq!(bucket.take_all(&limit), 10);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Old and new workers side by side, whatever the numbers: what both buckets hold, and what the faster one gets back.
    #[test]
    fn two_sets_of_numbers_admit_what_both_hold_and_one_gets_back(
        a in (1i64..30, 1u32..5_000), b in (1i64..30, 1u32..5_000),
        calls in prop::collection::vec((any::<bool>(), 0u8..6, prop_oneof![3 => Just(0u64), 1 => 0..90u64]), 1..400),
    ) {
        let limits = [a, b].map(|(capacity, seconds)| per(capacity, seconds.into()));
        let mut bucket = Bucket { state: StoredState::FULL, now: T };
        let (mut served_at, mut owes) = (Vec::new(), false);
        for (is_second, op, seconds) in calls {
            bucket.now += seconds * SECOND;
            let op = match op {
                0 => Op::Reserve { cost: 1, max_wait: seconds * 10 * SECOND },
                1 => Op::Settle { cost: 1, expiry: 0 },
                2 | 3 => Op::Check,
                _ => Op::Take { cost: 1 },
            };
            owes |= matches!(op, Op::Reserve { .. } | Op::Settle { .. });
            let limit = &limits[usize::from(is_second)];
            let decision = bucket.call(limit, op);
            if decision.is_accepted() && !op.settles() {
                served_at.push(bucket.now + decision.wait);
            }
            prop_assert!(owes || decision.retry_at <= bucket.now + 2 * limit.window() + 1_000);
        }
        let accepted = served_at.into_iter().filter(|at| *at <= bucket.now).count();
        let rate = [a, b].map(|(capacity, seconds)| capacity as f64 / f64::from(seconds)).into_iter().fold(0.0, f64::max);
        let back = (bucket.now - T) as f64 / 1e9 * rate;
        prop_assert!(accepted as f64 <= (a.0 + b.0) as f64 + back + 1e-6, "{accepted} of {} + {back}", a.0 + b.0);
    }

    /// A call that is given back leaves no other limit more than it had.
    #[test]
    fn call_and_its_refund_give_no_other_limit_a_token(
        numbers in prop::array::uniform3((1i64..30, 1u32..5_000)),
        calls in prop::collection::vec((0usize..3, 0..90u64), 1..100),
        cost in 1u64..5,
    ) {
        let limits = numbers.map(|(capacity, seconds)| per(capacity, seconds.into()));
        let mut bucket = Bucket { state: StoredState::FULL, now: T };
        for (which, seconds) in calls {
            bucket.now += seconds / 60 * SECOND;
            bucket.take(&limits[which]);
        }
        for by in &limits {
            let before = bucket.state.clone();
            let taken = bucket.call(by, Op::Take { cost });
            if !matches!(before, StoredState::Word(State::Emptied { .. })) || !taken.is_accepted() {
                bucket.state = before;
                continue;
            }
            bucket.call(by, Op::Refund { cost, expiry: None });
            let after = bucket.state.clone();
            for other in &limits {
                let left = |state: &StoredState| {
                    other.remaining(&apply(other, state, bucket.now, Op::Peek { cost: 0 }).0)
                };
                prop_assert!(left(&after) <= left(&before), "{before:?} became {after:?}");
            }
            bucket.state = before;
        }
    }
}
