//! `TokenBucket\LeakyBucket`.

use super::bucket::{self, Bucket, LimitArguments};
use super::call::{Call, handler};
use super::declare::{self, Class, Method, Type, public, required};
use super::exceptions::{Thrown, value_error};
use super::globals::GLOBALS;
use super::interfaces;
use super::object;
use crate::limit::LimitError;
use ext_php_rs::flags::ClassFlags;
use std::ptr;

static CLASS: Class = Class::new();

const METHODS: &[Method] = &[
    public(
        c"__construct",
        handler!(construct),
        &[
            bucket::STORAGE,
            bucket::IDENTIFIER,
            required(c"limit", Type::INT),
            required(c"period", Type::FLOAT),
            bucket::LIMIT_NAME,
        ],
        Type::NONE,
    ),
    bucket::CONSUME,
    bucket::ATTEMPT,
    bucket::PEEK,
    bucket::REFUND,
    bucket::RESET,
];

/// Makes the class known to the engine.
pub fn register() {
    let interfaces = [&interfaces::LIMITER];
    let name = "TokenBucket\\LeakyBucket";
    declare::class(&CLASS, name, ClassFlags::Final, METHODS, ptr::null_mut(), &interfaces);
    object::install_handlers::<Bucket>(&CLASS);
}

fn construct(call: &Call) -> Result<(), Thrown> {
    call.expect(4, 5)?;
    let store = bucket::store(call)?;
    call.string(2)?;
    let (limit, period) = (call.int(3, 0)?, call.float(4)?);
    if !(period.is_finite() && period > 0.0) {
        return Err(value_error(4, LimitError::Interval));
    }
    // A meter that leaks evenly is a token bucket told from its other side.
    let made =
        GLOBALS.get().per_second(limit, limit as f64 / period).map_err(|wrong| match wrong {
            LimitError::Capacity => value_error(3, wrong),
            LimitError::RateTooHigh => {
                value_error(4, "must be a nanosecond at least for each of the limit")
            }
            _ => value_error(4, LimitError::Interval),
        })?;
    let arguments = LimitArguments::LeakyBucket(limit, period);
    call.construct(Bucket::new(call, store, Some(made), arguments)?);
    Ok(())
}
