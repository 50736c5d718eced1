//! A limit on a server whose replica takes over: the state goes back to an earlier one.
//!
//! A replica has what its master sent before a moment, in the master's order. So its state of a key is one that the
//! master's had, and what was decided after it is forgotten.

use crate::history::{Asked, Call, Key, ON_THE_WAY};
use crate::search::Model;
use std::fmt::{self, Debug, Formatter};

/// A limit, and the fail-over of its server. Times are nanoseconds since 1970.
pub struct FailingOver<M> {
    pub model: M,
    pub fail_over: FailOver,
}

/// When the state that the replica has may have been the master's, and when it took over.
#[derive(Clone, Copy)]
pub struct FailOver {
    since: u64,
    taken_over: u64,
}

impl FailOver {
    /// That of a key's server, if there was one.
    pub fn of(key: &Key) -> Option<Self> {
        let fail_over = |call: &Call| match call.asked {
            // Nothing is forgotten.
            Asked::Failover { age: 0 } => Some(Self { since: u64::MAX, taken_over: call.end }),
            Asked::Failover { age } => {
                let since = call.begin.saturating_sub(age + key.clock_error);
                Some(Self { since, taken_over: call.end })
            }
            _ => None,
        };
        key.processes.iter().flatten().find_map(fail_over)
    }
}

/// What is known of the state, and of those that the replica may have.
#[derive(Clone, PartialEq)]
pub struct Known<K> {
    state: K,
    /// Earlier states, the latest last; `None` after the fail-over.
    earlier: Option<Vec<K>>,
}

/// The earlier states may be many.
impl<K: Debug> Debug for Known<K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.state.fmt(f)?;
        match self.earlier.as_deref() {
            None => f.write_str(" after the fail-over"),
            Some(earlier) => write!(f, ", {} earlier states", earlier.len()),
        }
    }
}

impl<M: Model> Model for FailingOver<M> {
    type Known = Known<M::Known>;

    fn first(&self) -> Self::Known {
        Known { state: self.model.first(), earlier: Some(Vec::new()) }
    }

    fn after(&self, known: &Self::Known, process: usize, call: &Call) -> Vec<Self::Known> {
        if let Asked::Failover { .. } = call.asked {
            // A second one is not expected.
            let Some(earlier) = &known.earlier else { return Vec::new() };
            let states = earlier.iter().chain([&known.state]);
            return states.map(|state| Known { state: state.clone(), earlier: None }).collect();
        }
        // The server to which it was sent is lost.
        let has_failed = call.answer.is_none() && call.end < self.fail_over.taken_over + ON_THE_WAY;
        if known.earlier.is_none() && has_failed {
            return Vec::new();
        }
        let with_earlier = |state: M::Known| {
            let mut earlier = known.earlier.clone();
            if let Some(earlier) = &mut earlier {
                if call.end >= self.fail_over.since {
                    if state != known.state && !earlier.contains(&known.state) {
                        earlier.push(known.state.clone());
                    }
                } else if call.answer.is_some() {
                    // Each state before this call had ended by then.
                    earlier.clear();
                }
            }
            Known { state, earlier }
        };
        self.model.after(&known.state, process, call).into_iter().map(with_earlier).collect()
    }

    fn lost(&self, known: &Self::Known) -> u64 {
        self.model.lost(&known.state)
    }

    fn likely_time(&self, known: &Self::Known, call: &Call) -> u64 {
        self.model.likely_time(&known.state, call)
    }

    fn covers(&self, known: &Self::Known, other: &Self::Known) -> bool {
        let covers = |known: &[M::Known], other: &[M::Known]| {
            other.iter().all(|other| known.iter().any(|known| self.model.covers(known, other)))
        };
        let earlier_too = match (&known.earlier, &other.earlier) {
            (Some(known), Some(other)) => covers(known, other),
            (None, None) => true,
            _ => false,
        };
        self.model.covers(&known.state, &other.state) && earlier_too
    }
}
