//! Settles the limits of a decision: what a call cost takes the place of what it took.

use super::engine::call::Call;
use super::engine::declare::{Parameter, Type, required};
use super::engine::exceptions::Thrown;
use super::engine::shared_string::SharedString;
use super::events::deliver;
use super::limit_decision::LimitDecision;
use super::limiter_object::throw_unsupported;
use super::token_counts::TokenCounts;
use crate::limit::Decision;
use crate::limiter::{DecidedBy, NamedLimits, Report, Settled, Settlement, settle as settle_all};

/// What a call cost: one number for all limits of its decision, or one for each.
pub const COSTS: Parameter = required(c"tokens", Type::INT.or(Type::ARRAY));

/// What came of it: whether any limit charges the call what it cost; none if that is not known. No report if a limit is on a
/// storage written in PHP.
pub type Outcome = Option<Report<Option<bool>>>;

/// Settles a decision on these limits, unless another call was first. `in_force` are the limits of the operator's file.
pub fn settle(
    limits: &mut [LimitDecision],
    is_first: bool,
    costs: &TokenCounts,
    in_force: Option<&NamedLimits>,
) -> Outcome {
    if limits.iter().any(|limit| limit.origin.limiter.is_none()) {
        return None;
    }
    if !is_first {
        return Some(Report::answered(Some(false), DecidedBy::Store));
    }
    let goes_on = limits.iter().all(|limit| limit.flagged.is_admitted());
    if let [limit] = limits {
        let report = settlement(limit, costs.at(0), in_force, goes_on)?.settle();
        if let Ok(settled) = &report.answer {
            note_level(limit, settled.level);
        }
        return Some(report.map(|answer| answer.map(|settled| settled.is_done)));
    }
    let settlement = |(i, limit)| settlement(limit, costs.at(i), in_force, goes_on);
    let each = limits.iter().enumerate().map(settlement);
    let report = settle_all(&each.collect::<Option<Vec<_>>>()?);
    if let Ok(settled) = &report.answer {
        for (limit, Settled { level, .. }) in limits.iter_mut().zip(settled) {
            note_level(limit, *level);
        }
    }
    let either = |any, one| match (any, one) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    };
    let is_done =
        |settled: Vec<Settled>| settled.into_iter().map(|it| it.is_done).fold(Some(false), either);
    Some(report.map(|answers| answers.map(is_done)))
}

/// What there is to settle of one limit. None on a storage written in PHP.
fn settlement<'a>(
    limit: &'a LimitDecision,
    cost: u64,
    in_force: Option<&'a NamedLimits>,
    goes_on: bool,
) -> Option<Settlement<'a>> {
    let identifier = limit.origin.identifier.as_bytes();
    let name = limit.origin.name.as_ref().map(SharedString::as_bytes);
    Some(Settlement {
        limiter: limit.origin.limiter.as_ref()?,
        identifier,
        limit: &limit.limit,
        in_force: in_force.zip(name).and_then(|(limits, name)| limits.limit_on(name, identifier)),
        decision: limit.decided(),
        decided_by: limit.flagged.flags.decided_by(),
        cost,
        asked_for_nothing: goes_on && !limit.asked.is_peek && limit.asked.least == 0,
    })
}

/// The decision tells what is left after it was settled.
fn note_level(limit: &mut LimitDecision, level: Option<Decision>) {
    if let Some(Decision { now, retry_at, expires_at, available, .. }) = level {
        let decision = &mut limit.flagged.decision;
        *decision = Decision { now, retry_at, expires_at, available, ..*decision };
    }
}

/// Returns the outcome to PHP, or throws in the name of `method`.
pub fn return_outcome(call: &Call, method: &str, outcome: Outcome) -> Result<(), Thrown> {
    match outcome {
        Some(report) => call.return_value(deliver(report)?),
        None => Err(throw_unsupported(method)),
    }
}
