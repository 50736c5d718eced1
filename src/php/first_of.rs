//! `TokenBucket\FirstOf`: several limits, of which the first one that accepts a call is charged.

use super::decision::{self, DecisionObject};
use super::engine::call::{Call, handler};
use super::engine::declare::{Class, Method, Type, no_discard, public};
use super::engine::exceptions::Thrown;
use super::engine::object;
use super::events::deliver;
use super::interfaces::{self, DECISION, TOKEN_COUNT, TOKENS};
use super::limit_decision::Asked;
use super::limiter_methods::{LEAVE, leave};
use super::limiter_set::{self, BLOCK, LimiterSet, Part, RESET, SetKind, parts};
use crate::limit::Op;
use crate::limiter::{FirstAnswer, FlaggedDecision, Member, peek_first, take_first};
use ext_php_rs::flags::ClassFlags;
use std::rc::Rc;

pub static CLASS: Class = Class::new();

const METHODS: &[Method] = &[
    public(
        c"__construct",
        handler!(|call: &Call| limiter_set::construct(call, SetKind::FirstOf)),
        limiter_set::LIMITERS,
        Type::NONE,
    ),
    public(c"consume", handler!(consume), &[TOKEN_COUNT], Type::BOOL),
    no_discard(public(c"attempt", handler!(attempt), &[TOKENS, LEAVE], DECISION)),
    public(c"peek", handler!(peek), &[TOKENS, LEAVE], DECISION),
    public(c"refund", handler!(refund), &[TOKENS], Type::BOOL),
    RESET,
    BLOCK,
];

pub fn register() {
    let (flags, interfaces) = (ClassFlags::Final, [&interfaces::LIMITER]);
    object::class::<LimiterSet>(&CLASS, "TokenBucket\\FirstOf", flags, METHODS, &interfaces);
}

/// The limits of a call that takes `cost` from one of them and leaves so many.
fn members(parts: &[Part], cost: u64, leave: u64) -> impl Iterator<Item = Member<'_>> {
    parts.iter().map(move |part| part.member(cost, leave))
}

/// Takes from the first limiter that accepts.
#[inline(always)]
fn take(call: &Call, parts: &Rc<[Part]>, cost: u64, leave: u64) -> Result<FirstAnswer, Thrown> {
    let answer = deliver(take_first(members(parts, cost, leave)))?;
    if let FirstAnswer::GoesOn { position, decision: FlaggedDecision { decision, .. } } = &answer
        && decision.is_accepted()
        && decision.taken > 0
    {
        call.with_this(|this: &LimiterSet| {
            // PHP code may have constructed the object again meanwhile.
            if Rc::ptr_eq(&this.parts, parts) {
                this.charged.set(*position);
            }
        })?;
    }
    Ok(answer)
}

fn consume(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 1)?;
    let (cost, parts) = (call.token_count(1)?, parts(call)?);
    let answer = take(call, &parts, cost, 0)?;
    call.return_bool(matches!(answer, FirstAnswer::GoesOn { .. }))
}

fn attempt(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 2)?;
    let (cost, leave) = (call.token_count(1)?, leave(call, 2)?);
    let parts = parts(call)?;
    let answer = take(call, &parts, cost, leave)?;
    return_decision(call, &parts, answer, Asked::all(cost, false))
}

fn peek(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 2)?;
    let (cost, leave) = (call.token_count(1)?, leave(call, 2)?);
    let parts = parts(call)?;
    let answer = deliver(peek_first(members(&parts, cost, leave)))?;
    return_decision(call, &parts, answer, Asked::all(cost, true))
}

fn return_decision(
    call: &Call,
    parts: &[Part],
    answer: FirstAnswer,
    asked: Asked,
) -> Result<(), Thrown> {
    let decision = match answer {
        FirstAnswer::GoesOn { position, decision } => {
            let part = parts.get(position).ok_or(Thrown)?;
            DecisionObject::one(part.decision(decision, asked))
        }
        FirstAnswer::Denied { each, soonest } => {
            let each = parts.iter().zip(each);
            let each = each.map(|(part, decision)| part.decision(decision, asked));
            DecisionObject::denied(each.collect(), soonest)
        }
    };
    call.return_new(&decision::CLASS, decision)
}

fn refund(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 1)?;
    let (cost, parts) = (call.token_count(1)?, parts(call)?);
    let charged = call.with_this(|this: &LimiterSet| this.charged.get())?;
    let Some(part) = charged.and_then(|position| parts.get(position)) else {
        return call.return_bool(false);
    };
    let flagged = deliver(part.decide(Op::Refund { cost, expiry: None }))?;
    call.return_bool(flagged.has_refunded())
}
