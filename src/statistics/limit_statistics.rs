//! What was counted of a limit, and its name.

use super::minutes::CallsOfMinute;
use super::outcome::OutcomeCounts;

/// Which limit a [`LimitStatistics`] is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitName {
    /// The limit with this prefix and name.
    Known(Vec<u8>, Vec<u8>),
    /// All limits that found no free record.
    Others,
}

impl LimitName {
    /// The limit's prefix.
    pub fn prefix(&self) -> Option<&[u8]> {
        match self {
            Self::Known(prefix, _) => Some(prefix),
            Self::Others => None,
        }
    }

    /// The limit's name.
    pub fn name(&self) -> Option<&[u8]> {
        match self {
            Self::Known(_, name) => Some(name),
            Self::Others => None,
        }
    }
}

/// What was counted of a limit so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LimitStatistics {
    /// How often each [`Outcome`] occurred, in their order.
    pub outcomes: OutcomeCounts,
    /// Identifiers and about how often they were denied, the most often first.
    pub denied: Vec<(Vec<u8>, u64)>,
    /// Those of the outcomes that were counted by a name that was inferred from identifiers: a client may have made it
    /// up.
    pub inferred: OutcomeCounts,
    /// The calls of each minute of the last hour, the oldest first; the last one is not over.
    pub minutes: Vec<CallsOfMinute>,
}

impl LimitStatistics {
    /// Adds what was counted of the same limit elsewhere.
    pub(super) fn add(&mut self, other: Self) {
        let add = |sums: &mut OutcomeCounts, more: OutcomeCounts| {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.wrapping_add(more));
        };
        add(&mut self.outcomes, other.outcomes);
        add(&mut self.inferred, other.inferred);
        for (sum, more) in self.minutes.iter_mut().zip(other.minutes) {
            sum.calls += more.calls;
            sum.denied += more.denied;
            sum.would_deny += more.would_deny;
        }
    }
}
