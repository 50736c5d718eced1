//! Exact states and answers of a bucket of five tokens, one a second, where a property would allow more than one.

use super::*;

/// How far beyond empty a reservation for a token may lie, in nanoseconds: a full refill, not doubled.
const REFILL: u64 = 5 * SECOND;

fn bucket() -> TokenBucket {
    TokenBucket::per_second(5, 1.0).unwrap()
}

fn at(seconds: u64) -> u64 {
    T0 + seconds * SECOND
}

fn filling(full_at: u64) -> State {
    State::Filling { full_at: Span::from_ns(full_at) }
}

/// By a reservation for one token.
fn reserved(full_at: u64) -> State {
    reserved_with(full_at, 1)
}

/// By a reservation that may lie ahead by so many full refills, by their code.
fn reserved_with(full_at: u64, ahead: u8) -> State {
    State::Reserved { full_at, fraction: 0, ahead }
}

/// One whose debt of so many seconds is forgiven in five.
fn overdrawn(debt: u64) -> State {
    State::Overdrawn { forgiven_at: at(5), debt: debt * SECOND }
}

/// The state after an operation at the first moment.
fn after(state: State, op: Op) -> State {
    apply(&bucket(), state, T0, op).1
}

fn refund(cost: u64, expiry: Option<u64>) -> Op {
    Op::Refund { cost, expiry }
}

#[test]
fn earliest_write_is_a_full_refill_before_the_state_ends() {
    let earliest = |state| earliest_write(&bucket(), state);
    assert_eq!(earliest(filling(at(5))), T0);
    assert_eq!(earliest(State::Filling { full_at: Span { ns: at(5), part: 1 } }), T0 + 1);
    assert_eq!(earliest(reserved(at(5) + REFILL)), T0);
    assert_eq!(earliest(reserved_with(at(5) + 4 * REFILL, 4)), T0);
    let with_fraction = State::Reserved { full_at: at(5) + REFILL, fraction: 1, ahead: 1 };
    assert_eq!(earliest(with_fraction), T0 + 1);
    assert_eq!(earliest(overdrawn(9)), T0);
    assert_eq!(earliest(State::Window { ends_at: at(9), hits: 1 }), 0);
}

#[test]
fn state_is_from_the_future_if_no_clock_wrote_it_by_now() {
    for (last, first) in [
        (filling(at(5)), filling(at(5) + 1)),
        (reserved(at(5) + REFILL), reserved(at(5) + REFILL + 1)),
    ] {
        assert!(!bucket().is_from_future(last, T0));
        assert!(bucket().is_from_future(first, T0));
    }
}

#[test]
fn reservation_further_ahead_than_the_limit_allows_is_an_emptied_bucket() {
    let furthest = at(5) + REFILL;
    assert_eq!(after(reserved(furthest + 1), take(1)), emptied(T0, Debt::of(1), furthest + 1));
    let kept = State::Reserved { full_at: furthest, fraction: 1, ahead: 1 };
    assert_eq!(after(kept, take(1)), kept);
}

#[test]
fn reservation_is_marked_with_the_refills_by_which_it_lies_ahead() {
    let (decision, state) =
        apply(&bucket(), filling(at(5)), T0, Op::Reserve { cost: 1, max_wait: SECOND });
    assert_eq!((decision.taken, decision.wait, state), (1, SECOND, reserved(at(6))));
    let nanoseconds = TokenBucket::per_nanosecond(1024).unwrap();
    let reserve = Op::Reserve { cost: 1024, max_wait: SECOND };
    for (full_at, before, ahead) in
        [(1024, 1, 1), (1025, 1, 2), (2048, 1, 2), (2049, 2, 3), (4096, 3, 4), (4097, 4, 5)]
    {
        let after = apply(&nanoseconds, reserved_with(T0 + full_at, before), T0, reserve).1;
        assert_eq!(after, reserved_with(T0 + full_at + 1024, ahead));
    }
    let longest = TokenBucket::per_nanosecond(1).unwrap();
    let reserve = Op::Reserve { cost: 1, max_wait: MAX_DEBT };
    let furthest = reserved_with(T0 + MAX_DEBT, 127);
    assert_eq!(apply(&longest, furthest, T0, reserve).1, reserved_with(T0 + MAX_DEBT + 1, 127));
}

