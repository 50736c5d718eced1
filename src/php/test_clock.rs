//! `TokenBucket\TestClock`: freezes the time of all limiters, for tests.

use super::engine::call::{Call, NO_CONSTRUCTOR, handler};
use super::engine::declare;
use super::engine::declare::{Class, Method, PUBLIC_STATIC, Parameter, Type, method, required};
use super::engine::exceptions::{Thrown, logic_exception, value_error};
use super::globals::GLOBALS;
use crate::clock::{freeze as freeze_clock, from_seconds, frozen};
use crate::error::Error;
use crate::limit::{MAX_NOW, SECOND};
use ext_php_rs::flags::ClassFlags;
use std::ptr;

static CLASS: Class = Class::new();

const METHODS: &[Method] = &[
    method(PUBLIC_STATIC, c"freeze", handler!(freeze), &[SECONDS], Type::VOID),
    method(PUBLIC_STATIC, c"advance", handler!(advance), &[SECONDS], Type::VOID),
    method(PUBLIC_STATIC, c"resume", handler!(resume), &[], Type::VOID),
    NO_CONSTRUCTOR,
];

const SECONDS: Parameter = required(c"seconds", Type::FLOAT);

/// Makes the class known to the engine. It has static methods only, so nothing makes an object of it.
pub fn register() {
    let flags = ClassFlags::Final | ClassFlags::NoDynamicProperties;
    declare::class(&CLASS, "TokenBucket\\TestClock", flags, METHODS, ptr::null_mut(), &[]);
}

/// Throws unless the directive allows it: a frozen clock refills no bucket, and an advanced one all.
fn check_is_allowed() -> Result<(), Thrown> {
    if GLOBALS.get().settings().test_clock {
        return Ok(());
    }
    Err(Error::configuration(
        "TokenBucket\\TestClock needs token_bucket.test_clock=1 in php.ini, or by php -d; never set it in production",
    )
    .into())
}

fn freeze(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(1, 1)?;
    let seconds = call.float(1)?;
    check_is_allowed()?;
    let now = from_seconds(seconds).ok_or_else(throw_out_of_range)?;
    freeze_clock(Some(now));
    Ok(())
}

fn advance(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(1, 1)?;
    let seconds = call.float(1)?;
    check_is_allowed()?;
    let Some(now) = frozen() else {
        return Err(logic_exception(
            "TokenBucket\\TestClock::advance() needs a frozen clock, call freeze() first",
        ));
    };
    let step = from_seconds(seconds.abs()).ok_or_else(throw_out_of_range)?;
    let then = if seconds < 0.0 { now.checked_sub(step) } else { now.checked_add(step) };
    freeze_clock(Some(then.filter(|then| *then <= MAX_NOW).ok_or_else(throw_out_of_range)?));
    Ok(())
}

fn resume(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    check_is_allowed()?;
    freeze_clock(None);
    Ok(())
}

fn throw_out_of_range() -> Thrown {
    value_error(1, format!("must keep the clock between 0 and {} seconds", MAX_NOW / SECOND))
}
