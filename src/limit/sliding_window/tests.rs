//! The window against a log of every hit, and against its places.

use super::*;
use crate::{MAX_REFILL, SECOND};
use proptest::prelude::*;

const T: u64 = 1_000 * SECOND;
const INTERVAL: u64 = 10;

/// A window of an interval so short that calls meet its edges.
fn window(max_hits: i64) -> SlidingWindow {
    SlidingWindow::new(max_hits, INTERVAL as f64 / 1e9).unwrap()
}

fn ops() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (0u64..5).prop_map(|cost| Op::Take { cost }),
        1 => (0u64..5).prop_map(|cost| Op::Peek { cost }),
        1 => (1u64..4, 0u64..4, 0u64..4).prop_map(|(least, more, leave)| Op::TakeUpTo { most: least + more, least, leave }),
        1 => Just(Op::Check),
        1 => (0u64..3).prop_map(|cost| Op::Refund { cost, expiry: None }),
        1 => Just(Op::Reset),
    ]
}

/// The hits that count at `now`: each as the time of its call.
fn counted(log: &[u64], now: u64) -> usize {
    log.iter().filter(|hit| **hit + INTERVAL > now).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn window_decides_as_a_log_of_all_hits_does(
        limit in 1i64..6, calls in prop::collection::vec((ops(), 0u64..8), 1..80),
    ) {
        let (window, mut state, mut now) = (window(limit), StoredState::FULL, T);
        let mut log: Vec<u64> = Vec::new();
        for (op, pause) in calls {
            now += pause;
            let before = counted(&log, now) as u64;
            let (decision, after) = window.apply(&state, now, op);
            let left = limit as u64 - before;
            let expected = match op {
                Op::Take { cost } | Op::Peek { cost } => cost <= left,
                Op::TakeUpTo { least, leave, .. } => least + leave <= left,
                Op::Check => left > 0,
                _ => true,
            };
            prop_assert_eq!(decision.is_accepted(), expected, "{:?} with {} left", op, left);
            match op {
                Op::Take { .. } | Op::TakeUpTo { .. } | Op::Check => {
                    prop_assert!(decision.taken <= left);
                    log.extend((0..decision.taken).map(|_| now));
                }
                Op::Refund { cost, .. } => {
                    let goes = cost.min(before) as usize;
                    log.truncate(log.len() - goes);
                }
                Op::Reset => log.clear(),
                _ => prop_assert_eq!(&after, &state, "a peek changes nothing"),
            }
            prop_assert_eq!(decision.available.count_hits(), limit as u64 - counted(&log, now) as u64);
            if op.needs() > 0 && !decision.is_accepted() && decision.retry_at != Decision::NEVER {
                let then = |at| window.apply(&after, at, op).0.is_accepted();
                prop_assert!(then(decision.retry_at) && !then(decision.retry_at - 1));
            }
            prop_assert!(decision.expires_at <= now || counted(&log, decision.expires_at - 1) > 0);
            prop_assert_eq!(counted(&log, decision.expires_at), 0);
            state = after;
        }
        // Whatever was given back or reset is not in the log.
        for (i, first) in log.iter().enumerate() {
            let stretch = log[i..].iter().take_while(|hit| **hit < first + INTERVAL).count();
            prop_assert!(stretch <= limit as usize);
        }
    }

    #[test]
    fn refund_gives_back_the_hits_of_its_call_alone(
        mut before in prop::collection::vec(1u64..9, 0..4), cost in 1u64..4, pause in 0u64..12,
        later in prop::collection::vec(1u64..5, 0..4),
    ) {
        let window = window(12);
        let take = |state: &StoredState, now, cost| window.apply(state, now, Op::Take { cost });
        let mut state = StoredState::FULL;
        before.sort_by_key(|pause| std::cmp::Reverse(*pause));
        for pause in &before { state = take(&state, T - pause, 1).1; }
        let (taken, mut with) = take(&state, T, cost);
        let mut without = state;
        let mut now = T;
        for pause in &later {
            now += pause;
            (with, without) = (take(&with, now, 1).1, take(&without, now, 1).1);
        }
        now += pause;
        let (refund, with) = window.apply(&with, now, taken.settle(0));
        prop_assert_eq!(refund.is_accepted(), now < T + INTERVAL, "hits that have left cannot come back");
        let left = |state: &StoredState| window.apply(state, now, Op::Peek { cost: 1 }).0;
        prop_assert_eq!(left(&with), left(&without));
        prop_assert!(!window.apply(&with, now, taken.settle(0)).0.is_accepted(), "once");
    }

    #[test]
    fn places_decide_as_the_list_does(
        limit in 1usize..6, calls in prop::collection::vec((0u64..8, 0u8..4), 1..80),
    ) {
        let (window, mut list, mut now) = (window(limit as i64), StoredState::FULL, T);
        let (place, mut places) = (window.place(), vec![State::FULL; limit]);
        for (pause, kind) in calls {
            now += pause;
            let (decision, after) = match kind {
                0 => {
                    let last = places.iter_mut().max_by_key(|state| Place::leaves_at(**state)).unwrap();
                    *last = place.apply::<Decision>(*last, now, &Op::Refund { cost: 1, expiry: None }).1;
                    window.apply(&list, now, Op::Refund { cost: 1, expiry: None })
                }
                _ => {
                    let accepted = places.iter_mut().any(|state| {
                        let (decision, after): (Decision, _) =
                            place.apply(*state, now, &Op::Take { cost: 1 });
                        *state = after;
                        decision.is_accepted()
                    });
                    let (decision, after) = window.apply(&list, now, Op::Take { cost: 1 });
                    prop_assert_eq!(accepted, decision.is_accepted());
                    (decision, after)
                }
            };
            list = after;
            let hits = places.iter().map(|state| Place::leaves_at(*state)).filter(|at| *at > now);
            let live = LiveHits::new(&window, &list, now, now + window.interval).expiries;
            let hits = Hits::new(hits.collect());
            prop_assert_eq!(hits.as_slice(), live, "{:?}", decision);
        }
    }

    #[test]
    fn clock_that_went_back_denies_for_at_most_one_interval(
        times in prop::collection::vec(0u64..MAX_REFILL, 0..9), now in 0..MAX_REFILL,
        word in 0u64..MAX_REFILL,
    ) {
        let window = window(3);
        let (decision, after) =
            window.apply(&StoredState::Hits(Hits::new(times)), now, Op::Take { cost: 1 });
        prop_assert!(decision.is_accepted() || decision.retry_at <= now + INTERVAL);
        prop_assert!(after.expires_at() <= now + INTERVAL);
        let place = window.place();
        let word = State::Filling { full_at: Span::from_ns(word) };
        let (decision, after): (Decision, _) = place.apply(word, now, &Op::Take { cost: 1 });
        prop_assert!(decision.is_accepted() || decision.retry_at <= now + INTERVAL);
        prop_assert!(Place::leaves_at(after) <= now + INTERVAL);
    }
}

