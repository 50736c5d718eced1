//! Clocks of writers that differ.

use super::*;
use crate::limit::TokenBucket;
use crate::store::with_request;

const NOW: u64 = 100_000 * SECOND;

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
    let after = with_request(&limit, block, |request| decide(request, &state, furthest).1);
    assert_eq!(after, apply(&limit, &state, furthest, block).1);
    assert_ne!(after, apply(&limit, &state, NOW, block).1);
}
