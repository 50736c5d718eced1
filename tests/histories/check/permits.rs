//! Permits: how many each process holds.

use crate::history::{Asked, Call};
use crate::search::Model;

/// So many permits at once.
pub struct Permits {
    pub max: u64,
    /// How many the store may keep from a call that leaves some.
    pub kept: u64,
    pub processes: usize,
}

impl Model for Permits {
    /// How many each process holds.
    type Known = Vec<u64>;

    fn first(&self) -> Vec<u64> {
        vec![0; self.processes]
    }

    fn after(&self, held: &Vec<u64>, process: usize, call: &Call) -> Vec<Vec<u64>> {
        let held_by_all = held.iter().sum::<u64>();
        let with = |process: usize, change: &dyn Fn(u64) -> u64| {
            let changed = held.iter().enumerate();
            changed.map(|(at, n)| if at == process { change(*n) } else { *n }).collect()
        };
        match call.asked {
            Asked::Acquire { leave } => {
                let is_free = held_by_all + leave < self.max;
                let kept = if leave > 0 { self.kept } else { 0 };
                let may_be_denied = held_by_all + leave + kept >= self.max;
                match call.answer.as_ref().map(|answer| answer.accepted) {
                    Some(false) if may_be_denied => vec![held.clone()],
                    Some(true) | None if is_free => vec![with(process, &|n| n + 1)],
                    _ => Vec::new(),
                }
            }
            Asked::Release => vec![with(process, &|n| n.saturating_sub(1))],
            Asked::Freed { owner } => vec![with(owner, &|_| 0)],
            _ => Vec::new(),
        }
    }
}
