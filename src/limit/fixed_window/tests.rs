//! Fixed windows, and calendar windows beside them, against a count of their hits.

use super::*;
use crate::span::Span;
use crate::{
    CalendarWindow, Decision, Limit, MAX_HITS, MAX_REFILL, SECOND, State, StoredState,
    WordAlgorithm,
};
use proptest::prelude::*;

const T: u64 = 1_000 * SECOND;

#[test]
fn window_opens_at_the_first_hit_and_lasts_its_interval() {
    let window = FixedWindow::new(2, 5.0).unwrap();
    let take = |state, now| window.apply::<Decision>(state, now, &Op::Take { cost: 1 });
    let (first, state) = take(State::FULL, T);
    let (second, state) = take(state, T + SECOND);
    assert!(first.is_accepted() && second.is_accepted());
    let (third, state) = take(state, T + 5 * SECOND - 1);
    assert!(!third.is_accepted(), "its last moment");
    assert_eq!((third.retry_at, third.available.count_hits()), (T + 5 * SECOND, 0));
    let (next, state) = take(state, T + 5 * SECOND);
    assert!(next.is_accepted());
    assert_eq!(state, State::Window { ends_at: T + 10 * SECOND - 1, hits: 1 });
}

#[test]
fn end_from_the_future_is_corrected_by_a_denied_call_and_another_state_kept() {
    let window = FixedWindow::new(2, 5.0).unwrap();
    let denied = |state| {
        let (decision, after): (Decision, _) = window.apply(state, T, &Op::Take { cost: 2 });
        assert!(!decision.is_accepted());
        after
    };
    let ends_at = |ends_at| State::Window { ends_at, hits: 1 };
    let last = T + 5 * SECOND - 1;
    assert_eq!(denied(ends_at(last + 1)), ends_at(last));
    assert_eq!(denied(ends_at(last)), ends_at(last));
    // What an evicted bucket left.
    let inherited = State::Filling { full_at: Span::from_ns(T + SECOND) };
    assert_eq!(denied(inherited), inherited);
    let none = Op::Refund { cost: 0, expiry: None };
    assert_eq!(window.apply::<Decision>(inherited, T, &none).1, inherited);
}

#[test]
fn limit_out_of_range_is_refused() {
    assert_eq!(FixedWindow::new(0, 1.0), Err(LimitError::Hits));
    assert_eq!(FixedWindow::new(i64::from(MAX_HITS) + 1, 1.0), Err(LimitError::Hits));
    for interval in [0.0, -1.0, 1e-10, f64::NAN, f64::INFINITY, 2e8] {
        assert_eq!(FixedWindow::new(1, interval), Err(LimitError::Interval));
    }
}

/// The same counted in the simplest way, on the windows of an interval: the end of the open one, and its hits.
struct Count {
    limit: u64,
    /// Whether windows begin at whole intervals, used or not.
    is_calendar: bool,
    open: Option<(u64, u64)>,
}

const INTERVAL: u64 = 3_600 * SECOND;

/// What a decision says: whether it accepts, what it took and leaves, when the same call is accepted and when all is back.
type Said = (bool, u64, u64, u64, u64);

impl Count {
    fn end_at(&self, now: u64) -> u64 {
        match self.is_calendar {
            true => (now / INTERVAL + 1) * INTERVAL,
            false => now + INTERVAL,
        }
    }

    fn decide(&mut self, now: u64, op: Op) -> Said {
        self.open = self.open.filter(|(end, _)| now < *end);
        let (mut end, before) = self.open.unwrap_or((self.end_at(now), 0));
        let left = self.limit.saturating_sub(before);
        let has_room = op.needs() == 0 || op.needs() <= left;
        let (is_accepted, hits) = match op {
            Op::Take { cost } | Op::Reserve { cost, .. } => (has_room, before + cost),
            Op::Check => (has_room, before + 1),
            Op::TakeUpTo { most, leave, .. } => {
                (has_room, before + most.min(left.saturating_sub(leave)))
            }
            Op::Peek { .. } => (has_room, before),
            Op::Refund { cost, expiry } => {
                let is_meant = self.open.is_some() && expiry == Some(end);
                (expiry.is_none() || is_meant, before.saturating_sub(cost))
            }
            Op::Settle { cost, expiry } => (self.open.is_some() && expiry == end, before + cost),
            Op::Reset => (true, 0),
            Op::Start { .. } | Op::Block { .. } => (false, before),
            Op::Lease { .. } | Op::GiveBack { .. } => (false, before),
        };
        let retry_at = match is_accepted {
            true => now,
            false if op.settles() => now,
            false if op.needs() > self.limit => Decision::NEVER,
            false => end,
        };
        if is_accepted && op == Op::Reset {
            // The calendar's next window at that end is known by a microsecond.
            let is_numbered = self.is_calendar && self.open.is_some();
            end += if is_numbered { 1_000 } else { 0 };
            self.open = is_numbered.then_some((end, 0));
        } else if is_accepted && (self.open.is_some() || hits > 0) {
            self.open = Some((end, hits));
        }
        let used = self.open.map_or(0, |(_, hits)| hits);
        let taken =
            if op.takes_hits() && !matches!(op, Op::Settle { .. }) { used - before } else { 0 };
        let expires_at = if self.open.is_some() || self.is_calendar { end } else { now };
        (is_accepted, taken, self.limit.saturating_sub(used), retry_at, expires_at)
    }
}

