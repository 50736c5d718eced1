//! `TokenBucket\LeakyBucket`.

use super::engine::call::{Call, handler};
use super::engine::declare::{Class, Parameter};
use super::engine::exceptions::Thrown;
use super::interval_limit::{self, IntervalArguments};
use super::limiter_object::{LimitArguments, LimiterObject};

/// The class.
pub static CLASS: Class = Class::new();

const PARAMETERS: &[Parameter] = &interval_limit::parameters(c"period");

/// Makes the class known to the engine.
pub fn register() {
    interval_limit::register(&CLASS, "TokenBucket\\LeakyBucket", handler!(construct), PARAMETERS);
}

fn construct(call: &Call) -> Result<(), Thrown> {
    let IntervalArguments { backend, limit: capacity, seconds: period } =
        interval_limit::parse_arguments(call)?;
    // A leaky bucket decides as the token bucket does that refills at the rate at which this one leaks.
    let limit = interval_limit::limit_per_period(capacity, period)?;
    let arguments =
        LimitArguments::Interval { limit: capacity, seconds: period, seconds_name: &"period" };
    call.construct(LimiterObject::from_call(call, backend, Some(limit), arguments)?);
    Ok(())
}
