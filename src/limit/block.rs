//! The block: denies every call on a bucket or a window until a time.
//!
//! It replaces the state of the algorithm. Calls meanwhile do not change it, and afterwards the limit
//! starts afresh.
//!
//! A block keeps how long was asked for, in whole seconds. If a clock goes back, a call meets an end further off than that and cuts it:
//! so the time that had passed is all that comes on top.

use super::block_length::{longest, whole_seconds};
use super::bounds::MAX_BLOCK;
use super::decision::{Available, Decision, Verdict};
use super::op::Op;
use super::state::State;
use super::window_number::number_after;

/// Decides on a call that sets a block or meets one, under a limit of this capacity. None if the algorithm
/// decides.
#[inline(always)]
pub(super) fn decide(state: State, now: u64, op: Op, capacity: u64) -> Option<(Decision, State)> {
    match (state, op) {
        (State::Blocked { .. }, _) | (_, Op::Block { .. }) => {
            decide_on_block(state, now, op, capacity)
        }
        _ => None,
    }
}

#[cold]
fn decide_on_block(state: State, now: u64, op: Op, capacity: u64) -> Option<(Decision, State)> {
    let set = find_end(state, now);
    match (set, op) {
        (_, Op::Block { duration }) => {
            // The later of two blocks counts.
            let until = set.unwrap_or(now).max(now + duration.min(MAX_BLOCK));
            let decision =
                Decision { verdict: Verdict::BlockSet, ..denial(until, now, op, capacity) };
            let number = number_after(state);
            Some((decision, State::Blocked { until, asked: whole_seconds(until - now), number }))
        }
        (_, Op::Reset) | (None, _) => None,
        (Some(until), op) => {
            // As of all times from the future, a correction is remembered.
            let after = match (state, op) {
                (State::Blocked { asked, number, .. }, op) if !matches!(op, Op::Peek { .. }) => {
                    State::Blocked { until, asked, number }
                }
                _ => state,
            };
            Some((denial(until, now, op, capacity), after))
        }
    }
}

/// When the block in this state ends, if it is in force at `now`. One from the future is brought down.
fn find_end(state: State, now: u64) -> Option<u64> {
    let State::Blocked { until, asked, .. } = state else { return None };
    Some(until.min(now + longest(asked))).filter(|end| *end > now)
}

