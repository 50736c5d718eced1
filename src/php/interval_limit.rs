//! `TokenBucket\LeakyBucket`, `FixedWindow` and `SlidingWindow`: the classes of `($storage, $identifier, int $limit, float
//! $interval, $name)`, the parameters of `TokenBucket::per()`.

use super::engine::call::{Call, handler};
use super::engine::declare::{Class, Handler, Method, Parameter, Type, public, required};
use super::engine::exceptions::{Thrown, value_error};
use super::engine::object;
use super::globals::GLOBALS;
use super::interfaces;
use super::likely_mistakes::warn_of_milliseconds;
use super::limiter_methods::{
    ATTEMPT, BLOCK, CONSUME, IDENTIFIER, LIMIT_NAME, PEEK, REFUND, RESERVE, RESET, STORAGE,
    TAKE_UP_TO,
};
use super::limiter_object::{LimitArguments, LimiterObject};
use super::storage_argument::{Backend, expect_own_storage, parse_storage_argument};
use crate::limit::{FixedWindow, Limit, LimitError, SlidingWindow};
use ext_php_rs::flags::ClassFlags;
use std::rc::Rc;

pub static LEAKY_BUCKET: Class = Class::new();
pub static FIXED_WINDOW: Class = Class::new();
pub static SLIDING_WINDOW: Class = Class::new();

/// The positions of the arguments in the constructors, for error messages.
pub const LIMIT_POSITION: u32 = 3;
pub const INTERVAL_POSITION: u32 = 4;

/// The arguments of a constructor, but for those that `LimiterObject::from_call` reads.
pub struct IntervalArguments {
    pub backend: Backend,
    pub limit: i64,
    pub interval: f64,
}

/// The parameters of the constructors and of `per()`.
pub const PARAMETERS: &[Parameter] = &[
    STORAGE,
    IDENTIFIER,
    required(c"limit", Type::INT),
    required(c"interval", Type::FLOAT),
    LIMIT_NAME,
];

pub fn register() {
    let leaky_bucket = handler!(construct_leaky_bucket);
    class(&LEAKY_BUCKET, "TokenBucket\\LeakyBucket", leaky_bucket, &[RESERVE]);
    class(&FIXED_WINDOW, "TokenBucket\\FixedWindow", handler!(construct_fixed_window), &[]);
    class(&SLIDING_WINDOW, "TokenBucket\\SlidingWindow", handler!(construct_sliding_window), &[]);
}

/// Makes a class known to the engine, with methods that the others lack.
fn class(class: &Class, name: &str, constructor: Handler, more: &[Method]) {
    let constructor = public(c"__construct", constructor, PARAMETERS, Type::NONE);
    let common = [constructor, CONSUME, ATTEMPT, TAKE_UP_TO, PEEK, REFUND, RESET, BLOCK];
    let methods = [&common, more].concat();
    let interfaces = [&interfaces::LIMITER];
    object::class::<LimiterObject>(class, name, ClassFlags::Final, &methods, &interfaces);
}

/// Reads the arguments of the constructor in the order of its parameters, so that the first one of a wrong
/// type is reported.
#[inline(always)]
pub fn parse_arguments(call: &Call) -> Result<IntervalArguments, Thrown> {
    call.expect_arguments(4, 5)?;
    let backend = parse_storage_argument(call)?;
    call.string(2)?;
    let (limit, interval) = (call.int(LIMIT_POSITION, 0)?, call.float(INTERVAL_POSITION)?);
    Ok(IntervalArguments { backend, limit, interval })
}

fn construct_leaky_bucket(call: &Call) -> Result<(), Thrown> {
    let IntervalArguments { backend, limit: capacity, interval } = parse_arguments(call)?;
    // A leaky bucket decides as the token bucket does that refills at the rate at which this one leaks.
    let limit = limit_per_interval(capacity, interval)?;
    let arguments = LimitArguments::Interval { limit: capacity, interval };
    call.construct(LimiterObject::from_call(call, backend, Some(limit), arguments)?);
    warn_of_milliseconds("$interval", interval)
}

fn construct_fixed_window(call: &Call) -> Result<(), Thrown> {
    construct_window(call, FixedWindow::new)
}

fn construct_sliding_window(call: &Call) -> Result<(), Thrown> {
    construct_window(call, SlidingWindow::new)
}

/// Constructs a window. `limit` makes it from the number of hits and the interval in seconds.
fn construct_window<T: Into<Limit>>(
    call: &Call,
    limit: fn(i64, f64) -> Result<T, LimitError>,
) -> Result<(), Thrown> {
    let IntervalArguments { backend, limit: hits, interval } = parse_arguments(call)?;
    expect_own_storage(&backend)?;
    let limit = limit(hits, interval).map_err(|error| match error {
        LimitError::Hits | LimitError::SlidingHits => value_error(LIMIT_POSITION, error),
        _ => value_error(INTERVAL_POSITION, error),
    })?;
    let arguments = LimitArguments::Interval { limit: hits, interval };
    let limiter = LimiterObject::from_call(call, backend, Some(Rc::new(limit.into())), arguments)?;
    call.construct(limiter);
    warn_of_milliseconds("$interval", interval)
}

/// A token bucket of `capacity` tokens that come back evenly over `interval` seconds.
#[inline(always)]
pub fn limit_per_interval(capacity: i64, interval: f64) -> Result<Rc<Limit>, Thrown> {
    let limit = GLOBALS.get().per_period(capacity, interval);
    limit.map_err(|error| throw_wrong_limit(error, LIMIT_POSITION, INTERVAL_POSITION))
}

/// Throws what is wrong with a number of tokens or with the seconds in which they come back; both by the positions of
/// their arguments.
#[cold]
pub fn throw_wrong_limit(error: LimitError, limit: u32, interval: u32) -> Thrown {
    match error {
        LimitError::Capacity => value_error(limit, error),
        LimitError::RateTooHigh => {
            value_error(interval, "must be at least one nanosecond for each unit of $limit")
        }
        _ => value_error(interval, LimitError::Interval),
    }
}
