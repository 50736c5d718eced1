//! `TokenBucket\Compound`: several limits, of which a call is charged all or none.

use super::decision::{self, DecisionObject};
use super::engine::call::{Call, handler};
use super::engine::declare::{Class, Method, Parameter, Type, no_discard, optional, public};
use super::engine::exceptions::Thrown;
use super::engine::object;
use super::events::deliver;
use super::interfaces::{self, DECISION};
use super::limit_decision::Asked;
use super::limiter_set::{self, BLOCK, LimiterSet, Part, RESET, SetKind, change_each, parts};
use super::token_counts;
use crate::limit::Op;
use crate::limiter::{Answers, FlaggedDecision, Member, Report, admits_all, peek_all, take_all};
use ext_php_rs::flags::ClassFlags;

pub static CLASS: Class = Class::new();

/// One number for all limits, or an array with one for each.
const TOKENS: Parameter = optional(c"tokens", Type::INT.or(Type::ARRAY), c"1");
/// What must be left of each limit.
const LEAVE: Parameter = Parameter { name: c"leave", default: Some(c"0"), ..TOKENS };
/// The parameter of `consume()`.
const TOKEN_COUNT: Parameter = Parameter { name: c"token_count", ..TOKENS };

const METHODS: &[Method] = &[
    public(
        c"__construct",
        handler!(|call: &Call| limiter_set::construct(call, SetKind::Compound)),
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
    object::class::<LimiterSet>(&CLASS, "TokenBucket\\Compound", flags, METHODS, &interfaces);
}

/// The limiters of the call's object, each with what the call asks of it.
fn members<'a>(call: &Call, parts: &'a [Part]) -> Result<Vec<Member<'a>>, Thrown> {
    let names = || Ok(Some(parts.iter().map(|part| part.name().into()).collect()));
    let costs = token_counts::parse(call, 1, names, 1)?;
    let leaves = token_counts::parse(call, 2, names, 0)?;
    let each = parts.iter().enumerate();
    Ok(each.map(|(i, part)| part.member(costs.at(i), leaves.at(i))).collect())
}

fn consume(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 1)?;
    let parts = parts(call)?;
    let members = members(call, &parts)?;
    let admitted = deliver(admits_all(&members))?;
    call.return_bool(admitted)
}

fn attempt(call: &Call) -> Result<(), Thrown> {
    return_decision(call, take_all, |cost| Asked::all(cost, false))
}

fn peek(call: &Call) -> Result<(), Thrown> {
    return_decision(call, peek_all, |cost| Asked::all(cost, true))
}

/// Asks the limits and returns their decision; `asked` says what a call of this cost asks of a limit.
fn return_decision(
    call: &Call,
    ask: fn(&[Member<'_>]) -> Report<Answers>,
    asked: fn(u64) -> Asked,
) -> Result<(), Thrown> {
    call.expect_arguments(0, 2)?;
    let parts = parts(call)?;
    let members = members(call, &parts)?;
    let answers = deliver(ask(&members))?;
    let each = parts.iter().zip(&members).zip(&answers);
    let decisions = each
        .filter_map(|((part, member), answer)| Some(part.decision((*answer)?, asked(member.cost))));
    call.return_new(&decision::CLASS, DecisionObject::several(decisions.collect()))
}

fn refund(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 1)?;
    let parts = parts(call)?;
    let members = members(call, &parts)?;
    let costs = members.iter().map(|member| member.cost);
    let each = change_each(&parts, costs.map(|cost| Op::Refund { cost, expiry: None }))?;
    call.return_bool(each.iter().any(FlaggedDecision::has_refunded))
}
