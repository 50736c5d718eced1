//! The methods that all limiter classes share, and the parameters of their constructors.

use super::decision::{self, DecisionObject};
use super::engine::call::{Call, handler};
use super::engine::declare::{
    Method, Parameter, Type, no_discard, optional, public, required, sensitive,
};
use super::engine::exceptions::{Thrown, logic_exception, value_error};
use super::globals::GLOBALS;
use super::interfaces::{DECISION, SECONDS, TOKEN_COUNT, TOKENS};
use super::likely_mistakes::warn_of_milliseconds;
use super::limit_decision::{Asked, LimitDecision, Origin};
use super::limiter_object::{LimitArguments, LimiterObject, throw_unsupported};
use super::php_storage::{self, PhpBucket};
use super::storage_argument::Backend;
use crate::clock::boot_time;
use crate::limit::{Limit, Op, SECOND, TokenBucket, duration_from_seconds};
use crate::limiter::{
    CallStatistics, DecidedBy, DecisionFlags, DenialCause, DeniedBy, FlaggedDecision, Incidents,
    Limiter,
};
use ext_php_rs::ffi;
use std::rc::Rc;

/// The first parameter of the constructors.
pub const STORAGE: Parameter =
    sensitive(required(c"storage", Type::object(c"TokenBucketStorage").or(Type::STRING).or_null()));
/// The second parameter of the constructors.
pub const IDENTIFIER: Parameter = required(c"identifier", Type::STRING);
/// The last parameter of the constructors.
pub const LIMIT_NAME: Parameter = optional(c"name", Type::STRING.or_null(), c"null");

/// What must be left after a call, 0 if it was not passed.
pub const LEAVE: Parameter = optional(c"leave", Type::INT, c"0");

pub const CONSUME: Method = public(c"consume", handler!(consume), &[TOKEN_COUNT], Type::BOOL);
pub const ATTEMPT: Method =
    no_discard(public(c"attempt", handler!(attempt), &[TOKENS, LEAVE], DECISION));
pub const PEEK: Method = public(c"peek", handler!(peek), &[TOKENS, LEAVE], DECISION);
pub const REFUND: Method = public(c"refund", handler!(refund), &[TOKENS], Type::BOOL);
/// For all but a `Compound`.
pub const TAKE_UP_TO: Method = public(
    c"takeUpTo",
    handler!(take_up_to),
    &[required(c"most", Type::INT), optional(c"least", Type::INT, c"1"), LEAVE],
    DECISION,
);
/// For buckets: hits of the future cannot be taken from a window.
pub const RESERVE: Method = no_discard(public(
    c"reserve",
    handler!(reserve),
    &[TOKENS, optional(c"maxWait", Type::FLOAT.or_null(), c"null")],
    DECISION,
));
pub const RESET: Method = public(c"reset", handler!(reset), &[], Type::VOID);
pub const BLOCK: Method = public(c"block", handler!(block), &[SECONDS], Type::VOID);

pub fn consume(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 1)?;
    let cost = call.token_count(1)?;
    let decided = call.try_with_this(|this: &LimiterObject| {
        let Backend::Native(limiter) = &this.backend else { return Ok(None) };
        Ok(Some(this.admits(limiter, this.limit("consume")?, &Op::Take { cost })?))
    })?;
    let admitted = match decided {
        Some(admitted) => admitted.deliver()?,
        None => consume_unusual(call, cost)?,
    };
    call.return_bool(admitted)
}

/// Takes tokens from a limit that leaves some or does not hold, or on a storage written in PHP.
#[cold]
fn consume_unusual(call: &Call, cost: u64) -> Result<bool, Thrown> {
    let decided = call.try_with_this(|this: &LimiterObject| {
        let Backend::Named(named) = &this.backend else { return Ok(None) };
        let op = Op::take(cost, named.leave(cost, 0));
        Ok(Some(this.admits(&named.limiter, this.limit("consume")?, &op)?))
    })?;
    match decided {
        Some(admitted) => admitted.deliver(),
        None => Ok(consume_php_storage(call, "consume", cost)?.is_admitted()),
    }
}

