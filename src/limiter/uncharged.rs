//! Answers to calls of which a limit learns nothing: they are accepted, and nothing is charged.

use super::flagged_decision::{DecisionFlags, FlaggedDecision};
use crate::clock::{now, time_of_day_ahead};
use crate::guard::{DecidedBy, Report};
use crate::limit::{Decision, Limit, Op, StoredState, apply};

/// The decision of a dry run on which the store failed: the call goes on.
#[cold]
pub(super) fn decision_of_failed_dry_run(limit: &Limit) -> FlaggedDecision {
    let flags = DecisionFlags::new(DecidedBy::Policy, false);
    FlaggedDecision { decision: untouched(limit), flags }
}

/// The answer to a call of a client that no limit holds.
#[cold]
pub(super) fn exempt(limit: &Limit) -> Report {
    Report::answered(untouched(limit), DecidedBy::Exemption)
}

/// The decision on a call that takes nothing, on a limit of which nothing was taken.
fn untouched(limit: &Limit) -> Decision {
    let now = now();
    let limit = limit.on_this_host(time_of_day_ahead(now));
    apply(&limit, &StoredState::FULL, now, Op::Peek { cost: 0 }).0
}
