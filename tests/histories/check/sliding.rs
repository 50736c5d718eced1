//! Sliding windows: each hit leaves one interval after it came.
//!
//! When a hit came is known as a range: its call's begin and end, narrowed by those of the calls after it.
//!
//! Where hits are taken one by one, a call may also see hits of calls beside it that have not all of theirs yet and
//! may give them back; a killed one leaves what it had.

use crate::history::{Asked, Call};
use crate::search::Model;
use std::collections::BTreeSet;
use token_bucket::limit::{Op, SlidingWindow};

/// A sliding window.
pub struct Sliding<'a> {
    pub window: SlidingWindow,
    /// The calls of each process, if hits are taken one by one.
    pub one_by_one: Option<&'a [Vec<Call>]>,
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

/// The hits that count, the oldest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    came: Vec<Came>,
    /// The earliest time at which the last call can have come. No call that ended before comes later.
    decided: u64,
}

impl Model for Sliding<'_> {
    type Known = Known;

    fn first(&self) -> Known {
        Known { came: Vec::new(), decided: 0 }
    }

    fn after(&self, known: &Known, process: usize, call: &Call) -> Vec<Known> {
        if call.asked == Asked::Op(Op::Reset) {
            return vec![Known { came: Vec::new(), ..*known }];
        }
        let beside = self.hits_beside(process, call);
        let after = |gone| self.after_leaving(known, gone, call, beside);
        (0..=known.came.len()).flat_map(after).collect()
    }

    fn covers(&self, known: &Known, other: &Known) -> bool {
        if known.decided > other.decided {
            return false;
        }
        let (known, other) = (&known.came, &other.came);
        let covers = |(known, other): (&Came, &Came)| {
            known.hits == other.hits
                && known.earliest <= other.earliest
                && other.latest <= known.latest
        };
        known.len() == other.len() && known.iter().zip(other).all(covers)
    }
}

impl Sliding<'_> {
    /// What may be known after a call by which the first `gone` of the hits had left, and which saw up to `beside`
    /// hits that others had only begun to take.
    fn after_leaving(&self, known: &Known, gone: usize, call: &Call, beside: u64) -> Vec<Known> {
        let Some((kept, [earliest, latest])) = self.leaving(&known.came, gone, call) else {
            return Vec::new();
        };
        if latest < known.decided {
            return Vec::new();
        }
        // A hit came before the calls after it; one that is taken one by one may be found before it is decided on.
        let is_by_then = self.one_by_one.is_none();
        let by_then = |came: &Came| match is_by_then {
            true => Came { latest: came.latest.min(latest), ..*came },
            false => came.clone(),
        };
        let hits: u64 = kept.iter().map(|came| came.hits).sum();
        let Some(free) = u64::from(self.window.max_hits()).checked_sub(hits) else {
            return Vec::new();
        };
        let seen = free.saturating_sub(beside)..=free;
        let taken: BTreeSet<u64> = seen.flat_map(|free| self.taken(call, free)).collect();
        let came = |hits: u64| (hits > 0).then_some(Came { hits, earliest, latest });
        let decided = known.decided.max(earliest);
        let after =
            |hits| Known { came: kept.iter().map(by_then).chain(came(hits)).collect(), decided };
        taken.into_iter().map(after).collect()
    }

    /// The hits that still count, and the range of times at which the call came.
    fn leaving<'k>(
        &self,
        known: &'k [Came],
        gone: usize,
        call: &Call,
    ) -> Option<(&'k [Came], [u64; 2])> {
        let leaves = |time: u64| time + self.window.interval();
        let (left, kept) = known.split_at_checked(gone)?;
        // One that came at the same time or later.
        let at_least = known.last().map_or(0, |came| came.earliest);
        let [from, mut latest] = call.times(self.clock_error);
        let mut earliest = from.max(at_least);
        earliest = left.last().map_or(earliest, |came| earliest.max(leaves(came.earliest)));
        latest = kept.first().map_or(latest, |came| latest.min(leaves(came.latest)));
        (earliest <= latest).then_some((kept, [earliest, latest]))
    }

    /// How many hits a call may have taken that saw so many free ones; none if its answer is another.
    fn taken(&self, call: &Call, free: u64) -> Vec<u64> {
        let Asked::Op(op) = call.asked else { return Vec::new() };
        let is_accepted = op.needs() <= free;
        let taken = match op {
            Op::Take { cost } if is_accepted => cost,
            Op::TakeUpTo { most, leave, .. } if is_accepted => most.min(free - leave),
            Op::Peek { .. } | Op::Take { .. } | Op::TakeUpTo { .. } => 0,
            _ => return Vec::new(),
        };
        match &call.answer {
            None if self.one_by_one.is_some() => (0..=taken).collect(),
            None => vec![taken],
            Some(answer) => {
                let left = answer.left.as_ref().map(|left| left.remaining);
                let fits = answer.accepted == is_accepted && left.is_none_or(|n| n == free - taken);
                fits.then_some(taken).into_iter().collect()
            }
        }
    }

    /// The hits that calls of other processes take or give back while this one runs.
    fn hits_beside(&self, process: usize, call: &Call) -> u64 {
        let others = self.one_by_one.unwrap_or_default().iter().enumerate();
        let others = others.filter(|(other, _)| *other != process).flat_map(|(_, calls)| calls);
        let beside = others.filter(|other| other.begin <= call.end && call.begin <= other.end);
        let hits = |other: &Call| match other.asked {
            Asked::Op(op) if op.takes_hits() => op.cost(),
            _ => 0,
        };
        beside.map(hits).sum()
    }
}
