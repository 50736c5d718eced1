//! What holds of a limit of any kind.

use super::*;
use crate::{SECOND, apply};
use proptest::prelude::*;

const HOUR: u64 = 3_600 * SECOND;
const T: u64 = 1_000 * HOUR;

fn limits() -> [Limit; 4] {
    [
        TokenBucket::per_second(5, 0.5).unwrap().into(),
        FixedWindow::new(5, 10.0).unwrap().into(),
        CalendarWindow::new(5, [T, T + HOUR, T + 2 * HOUR]).unwrap().into(),
        SlidingWindow::new(5, 10.0).unwrap().into(),
    ]
}

#[test]
fn limit_tells_its_numbers() {
    for (limit, window) in limits().into_iter().zip([10 * SECOND, 10 * SECOND, HOUR, 10 * SECOND]) {
        assert_eq!((limit.capacity(), limit.window()), (5, window), "{limit:?}");
        let (decision, _) = apply(&limit, &StoredState::FULL, T, Op::Take { cost: 2 });
        assert_eq!(limit.remaining(&decision), 3);
        let same = limits().into_iter().filter(|other| limit.is_of_same_kind(other)).count();
        assert_eq!(same, 1);
    }
}

#[test]
fn ends_of_a_calendar_are_told_by_the_clock_of_this_host() {
    for limit in limits() {
        let Limit::CalendarWindow(window) = limit else {
            assert_eq!(limit.on_this_host(T), limit);
            continue;
        };
        let Limit::CalendarWindow(here) = limit.on_this_host(T - HOUR) else { panic!() };
        assert_eq!(here.ends(), [HOUR, 2 * HOUR, 3 * HOUR]);
        assert_eq!((here.max_hits(), window.ends()), (5, [T, T + HOUR, T + 2 * HOUR]));
        assert_eq!(limit.on_this_host(0), limit, "a test's clock tells the time of day");
    }
}

#[test]
fn operation_takes_what_is_there_or_nothing() {
    let up_to = |most, least, leave| Op::TakeUpTo { most, least, leave };
    let takes = [Op::Take { cost: 5 }, Op::Check, up_to(6, 3, 2)];
    let nothing = [
        Op::Peek { cost: 1 },
        Op::Refund { cost: 1, expiry: None },
        Op::Reset,
        Op::Block { duration: 1 },
    ];
    for limit in limits() {
        for op in takes {
            assert!(limit.takes(op), "{limit:?} {op:?}");
            assert_ne!(apply(&limit, &StoredState::FULL, T, op).1, StoredState::FULL);
        }
        let (taken, state) = apply(&limit, &StoredState::FULL, T, Op::Take { cost: 1 });
        let settle = taken.settle(2);
        assert!(limit.takes(settle));
        assert_ne!(apply(&limit, &state, T, settle).1, state);
        for op in nothing {
            assert!(!limit.takes(op), "{limit:?} {op:?}");
        }
    }
    let [bucket, ..] = limits();
    for op in [Op::Take { cost: 0 }, Op::Take { cost: 6 }, up_to(9, 3, 3)] {
        assert!(!bucket.takes(op), "{op:?}: more than it holds, or nothing");
    }
}

proptest! {
    /// A clock that shows less than when a state was written has gone back.
    #[test]
    fn state_tells_the_earliest_time_of_its_last_write(
        calls in prop::collection::vec((0u64..20, 1u64..4), 1..20),
    ) {
        for limit in limits() {
            let (mut state, mut now, mut opened_at) = (StoredState::FULL, T + 1, None);
            for (seconds, cost) in &calls {
                now += seconds * SECOND;
                let (decision, after) = apply(&limit, &state, now, Op::Take { cost: *cost });
                if !decision.is_accepted() { continue; }
                let is_new = state.expires_at() <= now;
                state = after;
                if is_new { opened_at = Some(now); }
                let earliest = limit.earliest_write(&state);
                prop_assert!(earliest <= now, "{:?}", limit);
                let expected = match limit {
                    // What is missing would take so long to come back.
                    Limit::TokenBucket(_) => state.expires_at() - 10 * SECOND,
                    Limit::FixedWindow(_) => opened_at.unwrap(),
                    Limit::CalendarWindow(_) => T,
                    Limit::SlidingWindow(_) => now,
                };
                prop_assert_eq!(earliest, expected, "{:?}", limit);
            }
        }
    }
}

#[test]
fn window_of_the_calendar_tells_its_beginning() {
    let Limit::CalendarWindow(window) = limits()[2] else { panic!() };
    let written = |ends_at| calendar_window::earliest_write(&window, ends_at);
    assert_eq!(written(T + HOUR - 1), T);
    assert_eq!(written(T + 2 * HOUR - 1), T + HOUR);
    assert_eq!((written(T - 1), written(T + 3 * HOUR - 1)), (0, 0), "not known");
}

#[test]
fn state_of_another_limit_tells_no_time() {
    let [bucket, fixed, calendar, sliding] = limits();
    let window = StoredState::from(State::Window { ends_at: T, hits: 1 });
    assert_eq!(bucket.earliest_write(&window), 0);
    let filled = apply(&bucket, &StoredState::FULL, T, Op::Take { cost: 1 }).1;
    for limit in [fixed, calendar, sliding] {
        assert_eq!(limit.earliest_write(&filled), 0, "{limit:?}");
    }
}

