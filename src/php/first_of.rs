//! `TokenBucket\FirstOf`: several limits, of which the first one that accepts a call is charged.

use super::decision::{self, DecisionObject};
use super::engine::call::{Call, handler};
use super::engine::declare::{Class, Method, Type, no_discard, public};
use super::engine::exceptions::Thrown;
use super::engine::object;
use super::events::deliver;
use super::globals::GLOBALS;
use super::interfaces::{self, DECISION, TOKEN_COUNT, TOKENS};
use super::limiter_methods::{LEAVE, leave};
use super::limiter_set::{self, BLOCK, LimiterSet, Part, RESET, parts};
use crate::limit::{JointRule, Op};
use crate::limiter::{
    FirstAnswer, FlaggedDecision, Member, Report, peek_first, take_first, take_on_host,
};
use ext_php_rs::flags::ClassFlags;
use std::rc::Rc;

pub static CLASS: Class = Class::new();

const METHODS: &[Method] = &[
    public(
        c"__construct",
        handler!(|call: &Call| limiter_set::construct(call, JointRule::First)),
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

/// Takes from the first limiter that accepts.
fn take(call: &Call, parts: &Rc<[Part]>, cost: u64, leave: u64) -> Result<FirstAnswer, Thrown> {
    let frozen = GLOBALS.get().frozen_time.get();
    let members: Vec<Member<'_>> = parts.iter().map(|part| part.member(cost, leave)).collect();
    let answer = deliver(take_first(&members, frozen))?;
    note_charged(call, parts, answer.decision(), answer.place)?;
    Ok(answer)
}

/// Takes from the first limiter if it is on this host and accepts.
#[inline(always)]
fn take_on_first(parts: &[Part], cost: u64, leave: u64) -> Option<Report<FlaggedDecision>> {
    take_on_host(&parts.first()?.member(cost, leave), GLOBALS.get().frozen_time.get())
}

/// Keeps where the object's `refund()` puts tokens back, unless PHP code has constructed it again meanwhile.
#[inline(always)]
fn note_charged(
    call: &Call,
    parts: &Rc<[Part]>,
    decision: Option<&FlaggedDecision>,
    place: usize,
) -> Result<(), Thrown> {
    if !decision.is_some_and(|it| it.decision.is_accepted() && it.decision.taken > 0) {
        return Ok(());
    }
    call.with_this(|this: &LimiterSet| {
        if Rc::ptr_eq(&this.parts, parts) {
            this.charged.set(Some(place));
        }
    })
}

fn consume(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 1)?;
    let (cost, parts) = (call.token_count(1)?, parts(call)?);
    let admitted = match take_on_first(&parts, cost, 0) {
        Some(report) => {
            let flagged = deliver(report)?;
            note_charged(call, &parts, Some(&flagged), 0)?;
            flagged.is_admitted()
        }
        None => {
            let answer = take(call, &parts, cost, 0)?;
            answer.decision().is_some_and(FlaggedDecision::is_admitted)
        }
    };
    call.return_bool(admitted)
}

fn attempt(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 2)?;
    let (cost, leave) = (call.token_count(1)?, leave(call, 2)?);
    let parts = parts(call)?;
    if let (Some(report), Some(first)) = (take_on_first(&parts, cost, leave), parts.first()) {
        let flagged = deliver(report)?;
        note_charged(call, &parts, Some(&flagged), 0)?;
        let decision = DecisionObject::one(first.decision(flagged, cost));
        return call.return_new(&decision::CLASS, decision);
    }
    let answer = take(call, &parts, cost, leave)?;
    return_decision(call, &parts, &answer, cost)
}

fn peek(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 2)?;
    let (cost, leave) = (call.token_count(1)?, leave(call, 2)?);
    let parts = parts(call)?;
    let members: Vec<Member<'_>> = parts.iter().map(|part| part.member(cost, leave)).collect();
    let answer = deliver(peek_first(&members, GLOBALS.get().frozen_time.get()))?;
    return_decision(call, &parts, &answer, 0)
}

fn return_decision(
    call: &Call,
    parts: &[Part],
    answer: &FirstAnswer,
    asked: u64,
) -> Result<(), Thrown> {
    let is_admitted = answer.decision().is_some_and(FlaggedDecision::is_admitted);
    let each = parts.iter().zip(&answer.each);
    let mut decisions = each.filter_map(|(part, flagged)| Some(part.decision((*flagged)?, asked)));
    let decision = match is_admitted {
        // Limits before it deny: they have an answer, too.
        true => decisions.nth(answer.place).map(DecisionObject::one),
        false => Some(DecisionObject::denied(decisions.collect(), answer.place)),
    };
    call.return_new(&decision::CLASS, decision.ok_or(Thrown)?)
}

fn refund(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 1)?;
    let (cost, parts) = (call.token_count(1)?, parts(call)?);
    let charged = call.with_this(|this: &LimiterSet| this.charged.get())?;
    let Some(part) = charged.and_then(|place| parts.get(place)) else {
        return call.return_bool(false);
    };
    let flagged = deliver(part.decide(Op::Refund { cost, expiry: None }))?;
    call.return_bool(flagged.has_refunded())
}
