//! `TokenBucket\TestClock`: time that stands still, for tests of throttling.

use super::call::{Call, handler};
use super::declare::{self, Class, Method, Type, public_static, required};
use super::exceptions::{Thrown, logic_exception, value_error};
use super::globals::GLOBALS;
use crate::clock::from_seconds;
use crate::error::Error;
use crate::limit::{MAX_NOW, SECOND};
use ext_php_rs::flags::ClassFlags;
use std::ptr;

static CLASS: Class = Class::new();

const METHODS: &[Method] = &[
    public_static(c"freeze", handler!(freeze), &[required(c"seconds", Type::FLOAT)], Type::VOID),
    public_static(c"advance", handler!(advance), &[required(c"seconds", Type::FLOAT)], Type::VOID),
    public_static(c"resume", handler!(resume), &[], Type::VOID),
];

/// Makes the class known to the engine. Abstract, for it has no objects.
pub fn register() {
    let flags = ClassFlags::Abstract;
    declare::class(&CLASS, "TokenBucket\\TestClock", flags, METHODS, ptr::null_mut(), &[]);
}

/// Refuses where tests have no business: a frozen clock lifts, or locks, every limit.
fn allowed() -> Result<(), Thrown> {
    if GLOBALS.get().directives.test_clock.get() {
        return Ok(());
    }
    Err(Error::configuration(
        "TokenBucket\\TestClock needs token_bucket.test_clock=1 in php.ini; never set it in production",
    )
    .into())
}

fn freeze(call: &Call) -> Result<(), Thrown> {
    call.expect(1, 1)?;
    let seconds = call.float(1)?;
    allowed()?;
    let now = from_seconds(seconds).ok_or_else(out_of_range)?;
    GLOBALS.get().frozen.set(Some(now));
    Ok(())
}

fn advance(call: &Call) -> Result<(), Thrown> {
    call.expect(1, 1)?;
    let seconds = call.float(1)?;
    allowed()?;
    let frozen = &GLOBALS.get().frozen;
    let Some(now) = frozen.get() else {
        return Err(logic_exception(
            "TokenBucket\\TestClock::advance() needs a frozen clock, call freeze() first",
        ));
    };
    let step = from_seconds(seconds.abs()).ok_or_else(out_of_range)?;
    let then = if seconds < 0.0 { now.checked_sub(step) } else { now.checked_add(step) };
    frozen.set(Some(then.filter(|then| *then <= MAX_NOW).ok_or_else(out_of_range)?));
    Ok(())
}

fn resume(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 0)?;
    allowed()?;
    GLOBALS.get().frozen.set(None);
    Ok(())
}

fn out_of_range() -> Thrown {
    value_error(1, format!("must keep the clock between 0 and {} seconds", MAX_NOW / SECOND))
}