#[test]
fn limit_out_of_range_is_refused() {
    for hits in [i64::MIN, -1, 0, 1_025, i64::MAX] {
        assert_eq!(SlidingWindow::new(hits, 1.0), Err(LimitError::SlidingHits));
    }
    for interval in [0.0, -1.0, 1e-10, f64::NAN, f64::INFINITY, 2e8] {
        assert_eq!(SlidingWindow::new(1, interval), Err(LimitError::Interval));
    }
    assert!(SlidingWindow::new(1_024, 4.0 * 31_557_600.0).is_ok());
}

#[test]
fn limit_that_was_lowered_waits_until_enough_hits_have_left() {
    let (wide, narrow) = (window(5), window(2));
    let mut state = StoredState::FULL;
    for at in 0..5 {
        state = wide.apply(&state, T + at, Op::Take { cost: 1 }).1;
    }
    let (denied, _) = narrow.apply(&state, T + 5, Op::Take { cost: 1 });
    assert_eq!((denied.is_accepted(), denied.retry_at), (false, T + 3 + INTERVAL));
    assert!(narrow.apply(&state, T + 3 + INTERVAL, Op::Take { cost: 1 }).0.is_accepted());
}

fn hits(leave_at: &[u64]) -> StoredState {
    StoredState::Hits(Hits::from_sorted(leave_at.to_vec()))
}