/// The decision on a call during a block that ends at `until`. A refund gives nothing back, so it is
/// denied, too.
fn denial(until: u64, now: u64, op: Op, capacity: u64) -> Decision {
    Decision {
        verdict: Verdict::Blocked,
        now,
        retry_at: if op.needs() > capacity { Decision::NEVER } else { until },
        expires_at: until,
        available: Available::NOTHING,
        taken: 0,
        wait: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        CalendarWindow, FixedWindow, Limit, SECOND, SlidingWindow, StoredState, TokenBucket, apply,
    };
    use proptest::prelude::*;

    const T: u64 = 1_000 * SECOND;

    fn limits() -> [Limit; 4] {
        [
            CalendarWindow::new(3, [T, T + 9 * MAX_BLOCK, T + 10 * MAX_BLOCK]).unwrap().into(),
            TokenBucket::per_second(3, 1.0).unwrap().into(),
            FixedWindow::new(3, 60.0).unwrap().into(),
            SlidingWindow::new(3, 60.0).unwrap().into(),
        ]
    }

    fn ops() -> impl Strategy<Value = Op> {
        prop_oneof![
            (0u64..9).prop_map(|cost| Op::Take { cost }),
            (0u64..9).prop_map(|cost| Op::Peek { cost }),
            Just(Op::Check),
            (0u64..9, 0..MAX_BLOCK).prop_map(|(cost, max_wait)| Op::Reserve { cost, max_wait }),
            (1u64..9, 0u64..4).prop_map(|(least, leave)| Op::TakeUpTo { most: 9, least, leave }),
            (0u64..9).prop_map(|cost| Op::Refund { cost, expiry: None }),
            (0u64..9).prop_map(|cost| Op::Settle { cost, expiry: T + SECOND }),
            (0..SECOND).prop_map(|missing| Op::Start { missing }),
        ]
    }

    #[test]
    fn block_of_no_length_denies_no_call() {
        let state = State::Blocked { until: T + SECOND, asked: 0, number: 1 }.into();
        let limit = Limit::from(TokenBucket::per_second(1, 1.0).unwrap());
        assert!(apply(&limit, &state, T, Op::Take { cost: 1 }).0.is_accepted());
    }

    proptest! {
        #[test]
        fn nothing_but_a_reset_is_accepted_during_a_block(
            ops in prop::collection::vec(ops(), 1..50), duration in 1..MAX_BLOCK,
        ) {
            for limit in limits() {
                let (set, state) = apply(&limit, &StoredState::FULL, T, Op::Block { duration });
                prop_assert!(set.is_accepted() && set.retry_at == T + duration);
                for (i, op) in ops.iter().enumerate() {
                    let now = T + duration * i as u64 / ops.len() as u64;
                    let (denied, after) = apply(&limit, &state, now, *op);
                    prop_assert!(!denied.is_accepted() && denied.is_blocked(), "{:?}", op);
                    let retry_at = if op.needs() > 3 { Decision::NEVER } else { T + duration };
                    prop_assert_eq!((denied.retry_at, &after), (retry_at, &state));
                }
                let (reset, after) = apply(&limit, &state, T, Op::Reset);
                prop_assert!(reset.is_accepted());
                let is_free = matches!(after.word(), State::FULL | State::Window { hits: 0, .. });
                prop_assert!(is_free, "{:?}", after);
                let all = Op::Take { cost: limit.capacity() };
                prop_assert!(apply(&limit, &state, T + duration, all).0.is_accepted(), "it starts afresh");
            }
        }
    }

    #[test]
    fn later_of_two_blocks_counts() {
        for limit in limits() {
            let block = |state: &StoredState, now, seconds| {
                apply(&limit, state, now, Op::Block { duration: seconds * SECOND }).1
            };
            let long = block(&StoredState::FULL, T, 60);
            let end = |seconds| block(&long, T + 5 * SECOND, seconds).expires_at();
            assert_eq!([end(10), end(90)], [T + 60 * SECOND, T + 95 * SECOND]);
        }
    }

    proptest! {
        /// The clock goes back a few times, and each call in between knows no more than what the state keeps.
        #[test]
        fn clock_that_goes_back_adds_the_time_that_had_passed_at_most(
            duration in prop_oneof![1..90 * SECOND, 1..MAX_BLOCK],
            steps in prop::collection::vec((0u64..1_000, 1..2 * MAX_BLOCK), 1..5),
        ) {
            for limit in limits() {
                let (mut now, mut left) = (T + 9 * MAX_BLOCK, duration);
                let mut state = apply(&limit, &StoredState::FULL, now, Op::Block { duration }).1;
                for (passed, back) in &steps {
                    let passed = left / 1_000 * passed;
                    now = (now + passed).saturating_sub(*back).max(T);
                    let (denied, after) = apply(&limit, &state, now, Op::Take { cost: 1 });
                    // Whole seconds, of 13 bits.
                    let longest = (duration + SECOND + duration / 4_096).min(MAX_BLOCK);
                    prop_assert!(denied.is_blocked());
                    prop_assert!(denied.retry_at - now <= longest, "{} of {}", denied.retry_at - now, duration);
                    prop_assert!(denied.retry_at - now >= (left - passed).min(longest));
                    (left, state) = (denied.retry_at - now, after);
                }
                let all = Op::Take { cost: limit.capacity() };
                prop_assert!(apply(&limit, &state, now + left, all).0.is_accepted());
            }
        }
    }
}