fn ops() -> impl Strategy<Value = Op> {
    let expiry = prop_oneof![Just(None), (1u64..6).prop_map(|n| Some(T + n * INTERVAL / 2))];
    prop_oneof![
        4 => (0u64..5).prop_map(|cost| Op::Take { cost }),
        1 => (0u64..5).prop_map(|cost| Op::Peek { cost }),
        1 => (1u64..4, 0u64..4, 0u64..4).prop_map(|(least, more, leave)| Op::TakeUpTo { most: least + more, least, leave }),
        1 => Just(Op::Check),
        1 => (0u64..5, 0u64..9).prop_map(|(cost, max_wait)| Op::Reserve { cost, max_wait }),
        2 => (0u64..4, expiry).prop_map(|(cost, expiry)| Op::Refund { cost, expiry }),
        2 => (0u64..5, 1u64..6).prop_map(|(cost, n)| Op::Settle { cost, expiry: T + n * INTERVAL / 2 }),
        1 => Just(Op::Reset),
        1 => (0u64..9).prop_map(|missing| Op::Start { missing }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn window_decides_as_a_count_of_its_hits_does(
        limit in 1u64..6, is_calendar in any::<bool>(),
        calls in prop::collection::vec((ops(), 0u64..4), 1..80),
    ) {
        let first = T / INTERVAL * INTERVAL;
        let window: Limit = match is_calendar {
            true => CalendarWindow::new(limit as i64, [first, first + INTERVAL, first + 2 * INTERVAL]).unwrap().into(),
            false => FixedWindow::new(limit as i64, 3_600.0).unwrap().into(),
        };
        let mut count = Count { limit, is_calendar, open: None };
        let (mut state, mut now) = (StoredState::FULL, T);
        for (op, quarters) in calls {
            now += quarters * INTERVAL / 4;
            // A call is settled in the window that is open now, as often as not.
            let op = match op {
                Op::Refund { cost, expiry: Some(_) } if quarters % 2 == 0 => {
                    Op::Refund { cost, expiry: count.open.map(|(end, _)| end) }
                }
                Op::Settle { cost, .. } if quarters % 2 == 0 => {
                    Op::Settle { cost, expiry: count.open.map_or(0, |(end, _)| end) }
                }
                op => op,
            };
            let (decision, after) = crate::apply(&window, &state, now, op);
            let said = (
                decision.is_accepted(), decision.taken, window.remaining(&decision),
                decision.retry_at, decision.expires_at,
            );
            prop_assert_eq!(said, count.decide(now, op), "{:?}", op);
            prop_assert_eq!(decision.wait, 0);
            state = after;
        }
    }
}

proptest! {
    #[test]
    fn window_never_has_more_hits_than_its_limit(
        limit in 1i64..9, calls in prop::collection::vec((0u64..4, 0u64..3_000), 1..200),
    ) {
        let window = FixedWindow::new(limit, 2.0).unwrap();
        let (mut state, mut now) = (State::FULL, T);
        let (mut opened_at, mut hits) = (0, 0);
        for (cost, ms) in calls {
            now += ms * 1_000_000;
            let (decision, after) = window.apply::<Decision>(state, now, &Op::Take { cost });
            state = after;
            if cost > 0 && now >= opened_at + 2 * SECOND {
                // A call that is denied opens no window.
                if decision.is_accepted() { (opened_at, hits) = (now, 0); }
            }
            if decision.is_accepted() { hits += cost; }
            prop_assert!(hits <= limit as u64);
            if cost > 0 && !decision.is_accepted() && decision.retry_at != Decision::NEVER {
                let then = |at| window.apply::<Decision>(state, at, &Op::Take { cost }).0.is_accepted();
                prop_assert!(then(decision.retry_at));
                prop_assert!(!then(decision.retry_at - 1));
            }
        }
    }

    #[test]
    fn clock_that_went_back_denies_for_at_most_one_interval(
        ends_at in 0..MAX_REFILL, hits in 0..MAX_HITS, now in 0..MAX_REFILL,
    ) {
        let window = FixedWindow::new(3, 7.0).unwrap();
        let (decision, _): (Decision, _) =
            window.apply(State::Window { ends_at, hits }, now, &Op::Take { cost: 1 });
        prop_assert!(decision.is_accepted() || decision.retry_at <= now + 7 * SECOND);
    }
}
