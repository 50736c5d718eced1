//! `TokenBucket\FirstOf`: several limits, of which the first one that accepts a call is charged.

use super::decision::{self, DecisionObject};
use super::engine::call::{Call, handler};
use super::engine::declare::{Class, Method, Type, no_discard, public, variadic};
use super::engine::exceptions::{Thrown, argument_type_error};
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

/// The class.
pub static CLASS: Class = Class::new();

const METHODS: &[Method] = &[
    public(
        c"__construct",
        handler!(construct),
        &[variadic(c"limiters", Type::object(c"TokenBucket\\Limiter"))],
        Type::NONE,
    ),
    public(c"consume", handler!(consume), &[TOKEN_COUNT], Type::BOOL),
    no_discard(public(c"attempt", handler!(attempt), &[TOKENS, LEAVE], DECISION)),
    public(c"peek", handler!(peek), &[TOKENS, LEAVE], DECISION),
    public(c"refund", handler!(refund), &[TOKENS], Type::BOOL),
    RESET,
    BLOCK,
];

/// Makes the class known to the engine.
pub fn register() {
    let (flags, interfaces) = (ClassFlags::Final, [&interfaces::LIMITER]);
    object::class::<LimiterSet>(&CLASS, "TokenBucket\\FirstOf", flags, METHODS, &interfaces);
}

fn construct(call: &Call) -> Result<(), Thrown> {
    call.expect_no_named_arguments()?;
    call.expect_arguments(2, u32::MAX)?;
    let mut parts = Vec::new();
    for argument in call.arguments() {
        let position = argument.position();
        let Some(part) = Part::from_argument(argument)? else {
            let object = argument.value().object();
            let message = match object {
                Some(object) if object::carries::<LimiterSet>(object) => {
                    "must be a single limiter: no store decides in one step on all of some limits and the first of others"
                }
                Some(object) if object.instance_of(interfaces::LIMITER.get()) => {
                    "must be a TokenBucket, LeakyBucket, FixedWindow, CalendarWindow or SlidingWindow: the decision of a \
                     limiter written in PHP cannot be settled where it was made"
                }
                _ => return Err(argument.throw_wrong_class(c"TokenBucket\\Limiter")),
            };
            return Err(argument_type_error(position, message));
        };
        limiter_set::add(&mut parts, part, position, "FirstOf")?;
    }
    call.construct(LimiterSet::new(JointRule::First, parts));
    Ok(())
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
    if !decision.is_some_and(|it| it.decision.accepted && it.decision.taken > 0) {
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