/// The argument `$leave` at this position.
#[inline]
pub fn leave(call: &Call, n: u32) -> Result<u64, Thrown> {
    call.token_count_of(n, 0, ffi::_zend_expected_type_Z_EXPECTED_LONG)
}

pub fn attempt(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 2)?;
    let (cost, leave) = (call.token_count(1)?, leave(call, 2)?);
    let on_php_storage = call.try_with_this(|this: &LimiterObject| {
        let Backend::Php(..) = this.backend else { return Ok(None) };
        if leave > 0 {
            return Err(logic_exception(
                "attempt(): $leave is not available on a storage written in PHP: TokenBucketStorage has \
                 consume() only",
            ));
        }
        let limit = Rc::clone(this.limit("attempt")?);
        Ok(Some((limit, this.shared_identifier(), this.shared_name())))
    })?;
    let Some((limit, identifier, name)) = on_php_storage else {
        return return_decision(call, "attempt", Op::Take { cost }, leave);
    };
    let flagged = consume_php_storage(call, "attempt", cost)?;
    let origin = Origin { limiter: None, identifier, name };
    let asked = Asked::by(&Op::Take { cost });
    let decision = DecisionObject::one(LimitDecision { flagged, limit, asked, leave: 0, origin });
    call.return_new(&decision::CLASS, decision)
}

pub fn peek(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 2)?;
    let (cost, leave) = (call.token_count(1)?, leave(call, 2)?);
    return_decision(call, "peek", Op::Peek { cost }, leave)
}

fn take_up_to(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(1, 3)?;
    let most = u64::try_from(call.int(1, 1)?).ok();
    let most = most.ok_or_else(|| value_error(1, "must be greater than or equal to 0"))?;
    let least = u64::try_from(call.int(2, 1)?).ok();
    // The default, 1, is no more than nothing to take.
    let least = least.filter(|least| (1..=most.max(1)).contains(least));
    let least = least.ok_or_else(|| value_error(2, "must be between 1 and $most"))?;
    let leave = leave(call, 3)?;
    let op = match most {
        0 => Op::Take { cost: 0 },
        most => Op::TakeUpTo { most, least, leave: 0 },
    };
    return_decision(call, "takeUpTo", op, leave)
}

fn reserve(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 2)?;
    let cost = call.token_count(1)?;
    let max_wait = match call.float_or_null(2)? {
        None => u64::MAX,
        Some(seconds) if seconds >= 0.0 => (seconds * SECOND as f64).round() as u64,
        Some(_) => return Err(value_error(2, "must be greater than or equal to 0")),
    };
    return_decision(call, "reserve", Op::Reserve { cost, max_wait }, 0)
}

pub fn refund(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 1)?;
    let cost = call.token_count(1)?;
    let refunded = call.try_with_this(|this: &LimiterObject| {
        let (limiter, limit) = (this.limiter("refund")?, this.limit("refund")?);
        this.decide(limiter, limit, &Op::Refund { cost, expiry: None })
    })?;
    call.return_bool(refunded.deliver()?.has_refunded())
}

pub fn reset(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    apply_without_limit(call, "reset", Op::Reset)
}

pub fn block(call: &Call) -> Result<(), Thrown> {
    block_by(call, |op| apply_without_limit(call, "block", op))
}

/// Blocks for the seconds in the argument, by `apply`.
pub fn block_by(call: &Call, apply: impl FnOnce(Op) -> Result<(), Thrown>) -> Result<(), Thrown> {
    call.expect_arguments(1, 1)?;
    let seconds = call.float(1)?;
    let duration = duration_from_seconds(seconds).map_err(|error| value_error(1, error))?;
    apply(Op::Block { duration })?;
    warn_of_milliseconds("$seconds", seconds)
}

/// Applies an operation that ignores the limit to the object's own bucket.
fn apply_without_limit(call: &Call, method: &str, op: Op) -> Result<(), Thrown> {
    let decided = call.try_with_this(|this: &LimiterObject| {
        let limiter = this.limiter(method)?;
        match &this.limit {
            Some(limit) => this.decide(limiter, limit, &op),
            // Any limit will do.
            None => this.decide(limiter, &TokenBucket::SMALLEST.into(), &op),
        }
    })?;
    decided.deliver().map(drop)
}

