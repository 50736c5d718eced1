//! `Decision::settle()`, and `refund()`, which is `settle(0)`: what a call cost takes the place of what it took.

use super::decision::DecisionObject;
use super::engine::call::{Call, handler};
use super::engine::declare::{Method, Type, public, required};
use super::engine::exceptions::{Thrown, logic_exception};
use super::events::deliver;
use super::globals::GLOBALS;
use super::limit_decision::LimitDecision;
use super::token_counts::{self, TokenCounts};
use crate::limit::Decision;
use crate::limiter::{DecidedBy, Report, Settled, Settlement, settle as settle_all};

pub const SETTLE: Method = public(
    c"settle",
    handler!(settle),
    &[required(c"tokens", Type::INT.or(Type::ARRAY))],
    Type::BOOL.or_null(),
);
pub const REFUND: Method = public(c"refund", handler!(refund), &[], Type::BOOL.or_null());

fn settle(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(1, 1)?;
    // A denied call took nothing, and knows only the limits that were asked.
    let limits =
        call.with_this(|this: &DecisionObject| this.is_admitted().then_some(this.limits().len()))?;
    let costs = token_counts::parse(call, 1, limits, 0)?;
    return_settled(call, "settle", &costs)
}

fn refund(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    return_settled(call, "refund", &TokenCounts::All(0))
}

fn return_settled(call: &Call, method: &str, costs: &TokenCounts) -> Result<(), Thrown> {
    match call.with_this_mut(|this: &mut DecisionObject| settle_once(this, costs))? {
        Some(report) => call.return_bool_or_null(deliver(report)?),
        None => Err(logic_exception(format!(
            "{method}() is not available on a storage written in PHP: TokenBucketStorage has consume() only"
        ))),
    }
}

/// Settles a decision. The answer is whether any limit charges the call what it cost; none if that is not known. No report if
/// a limit is on a storage written in PHP.
fn settle_once(this: &mut DecisionObject, costs: &TokenCounts) -> Option<Report<Option<bool>>> {
    let is_native = |limit: &LimitDecision| limit.origin.limiter.is_some();
    if !this.limits().iter().all(is_native) {
        return None;
    }
    if !this.claim_settlement() {
        return Some(Report::answered(Some(false), DecidedBy::Store));
    }
    let limits = this.limits();
    let each: Vec<_> = limits
        .iter()
        .enumerate()
        .filter_map(|(i, limit)| {
            Some(Settlement {
                limiter: limit.origin.limiter.as_ref()?,
                identifier: limit.origin.identifier.as_bytes(),
                limit: &limit.limit,
                decision: limit.decided(),
                decided_by: limit.flagged.flags.decided_by(),
                cost: costs.at(i),
            })
        })
        .collect();
    let report = settle_all(&each, GLOBALS.get().frozen_time.get());
    if let Ok(settled) = &report.answer {
        for (limit, Settled { level, .. }) in this.limits_mut().iter_mut().zip(settled) {
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

/// The decision tells what is left after it was settled.
fn note_level(limit: &mut LimitDecision, level: Option<Decision>) {
    if let Some(Decision { now, expires_at, available, .. }) = level {
        let decision = &mut limit.flagged.decision;
        *decision = Decision { now, expires_at, available, ..*decision };
    }
}
