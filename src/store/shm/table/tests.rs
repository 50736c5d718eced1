//! Sets that are too small for their keys.

use super::*;
use crate::limit::{Algorithm, FixedWindow, Limit, Op, SECOND, TokenBucket, apply};
use portable_atomic::AtomicU128;
use proptest::prelude::*;

const T0: u64 = 1_000_000 * SECOND;

struct Take {
    limit: Limit,
    now: u64,
    accepted: bool,
}

impl Change for Take {
    fn apply(&mut self, state: State) -> Option<State> {
        let (decision, after) = apply(&self.limit, state, self.now, Op::Take { cost: 1 });
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

fn take(set: &[AtomicU128], tag: u64, limit: &Limit, now: u64) -> bool {
    let mut take = Take { limit: *limit, now, accepted: false };
    update(set, tag, now, &mut take);
    take.accepted
}

/// Limits that take from a second to a day to be as new.
fn limits() -> Vec<Limit> {
    let bucket = |capacity, window| TokenBucket::per_window(capacity, window).unwrap().into();
    let window = |limit, interval| FixedWindow::new(limit, interval).unwrap().into();
    vec![
        bucket(10, 300),
        bucket(3, 1),
        bucket(2, 86_400),
        bucket(5, 20),
        window(4, 60.0),
        window(1, 3.0),
    ]
}

proptest! {
    /// Many more keys than a set has room for, of limits short and long: whoever was pushed out and
    /// comes back is never let in before he would have been, had he stayed.
    #[test]
    fn who_was_pushed_out_gains_nothing(
        size in 2usize..=WAYS,
        calls in prop::collection::vec((0u64..24, 0u64..4, 0u64..40), 1..600),
    ) {
        let set: Vec<AtomicU128> = (0..size).map(|_| AtomicU128::new(0)).collect();
        let limits = limits();
        // What each would have, were there room for all; charged with what he was given.
        let mut alone = [State::FULL; 24];
        let mut now = T0;
        for (key, scale, wait) in calls {
            now += wait * [0, 1, SECOND / 10, SECOND * 5][scale as usize];
            let limit = &limits[key as usize % limits.len()];
            if take(&set, key + 1, limit, now) {
                let (decision, after) = apply(limit, alone[key as usize], now, Op::Take { cost: 1 });
                prop_assert!(decision.accepted, "{key} at {}", now - T0);
                alone[key as usize] = after;
            }
        }
    }
}