/// Applies `op` to the object's own bucket, which it `leave`s so many tokens, and returns the decision to PHP.
#[inline]
pub fn return_decision(call: &Call, method: &str, op: Op, leave: u64) -> Result<(), Thrown> {
    let returned = call.try_with_this(|this: &LimiterObject| {
        let (limiter, leaving) = match &this.backend {
            Backend::Native(limiter) if leave == 0 => (limiter, None),
            backend => leaving(backend, op, leave, method)?,
        };
        let (asked, op) = (Asked::by(&op), leaving.as_ref().unwrap_or(&op));
        let limit = this.limit(method)?;
        let decided = this.decide(limiter, limit, op)?;
        Ok(decided.map(|flagged| {
            let (identifier, name) = (this.shared_identifier(), this.shared_name());
            let origin = Origin { limiter: Some(Rc::clone(limiter)), identifier, name };
            let (limit, leave) = (Rc::clone(limit), this.backend.leave());
            let decision = LimitDecision { flagged, limit, asked, leave, origin };
            call.return_new(&decision::CLASS, DecisionObject::one(decision))
        }))
    })?;
    returned.deliver()?
}

/// The limiter, and the operation that leaves so many tokens.
#[cold]
fn leaving<'a>(
    backend: &'a Backend,
    op: Op,
    leave: u64,
    method: &str,
) -> Result<(&'a Rc<Limiter>, Option<Op>), Thrown> {
    match backend {
        Backend::Native(limiter) => Ok((limiter, Some(op.leaving(leave)))),
        Backend::Named(named) => match op {
            Op::Reserve { .. } if named.leave > 0 => Err(throw_as_it_leaves(method)),
            op => Ok((&named.limiter, Some(op.leaving(named.leave(op.cost(), leave))))),
        },
        Backend::Php(..) => Err(throw_unsupported(method)),
    }
}

/// Throws for a method that takes tokens that may not be there.
#[cold]
pub fn throw_as_it_leaves(method: &str) -> Thrown {
    logic_exception(format!(
        "{method}() is not available on a limit that leaves tokens (\"leave\" in token_bucket.limits)"
    ))
}

/// Takes tokens from a bucket on a storage written in PHP, and counts the call.
#[cold]
fn consume_php_storage(call: &Call, method: &str, cost: u64) -> Result<FlaggedDecision, Thrown> {
    let (limit, bucket) = call.try_with_this(|this: &LimiterObject| {
        // The constructors of the other limits refuse a storage written in PHP.
        let Limit::TokenBucket(limit) = **this.limit(method)? else {
            return Err(throw_unsupported(method));
        };
        let (capacity, rate) = match this.arguments {
            LimitArguments::TokenBucket(Some(capacity), Some(rate)) => (capacity, rate),
            LimitArguments::Interval { limit, interval } => (limit, limit as f64 / interval),
            _ => return Err(throw_unsupported(method)),
        };
        let Backend::Php(storage) = &this.backend else { return Err(throw_unsupported(method)) };
        let (storage, identifier) = (storage.shallow_clone(), this.identifier_to_zval());
        Ok((limit, PhpBucket { storage, identifier, capacity, rate }))
    })?;
    if php_storage::is_deciding_for(call, &bucket.storage) {
        return Err(logic_exception(format!(
            "{method}(): a storage must not call the bucket for which its consume() is running"
        )));
    }
    let accepted = bucket.consume(cost);
    // The storage may have constructed this object once more.
    let enforced = call.with_this(|this: &LimiterObject| {
        let globals = GLOBALS.get();
        let settings = globals.settings();
        let cause = || DenialCause::new(&limit.into(), DeniedBy::Store, false, settings.enforce);
        let accepted = accepted.as_ref().ok().copied();
        let calls = CallStatistics { statistics: &globals.statistics(), settings: &settings };
        // Without the limit no mistake is noticed.
        let (op, none) = (Op::Take { cost }, Incidents::NONE);
        let _ = calls.add_call(&this.context(), None, &op, accepted, none, boot_time, cause);
        settings.enforce
    })?;
    let decision = php_storage::decision(&limit, cost, accepted?);
    Ok(FlaggedDecision { decision, flags: DecisionFlags::new(DecidedBy::Store, enforced) })
}
