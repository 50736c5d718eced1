//! Answers to calls of which a limit learns nothing: they are accepted, and nothing is charged.

use super::flagged_decision::{DecisionFlags, FlaggedDecision};
use crate::guard::{DecidedBy, Report, untouched};
use crate::limit::Limit;

/// The decision of a dry run on which the store failed: the call goes on.
#[cold]
pub(super) fn decision_of_failed_dry_run(limit: &Limit) -> FlaggedDecision {
    let (decision, flags) = (untouched(limit), DecisionFlags::new(DecidedBy::Policy, false));
    FlaggedDecision { decision, flags }
}

/// The answer to a call of a client that no limit holds.
#[cold]
pub(super) fn exempt(limit: &Limit) -> Report {
    Report::answered(untouched(limit), DecidedBy::Exemption)
}
