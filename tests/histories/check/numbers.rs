//! A limit whose numbers change while calls run. Each call says which numbers it was made with, and by which time of a test's clock: so
//! each answer is known exactly.

use crate::history::{Asked, Call};
use crate::search::Model;
use token_bucket::limit::{Decision, Limit, StoredState, apply};

/// Nanoseconds by which a recorded answer may differ, for it went through a float.
const ROUNDING: u64 = 1_000;

/// All numbers that the limit has.
pub struct Numbers {
    pub limits: Vec<Limit>,
    pub processes: usize,
}

/// What is known of the state, and the last decision of each process, with its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    state: StoredState,
    decisions: Vec<Option<(Decision, usize)>>,
}

impl Model for Numbers {
    type Known = Known;

    fn first(&self) -> Known {
        Known { state: StoredState::FULL, decisions: vec![None; self.processes] }
    }

    fn after(&self, known: &Known, process: usize, call: &Call) -> Vec<Known> {
        self.decide(known, process, call).into_iter().collect()
    }
}

impl Numbers {
    /// What is known after the call; `None` if it cannot be next.
    fn decide(&self, known: &Known, process: usize, call: &Call) -> Option<Known> {
        let mut after = known.clone();
        let decided = after.decisions.get_mut(process)?;
        match call.asked {
            Asked::By { numbers, now, op } => {
                let limit = self.limits.get(numbers)?;
                let (decision, state) = apply(limit, &known.state, now, op);
                *decided = Some((decision, numbers));
                after.state = state;
                fits(limit, &decision, call).then_some(after)
            }
            Asked::Settle { now, cost } => {
                let (decision, numbers) = decided.take()?;
                let (settled, state) =
                    apply(self.limits.get(numbers)?, &known.state, now, decision.settle(cost));
                after.state = state;
                let is_done = cost == decision.taken || settled.is_accepted();
                call.answer.as_ref().is_none_or(|it| it.accepted == is_done).then_some(after)
            }
            _ => None,
        }
    }
}

/// Whether a decision is the one that was recorded. A call without an answer fits always.
fn fits(limit: &Limit, decision: &Decision, call: &Call) -> bool {
    let Some(answer) = &call.answer else { return true };
    let left_fits = answer.left.as_ref().is_none_or(|left| {
        let reset_after = decision.expires_at.saturating_sub(decision.now);
        left.remaining == limit.remaining(decision)
            && left.reset_after.is_none_or(|recorded| recorded.abs_diff(reset_after) <= ROUNDING)
    });
    left_fits && answer.accepted == decision.is_accepted()
}
