//! Limits of which nothing comes back by itself while they are called: how much of each is used.

use crate::history::{Asked, Call};
use crate::search::Model;
use token_bucket::limit::Op;

/// One limit, or those of a compound.
pub struct Counted {
    /// The hits of each.
    pub limits: Vec<u64>,
    /// A denial is right also if so many are left: leases hold them, or another call that will be denied.
    pub kept: u64,
}

impl Model for Counted {
    /// What is used of each limit.
    type Known = Vec<u64>;

    fn first(&self) -> Vec<u64> {
        vec![0; self.limits.len()]
    }

    fn after(&self, used: &Vec<u64>, _: usize, call: &Call) -> Vec<Vec<u64>> {
        let after = match call.asked {
            Asked::Op(Op::Refund { cost, .. }) => {
                return vec![used.iter().map(|used| used.saturating_sub(cost)).collect()];
            }
            // What is not there is taken, too, down to a capacity below empty.
            Asked::Op(Op::Settle { cost, .. }) => {
                let limits = self.limits.iter().zip(used);
                return vec![limits.map(|(limit, used)| (used + cost).min(2 * limit)).collect()];
            }
            Asked::Op(op @ (Op::Take { cost } | Op::TakeUpTo { most: cost, .. })) => {
                self.take(used, call, op.needs(), |_| cost)
            }
            Asked::Op(op @ Op::Peek { .. }) => self.take(used, call, op.needs(), |_| 0),
            Asked::Only { member, cost } => {
                self.take(used, call, cost, |at| if at == member { cost } else { 0 })
            }
            _ => None,
        };
        after.into_iter().collect()
    }
}

impl Counted {
    /// What is used after a call that takes so much of each limit; `None` if it does not give the answer.
    fn take(
        &self,
        used: &[u64],
        call: &Call,
        needs: u64,
        cost: impl Fn(usize) -> u64,
    ) -> Option<Vec<u64>> {
        let is_only = matches!(call.asked, Asked::Only { .. });
        let limits = || self.limits.iter().zip(used).enumerate();
        let asked = || limits().filter(|(at, _)| !is_only || cost(*at) > 0);
        let is_there = asked().all(|(_, (limit, used))| used + needs <= *limit);
        let may_be_denied = asked().any(|(_, (limit, used))| used + needs + self.kept > *limit);
        let taken: Vec<u64> = limits().map(|(at, (_, used))| used + cost(at)).collect();
        let Some(answer) = &call.answer else { return is_there.then_some(taken) };
        let after = if answer.accepted { taken } else { used.to_vec() };
        let least = || {
            let left = self.limits.iter().zip(&after).enumerate();
            let asked = left.filter(|(at, _)| !is_only || cost(*at) > 0);
            asked.map(|(_, (limit, used))| limit.saturating_sub(*used)).min()
        };
        let is_right = if answer.accepted { is_there } else { may_be_denied };
        (is_right && answer.left.as_ref().is_none_or(|left| least() == Some(left.remaining)))
            .then_some(after)
    }
}
