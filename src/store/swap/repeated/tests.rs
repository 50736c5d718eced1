//! Equal calls that are decided on together come to what they come to alone.

use super::*;
use crate::limit::{FixedWindow, Hits, SlidingWindow, Span, State, TokenBucket};
use crate::store::with_request;
use proptest::prelude::*;

const NOW: u64 = 100_000 * SECOND;

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (1i64..30, 0.3f64..50.0).prop_map(|(capacity, rate)| {
            TokenBucket::per_second(capacity, rate).unwrap().into()
        }),
        (1i64..30, 0.1f64..9.0)
            .prop_map(|(hits, interval)| FixedWindow::new(hits, interval).unwrap().into()),
        (1i64..30, 0.1f64..9.0)
            .prop_map(|(hits, interval)| SlidingWindow::new(hits, interval).unwrap().into()),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let expiry = prop_oneof![Just(None), (0..4 * SECOND).prop_map(|ahead| Some(NOW + ahead)),];
    prop_oneof![
        4 => (0u64..6).prop_map(|cost| Op::Take { cost }),
        2 => (1u64..9, 1u64..4, 0u64..4).prop_map(|(most, least, leave)| Op::TakeUpTo { most: most.max(least), least, leave }),
        2 => Just(Op::Check),
        2 => (0u64..6, 0..3 * SECOND).prop_map(|(cost, max_wait)| Op::Reserve { cost, max_wait }),
        2 => (0u64..6, expiry).prop_map(|(cost, expiry)| Op::Refund { cost, expiry }),
        1 => (0u64..90, 0..4 * SECOND).prop_map(|(cost, ahead)| Op::Settle { cost, expiry: NOW + ahead }),
        1 => Just(Op::Reset),
        1 => (0..2 * SECOND).prop_map(|duration| Op::Block { duration }),
        1 => (0..2 * SECOND).prop_map(|missing| Op::Start { missing }),
    ]
}

/// A time around now: of a clock behind, of this one, or of one so far ahead that it was set back since.
fn time() -> impl Strategy<Value = u64> {
    prop_oneof![NOW - SECOND..NOW + 5 * SECOND, NOW + 3_600 * SECOND..NOW + 3_601 * SECOND]
}

fn state() -> impl Strategy<Value = StoredState> {
    prop_oneof![
        Just(StoredState::FULL),
        time().prop_map(|at| State::Filling { full_at: Span::from_ns(at) }.into()),
        (time(), 0u8..40).prop_map(|(full_at, ahead)| State::Reserved {
            full_at,
            fraction: 7,
            ahead
        }
        .into()),
        (time(), 0..9 * SECOND).prop_map(|(at, debt)| {
            State::Overdrawn { forgiven_at: at / 500 * 500, debt: debt / 500 * 500 }.into()
        }),
        (time(), 0u32..40).prop_map(|(ends_at, hits)| State::Window { ends_at, hits }.into()),
        time().prop_map(|until| State::Blocked { until }.into()),
        prop::collection::vec(time(), 1..30).prop_map(|times| StoredState::Hits(Hits::new(times))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Whatever the limit, the state and the operation: a batch of n calls takes what n calls take, and each member computes
    /// the decision that its call gets.
    #[test]
    fn batch_equals_its_single_calls(
        limit in limit(), op in op(), before in state(), count in 1u32..40, member in 0u32..40,
    ) {
        let member = member % count;
        with_request(&limit, op, |request| {
            let (mut singly, mut state, mut accepted) = (Vec::new(), before.clone(), 0);
            for _ in 0..count {
                let (decision, after) = apply_once(request, &state, NOW);
                accepted += u32::from(decision.is_accepted());
                singly.push(decision);
                state = after;
            }
            let all = apply_all(request, &before, NOW, Share { index: member, count });
            prop_assert_eq!(&all.after, &state);
            prop_assert_eq!(all.accepted, accepted);
            prop_assert_eq!(all.decision, singly[member as usize]);
            prop_assert_eq!(all.last, singly[count as usize - 1]);
            let basis = all.basis(request, &before, NOW);
            let is_window = matches!((&limit, &before), (Limit::SlidingWindow(_), StoredState::Hits(_)));
            let is_condensed = is_window && limit.takes(op) && !op.settles();
            let fits = BasisState::whole(&before).is_some() || is_condensed;
            prop_assert_eq!(basis.is_some(), fits);
            if let Some(basis) = basis {
                let words = basis.to_words(77).unwrap();
                prop_assert_eq!(Basis::from_words(words, 78), None);
                let known = Basis::from_words(words, 77).unwrap();
                prop_assert_eq!(&known, &basis);
                for (index, decision) in (0u32..).zip(singly) {
                    prop_assert_eq!(decide_by(&known, request, index), decision, "call {}", index);
                }
            }
            Ok(())
        })?;
    }
}

#[test]
fn hosts_with_different_clocks_admit_no_more_than_the_limit() {
    let ops = [Op::Take { cost: 1 }, Op::Check, Op::Reserve { cost: 1, max_wait: SECOND }];
    for (op, skew_ms) in ops.into_iter().flat_map(|op| [(op, 0), (op, 5), (op, 900)]) {
        let limit = TokenBucket::per_second(100, 100.0).unwrap().into();
        let (mut state, mut accepted) = (StoredState::FULL, 0);
        // Ten seconds, every 0.2 ms a call, by two hosts alternately.
        for call in 0..50_000u64 {
            let own = 1_000 * SECOND + call * 200_000 + call % 2 * skew_ms * 1_000_000;
            let now = latest_clock(&limit, &state, own);
            let (decision, after) = apply(&limit, &state, now, op);
            state = after;
            accepted += u64::from(decision.is_accepted());
        }
        // The tokens of ten seconds and of the skew, and a reservation's second.
        assert!(accepted <= 1_100 + skew_ms / 10 + 100, "{op:?}, {skew_ms} ms: {accepted}");
    }
}

#[test]
fn call_accepted_by_another_clock_has_nothing_to_wait_for() {
    let limit = Limit::from(TokenBucket::per_second(100, 100.0).unwrap());
    let (own, other) = (1_000 * SECOND, 1_001 * SECOND);
    let (accepted, after) = apply(&limit, &StoredState::FULL, other, Op::Take { cost: 100 });
    assert_eq!(in_time_of(own, accepted).retry_after(), 0.0);
    let (denied, _) = apply(&limit, &after, other, Op::Take { cost: 1 });
    assert_eq!(in_time_of(own, denied).retry_after(), 1.01);
}

#[test]
fn clock_that_is_behind_decides_by_the_one_that_wrote_the_state_up_to_two_seconds() {
    let limit = Limit::from(TokenBucket::per_second(100, 100.0).unwrap());
    let (_, state) = apply(&limit, &StoredState::FULL, NOW, Op::Take { cost: 100 });
    let furthest = NOW - MAX_CLOCK_SKEW * SECOND;
    let clocks =
        [NOW + 1, NOW, furthest, furthest - 1].map(|own| latest_clock(&limit, &state, own));
    assert_eq!(clocks, [NOW + 1, NOW, NOW, furthest - 1]);
    // A block needs no limit, so it does not ask when the state was written.
    let block = Op::Block { duration: SECOND };
    let after = with_request(&limit, block, |request| {
        apply_all(request, &state, furthest, Share::ALONE).after
    });
    assert_eq!(after, apply(&limit, &state, furthest, block).1);
    assert_ne!(after, apply(&limit, &state, NOW, block).1);
}
