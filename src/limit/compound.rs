//! Several limits on one call: all of them are changed or none.

use super::any_limit::Limit;
use super::decision::Decision;
use super::leased::apply;
use super::op::Op;
use super::stored_state::StoredState;

/// One of several limits, and what a call asks of it.
#[derive(Clone, Debug)]
pub struct Charge<'a> {
    /// The limit.
    pub limit: &'a Limit,
    /// What the store remembers of its bucket or window.
    pub state: StoredState,
    /// The operation.
    pub op: Op,
    /// Whether its denial denies the call. A limit in a dry run is charged if it accepts, and otherwise
    /// left as it is.
    pub is_enforced: bool,
}

/// What came of a call on several limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointDecision {
    /// Whether all enforced limits accepted.
    pub is_accepted: bool,
    /// The decision of each limit, and the state to remember. A limit that is not charged keeps its state, but for times from
    /// the future, which are brought down.
    pub each: Vec<(Decision, StoredState)>,
}

impl JointDecision {
    /// The decision of each limit.
    pub fn decisions(&self) -> Vec<Decision> {
        self.each.iter().map(|(decision, _)| *decision).collect()
    }
}

/// Applies the operations to all limits if each of the enforced ones accepts, else to none.
///
/// If the call is denied, the decisions are those of [`Op::Peek`].
pub fn take_all(charges: &[Charge<'_>], now: u64) -> JointDecision {
    let apply = |charge: &Charge<'_>, op| apply(charge.limit, &charge.state, now, op);
    let taken: Vec<_> = charges.iter().map(|charge| apply(charge, charge.op)).collect();
    let is_denied = |(charge, (decision, _)): (&Charge<'_>, &(Decision, StoredState))| {
        charge.is_enforced && !decision.is_accepted()
    };
    if !charges.iter().zip(&taken).any(is_denied) {
        return JointDecision { is_accepted: true, each: taken };
    }
    let deny = |charge: &Charge<'_>| {
        let (_, corrected) = apply(charge, Op::Take { cost: 0 });
        (apply(charge, charge.op.peek()).0, corrected)
    };
    JointDecision { is_accepted: false, each: charges.iter().map(deny).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FixedWindow, SECOND, SlidingWindow, TokenBucket};
    use proptest::prelude::*;

    const T: u64 = 1_000 * SECOND;

    #[test]
    fn decisions_are_in_the_order_of_their_limits() {
        let limits =
            [1, 2].map(|capacity| Limit::from(TokenBucket::per_second(capacity, 1.0).unwrap()));
        let charges = limits.each_ref().map(|limit| Charge {
            limit,
            state: StoredState::FULL,
            op: Op::Take { cost: 1 },
            is_enforced: true,
        });
        let decisions = take_all(&charges, T).decisions();
        let left: Vec<_> = decisions
            .iter()
            .zip(&limits)
            .map(|(decision, limit)| limit.remaining(decision))
            .collect();
        assert_eq!(left, [0, 1]);
    }

    proptest! {
        #[test]
        fn all_required_limits_are_charged_or_none(
            calls in prop::collection::vec((0u64..SECOND, prop::array::uniform4(0u64..4)), 1..60),
            required: [bool; 4],
        ) {
            let limits = [
                Limit::from(TokenBucket::per_second(5, 2.0).unwrap()),
                Limit::from(TokenBucket::per_second(9, 1.0).unwrap()),
                Limit::from(FixedWindow::new(7, 3.0).unwrap()),
                Limit::from(SlidingWindow::new(6, 3.0).unwrap()),
            ];
            let (mut states, mut now) = ([StoredState::FULL; 4], T);
            for (step, costs) in calls {
                now += step;
                let charges: Vec<_> = (0..4)
                    .map(|i| Charge {
                        limit: &limits[i],
                        state: states[i].clone(),
                        op: Op::Take { cost: costs[i] },
                        is_enforced: required[i],
                    })
                    .collect();
                let alone: Vec<_> = charges
                    .iter()
                    .map(|it| apply(it.limit, &it.state, now, it.op))
                    .collect();
                let accepted = (0..4).all(|i| alone[i].0.is_accepted() || !required[i]);
                let joint = take_all(&charges, now);
                prop_assert_eq!(joint.is_accepted, accepted);
                for (i, (decision, after)) in joint.each.into_iter().enumerate() {
                    prop_assert_eq!(decision.is_accepted(), alone[i].0.is_accepted());
                    prop_assert_eq!(decision.retry_at, alone[i].0.retry_at);
                    prop_assert_eq!(&after, if accepted { &alone[i].1 } else { &states[i] });
                    let is_charged = accepted && decision.is_accepted();
                    prop_assert_eq!(decision.taken, if is_charged { costs[i] } else { 0 });
                    states[i] = after;
                }
            }
        }
    }
}