/// In the table: a state from the future is one that its algorithm cannot have written by now.
#[test]
fn state_is_from_the_future_if_it_was_written_later_than_now() {
    fn check<A: WordAlgorithm>(limit: &A) {
        let (decision, state): (Decision, State) =
            limit.apply(State::FULL, T, &Op::Take { cost: 5 });
        assert!(decision.is_accepted());
        assert!(!limit.is_from_future(state, T), "{state:?}");
        assert!(limit.is_from_future(state, T - 1), "{state:?}");
    }
    for limit in limits() {
        match limit {
            Limit::TokenBucket(limit) => check(&limit),
            Limit::FixedWindow(window) => check(&window),
            // At its first moment.
            Limit::CalendarWindow(window) => check(&window),
            Limit::SlidingWindow(_) => {}
        }
    }
}

#[test]
fn what_a_newcomer_inherits_leaves_it_nothing_until_then() {
    fn check<A: WordAlgorithm>(limit: &A, latest: u64) {
        for (expires_at, ends_at) in [(T + 5 * SECOND, T + 5 * SECOND), (T + 9 * HOUR, latest)] {
            let state = limit.inherited_state(expires_at, T);
            let accepts = |now| limit.apply::<bool>(state, now, &Op::Take { cost: 5 }).0;
            assert_eq!(state.expires_at(), ends_at);
            assert!(accepts(ends_at) && !accepts(ends_at - 1), "{state:?}");
        }
        assert!(!limit.apply::<bool>(limit.inherited_state(T + 9 * HOUR, T), T, &Op::Check).0);
    }
    for limit in limits() {
        match limit {
            Limit::TokenBucket(limit) => check(&limit, T + 10 * SECOND),
            Limit::FixedWindow(window) => check(&window, T + 10 * SECOND),
            Limit::CalendarWindow(window) => check(&window, T + HOUR),
            Limit::SlidingWindow(_) => {}
        }
    }
}

proptest! {
    /// What the field `t` of draft-ietf-httpapi-ratelimit-headers promises.
    #[test]
    fn caller_that_uses_what_is_left_and_waits_can_use_one_more(
        kind in 0..4usize,
        calls in prop::collection::vec((0..3 * SECOND, 1..3u64), 1..20),
    ) {
        let limit = limits()[kind];
        let (mut now, mut state) = (T, StoredState::FULL);
        for (pause, cost) in calls {
            now += pause;
            let (decision, after) = apply(&limit, &state, now, Op::Take { cost });
            if !decision.is_accepted() {
                continue;
            }
            state = after;
            let left = limit.remaining(&decision);
            let (all, used) = apply(&limit, &state, now, Op::Take { cost: left });
            prop_assert!(all.is_accepted());
            let wait = limit.more_after(&decision, 0);
            let one = |at| apply(&limit, &used, at, Op::Take { cost: 1 }).0.is_accepted();
            prop_assert!(one(now + wait), "{:?} after {}", decision, wait);
            prop_assert!(!one(now + wait - 1_000), "{:?} after {}", decision, wait);
        }
    }
}

#[test]
fn caller_that_leaves_some_waits_until_more_than_these_are_left() {
    for limit in limits() {
        for (taken, leave) in [(1, 2), (2, 2), (3, 2), (4, 2), (5, 2), (4, 4)] {
            let (decision, state) = apply(&limit, &StoredState::FULL, T, Op::Take { cost: taken });
            let usable = (5 - taken).saturating_sub(leave);
            let (_, used) = apply(&limit, &state, T, Op::take(usable, 0));
            let wait = limit.more_after(&decision, leave);
            let one = |at| apply(&limit, &used, at, Op::take(1, leave)).0.is_accepted();
            assert!(one(T + wait) && !one(T + wait - 1_000), "{limit:?}: {taken} of 5 are taken");
        }
    }
}

#[test]
fn caller_that_uses_all_of_an_unused_limit_can_use_one_more_after() {
    for limit in limits() {
        let (decision, _) = apply(&limit, &StoredState::FULL, T, Op::Peek { cost: 1 });
        let (_, used) = apply(&limit, &StoredState::FULL, T, Op::Take { cost: 5 });
        let wait = limit.more_after(&decision, 0);
        let one = |at| apply(&limit, &used, at, Op::Take { cost: 1 }).0.is_accepted();
        assert!(one(T + wait) && !one(T + wait - 1_000), "{limit:?}: {wait}");
    }
}

#[test]
fn caller_that_has_reserved_waits_until_what_is_owed_is_paid() {
    let limit = limits()[0];
    let (_, empty) = apply(&limit, &StoredState::FULL, T, Op::Take { cost: 5 });
    let op = Op::Reserve { cost: 3, max_wait: 100 * SECOND };
    let (decision, after) = apply(&limit, &empty, T, op);
    let wait = limit.more_after(&decision, 0);
    let one = |at| apply(&limit, &after, at, Op::Take { cost: 1 }).0.is_accepted();
    assert!(decision.is_accepted() && wait == 8 * SECOND, "three are owed: {wait}");
    assert!(one(T + wait) && !one(T + wait - 1_000));
}