#[test]
fn fraction_that_rounds_up_to_a_nanosecond_is_carried() {
    // So many tokens of a second's 20,000,001 take all but one part of a nanosecond more than whole ones.
    let (tokens, per_second) = (19_600_001, 20_000_001);
    let limit = TokenBucket::per_period(per_second, 1.0).unwrap();
    let exact = tokens * SECOND / per_second as u64;
    assert_eq!(tokens * SECOND % per_second as u64, per_second as u64 - 1);
    let reserve = Op::Reserve { cost: tokens, max_wait: 2 * SECOND };
    let (_, state) = apply(&limit, filling(at(1)), T0, reserve);
    let State::Reserved { full_at, fraction, .. } = state else { panic!("{state:?}") };
    assert_eq!((full_at, fraction), (at(1) + exact + 1, 0));
}

#[test]
fn what_is_left_for_others_is_not_taken() {
    let up_to = |least| Op::TakeUpTo { most: 4, least, leave: 3 };
    assert_eq!(after(State::FULL, up_to(1)), filling(at(2)));
    assert_eq!(after(State::FULL, up_to(2)), filling(at(2)));
    let (denied, state) = apply(&bucket(), State::FULL, T0, up_to(3));
    assert_eq!((denied.is_accepted(), state), (false, State::FULL));
}

#[test]
fn refund_gives_back_what_it_says_up_to_a_full_bucket() {
    assert_eq!(after(filling(at(5)), refund(2, None)), filling(at(3)));
    assert_eq!(after(filling(at(5)), refund(5, None)), State::FULL);
    assert_eq!(after(filling(at(5)), refund(6, None)), State::FULL);
    assert_eq!(after(reserved_with(at(9), 2), refund(2, None)), reserved_with(at(7), 2));
    assert_eq!(after(reserved(at(6)), refund(2, None)), reserved(at(4)));
    assert_eq!(after(reserved(at(6)), refund(6, None)), State::FULL);
}

#[test]
fn refund_of_a_call_gives_back_what_has_not_come_back_by_itself() {
    // By the expiry two seconds are still missing; a nanosecond is kept back, for it was rounded up.
    assert_eq!(after(filling(at(5)), refund(3, Some(at(2)))), filling(at(3) + 1));
    assert_eq!(after(filling(at(5)), refund(2, Some(at(2)))), filling(at(3)));
    assert_eq!(after(filling(at(5)), refund(1, Some(at(2)))), filling(at(4)));
    let (decision, state) = apply(&bucket(), filling(at(5)), T0, refund(1, Some(T0)));
    assert_eq!((decision.is_accepted(), state), (false, filling(at(5))));
}

#[test]
fn debt_is_paid_before_tokens_come_back() {
    assert_eq!(after(overdrawn(9), refund(2, None)), overdrawn(7));
    assert_eq!(after(overdrawn(9), refund(9, None)), overdrawn(0));
    assert_eq!(after(overdrawn(9), refund(10, None)), filling(at(4)));
    // What is settled stays when that is forgiven.
    assert_eq!(after(overdrawn(3), Op::Settle { cost: 1, expiry: 0 }), reserved(at(6)));
    // Once it is forgiven what is owed is no debt.
    let settled = apply(&bucket(), overdrawn(9), at(5), Op::Settle { cost: 6, expiry: 0 }).1;
    assert_eq!(settled, reserved(at(11)));
}

#[test]
fn longest_debt_does_not_grow() {
    let limit = TokenBucket::per_second(2, 2.0 * SECOND as f64 / MAX_REFILL as f64).unwrap();
    let forgiven_at = ceil_to_grain(T0 + limit.full.ceil());
    let longest = State::Overdrawn { forgiven_at, debt: MAX_DEBT - GRAIN };
    assert_eq!(apply(&limit, longest, T0, Op::Check).1, longest);
}

