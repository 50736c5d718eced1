//! A limit whose numbers change while calls run. Each call says which numbers it was made with, and by which time of a test's clock: so
//! each answer is known exactly.

use crate::history::{Asked, Call, Key};
use crate::search::Model;
use std::iter;
use token_bucket::limit::{Decision, Limit, Span, State, StoredState, apply};

/// Nanoseconds by which a recorded answer may differ, for it went through a float.
const ROUNDING: u64 = 1_000;
/// How far the test's clocks of two processes may differ that call at once, in nanoseconds: four ticks.
const TICKS: u64 = 4 * 15_625_000;

/// All numbers that the limit has.
pub struct Numbers {
    limits: Vec<Limit>,
    processes: usize,
    /// The times of all calls.
    times: Vec<u64>,
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
        let starts = iter::once(known.state.clone()).chain(self.claims(&known.state, call));
        let from = |state| self.decide(&Known { state, ..known.clone() }, process, call);
        starts.filter_map(from).collect()
    }
}

impl Numbers {
    pub fn new(limits: &[Limit], key: &Key) -> Self {
        let time = |call: &Call| match call.asked {
            Asked::By { now, .. } | Asked::Settle { now, .. } => Some(now),
            _ => None,
        };
        let mut times: Vec<u64> = key.processes.iter().flatten().filter_map(time).collect();
        times.sort_unstable();
        times.dedup();
        Self { limits: limits.to_vec(), processes: key.processes.len(), times }
    }

    /// In what state the call may find a key that has expired. In shared memory a process that claims a slot for it notes its own
    /// time there, at which the state is full: later than that of another process, whose test's clock is behind and stands still.
    fn claims(&self, state: &StoredState, call: &Call) -> impl Iterator<Item = StoredState> {
        let now = match call.asked {
            Asked::By { now, .. } | Asked::Settle { now, .. } if state.expires_at() <= now => now,
            _ => u64::MAX - TICKS,
        };
        let times = self.times.iter().filter(move |time| (now + 1..=now + TICKS).contains(time));
        times.map(|time| State::Filling { full_at: Span::from_ns(*time) }.into())
    }

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
                // What a call took already is settled without the store.
                let is_done = cost == decision.taken || {
                    let limit = self.limits.get(numbers)?;
                    let (settled, state) = apply(limit, &known.state, now, decision.settle(cost));
                    after.state = state;
                    settled.is_accepted()
                };
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