#[test]
fn what_is_left_for_others_is_not_taken() {
    let up_to = |least| Op::TakeUpTo { most: 3, least, leave: 1 };
    let (decision, after) = window(3).apply(&StoredState::FULL, T, up_to(1));
    assert_eq!((decision.taken, after), (2, hits(&[T + INTERVAL; 2])));
    assert!(!window(3).apply(&StoredState::FULL, T, up_to(3)).0.is_accepted());
}

#[test]
fn call_that_changes_nothing_keeps_the_hits_but_for_those_from_the_future() {
    let denied = |state: &StoredState| window(1).apply(state, T, Op::Take { cost: 1 }).1;
    // One has left, which the next hit will find.
    let old = hits(&[T - 1, T + 1]);
    assert_eq!(denied(&old), old);
    assert_eq!(denied(&hits(&[T + INTERVAL + 1])), hits(&[T + INTERVAL]));
    assert!(!window(1).apply(&StoredState::FULL, T, Op::Start { missing: 1 }).0.is_accepted());
}

#[test]
fn call_for_all_hits_waits_until_the_others_have_left() {
    let (denied, _) = window(2).apply(&hits(&[T + 3]), T, Op::Take { cost: 2 });
    assert_eq!((denied.is_accepted(), denied.retry_at), (false, T + 3));
    let (denied, _) = window(2).apply(&hits(&[T + 3]), T, Op::Take { cost: 3 });
    assert_eq!(denied.retry_at, Decision::NEVER);
}

#[test]
fn window_whose_last_hit_is_given_back_is_full() {
    let refund = Op::Refund { cost: 1, expiry: None };
    assert_eq!(window(2).apply(&hits(&[T + 3]), T, refund).1, StoredState::FULL);
}

#[test]
fn place_has_room_for_one_hit() {
    let place = window(1).place();
    let until = |time| State::Filling { full_at: Span::from_ns(time) };
    let apply = |state, op| place.apply::<Decision>(state, T, &op);
    let answer = |decision: &Decision| {
        let left = decision.available.count_hits();
        (decision.is_accepted(), decision.taken, left, decision.expires_at - T)
    };
    let take = Op::Take { cost: 1 };
    let taken = until(T + 3);
    let refund = |expiry| Op::Refund { cost: 1, expiry };
    for (state, op, expected, after) in [
        (State::FULL, take, (true, 1, 0, INTERVAL), until(T + INTERVAL)),
        (taken, take, (false, 0, 0, 3), taken),
        (until(T + INTERVAL + 1), take, (false, 0, 0, INTERVAL), until(T + INTERVAL)),
        (taken, Op::Peek { cost: 1 }, (false, 0, 0, 3), taken),
        (State::FULL, Op::Peek { cost: 1 }, (true, 0, 1, 0), State::FULL),
        (taken, Op::Start { missing: 1 }, (false, 0, 0, 3), taken),
        (taken, Op::Reset, (true, 0, 0, 3), State::FULL),
    ] {
        let (decision, then) = apply(state, op);
        assert_eq!((answer(&decision), then), (expected, after), "{state:?} {op:?}");
    }
    for (state, op, goes) in [
        (taken, refund(None), true),
        (taken, refund(Some(T + 3)), true),
        (taken, refund(Some(T + 2)), false),
        (State::FULL, refund(None), false),
    ] {
        let (decision, then) = apply(state, op);
        assert_eq!(
            (decision.is_accepted(), then == State::FULL),
            (goes, goes || state == State::FULL)
        );
    }
}

#[test]
fn place_of_an_evicted_hit_is_taken_for_an_interval_at_most() {
    let place = window(1).place();
    let until = |time| State::Filling { full_at: Span::from_ns(time) };
    assert_eq!(place.inherited_state(T + 3, T), until(T + 3));
    assert_eq!(place.inherited_state(T + INTERVAL + 1, T), until(T + INTERVAL));
    assert!(!place.is_from_future(until(T + INTERVAL), T));
    assert!(place.is_from_future(until(T + INTERVAL + 1), T));
    assert!(place.takes(Op::Take { cost: 1 }) && place.takes(Op::Start { missing: 1 }));
    assert!(!place.takes(Op::Peek { cost: 1 }) && !place.takes(Op::Reset));
}