#[test]
fn bucket_starts_with_less_if_it_is_full() {
    let start = |state, missing| apply(&bucket(), state, T0, Op::Start { missing });
    assert_eq!(start(filling(T0), 2 * SECOND).1, filling(at(2)));
    assert_eq!(start(State::FULL, 9 * SECOND).1, filling(at(5)));
    let (denied, state) = start(filling(T0 + 1), 2 * SECOND);
    assert_eq!((denied.is_accepted(), denied.retry_at, state), (false, T0 + 1, filling(T0 + 1)));
}

#[test]
fn nanosecond_has_as_many_parts_as_the_times_of_the_limit_need() {
    assert_eq!(bucket().parts(), 1);
    assert_eq!(TokenBucket::per_second(5, 3.0).unwrap().parts(), 3);
}

#[test]
fn token_that_has_begun_to_come_back_counts_where_it_is_asked_for() {
    let begun = |ns| bucket().tokens_begun_in(ns);
    assert_eq!([0, 1, SECOND, SECOND + 1, 2 * SECOND].map(begun), [0, 1, 1, 2, 2]);
}

#[test]
fn decision_on_a_bucket_that_holds_more_ends_earlier() {
    let (decision, _) = apply(&bucket(), State::FULL, T0, take(3));
    let more = bucket().with_more(decision, 1);
    let left = bucket().tokens_in(more.available.refill_time());
    assert_eq!((more.expires_at, left), (at(2), 3));
    let full = bucket().with_more(decision, 9);
    assert_eq!((full.expires_at, bucket().tokens_in(full.available.refill_time())), (T0, 5));
}

#[test]
fn part_that_another_limit_wrote_is_cut() {
    let of_three = State::Filling { full_at: Span { ns: at(2), part: 2 } };
    assert_eq!(after(of_three, take(1)), filling(at(3)));
}

#[test]
fn period_below_a_microsecond_is_read_as_a_rate() {
    assert_eq!(TokenBucket::per_period(10, 1e-7), TokenBucket::per_second(10, 1e8));
    assert_eq!(TokenBucket::per_period(10, 1e-6), TokenBucket::per_second(10, 1e7));
    assert_eq!(TokenBucket::per_period(1, 1.5e-9), TokenBucket::per_second(1, 2e9 / 3.0));
}

/// Five tokens in an hour: states that a bucket of five seconds could not have made.
fn hourly() -> TokenBucket {
    TokenBucket::per_period(5, 3_600.0).unwrap()
}

#[test]
fn call_is_settled_by_its_own_cost_whatever_numbers_made_the_state() {
    let settle = |cost| Op::Settle { cost, expiry: 0 };
    let (empty, owing) = (at(3_600), at(7_200));
    assert_eq!(after(filling(empty), refund(2, None)), filling(empty - 2 * SECOND));
    assert_eq!(after(filling(empty), refund(2, Some(at(1)))), filling(empty - SECOND + 1));
    assert_eq!(after(filling(empty), settle(2)), reserved(empty + 2 * SECOND));
    assert_eq!(after(reserved(owing), refund(2, None)), reserved(owing - 2 * SECOND));
    let debt = State::Overdrawn { forgiven_at: empty, debt: 3 * SECOND };
    let after_debt = |debt| State::Overdrawn { forgiven_at: empty, debt: debt * SECOND };
    assert_eq!(after(debt, refund(2, None)), after_debt(1));
    // That is not forgiven.
    assert_eq!(after(debt, settle(2)), reserved(empty + 2 * SECOND));
    // The hourly bucket takes none of these states for one from the future.
    for state in [filling(empty - 2 * SECOND), reserved(empty + 2 * SECOND), after_debt(1)] {
        assert_eq!(apply(&hourly(), state, T0, take(5)).1, state);
    }
}

#[test]
fn debt_is_as_many_refills_once_the_interval_was_shortened() {
    let settle = Op::Settle { cost: 5, expiry: 0 };
    let (_, owing) = apply(&hourly(), filling(at(3_600)), T0, settle);
    assert_eq!(owing, reserved(at(7_200)));
    let (denied, corrected) = apply(&bucket(), owing, T0, take(1));
    assert_eq!((denied.retry_at, corrected), (at(6), emptied(T0, Debt::of(1), at(7_200))));
}
