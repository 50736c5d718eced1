//! Sliding windows: each hit leaves one interval after it came.
//!
//! When a hit came is known as a range: its call's begin and end, narrowed by what later answers say of it.

use crate::history::{Asked, Call};
use crate::search::Model;
use token_bucket::limit::{Op, SlidingWindow};

/// A sliding window.
pub struct Sliding {
    pub window: SlidingWindow,
    /// Nanoseconds by which the time of a decision may lie outside the call.
    pub clock_error: u64,
}

/// Hits that came at one time, which is within `earliest` and `latest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Came {
    hits: u64,
    earliest: u64,
    latest: u64,
}

impl Model for Sliding {
    /// The hits that count, the oldest first.
    type Known = Vec<Came>;

    fn first(&self) -> Vec<Came> {
        Vec::new()
    }

    fn after(&self, known: &Vec<Came>, _: usize, call: &Call) -> Vec<Vec<Came>> {
        if call.asked == Asked::Op(Op::Reset) {
            return vec![Vec::new()];
        }
        (0..=known.len()).filter_map(|gone| self.after_leaving(known, gone, call)).collect()
    }
}

impl Sliding {
    /// What may be known after a call by which the first `gone` of the hits had left.
    fn after_leaving(&self, known: &[Came], gone: usize, call: &Call) -> Option<Vec<Came>> {
        let Asked::Op(op) = call.asked else { return None };
        let leaves = |time: u64| time + self.window.interval();
        let (left, kept) = known.split_at_checked(gone)?;
        // One that came at the same time or later.
        let at_least = known.last().map_or(0, |came| came.earliest);
        let mut earliest = call.begin.saturating_sub(self.clock_error).max(at_least);
        let mut latest = call.end.saturating_add(self.clock_error);
        earliest = left.last().map_or(earliest, |came| earliest.max(leaves(came.earliest)));
        latest = kept.first().map_or(latest, |came| latest.min(leaves(came.latest)));
        if earliest > latest {
            return None;
        }
        let max = u64::from(self.window.max_hits());
        let free = max.checked_sub(kept.iter().map(|came| came.hits).sum())?;
        let is_accepted = op.needs() <= free;
        let taken = match op {
            Op::Take { cost } if is_accepted => cost,
            Op::TakeUpTo { most, leave, .. } if is_accepted => most.min(free - leave),
            Op::Peek { .. } | Op::Take { .. } | Op::TakeUpTo { .. } => 0,
            _ => return None,
        };
        let fits = call.answer.as_ref().is_none_or(|answer| {
            let remaining = answer.left.as_ref().map(|left| left.remaining);
            answer.accepted == is_accepted && remaining.is_none_or(|n| n == free - taken)
        });
        let mut after = kept.to_vec();
        if taken > 0 {
            after.push(Came { hits: taken, earliest, latest });
        }
        fits.then_some(after)
    }
}
