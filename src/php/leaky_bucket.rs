//! `TokenBucket\LeakyBucket`.

use super::engine::call::{Call, handler};
use super::engine::declare::Class;
use super::engine::exceptions::Thrown;
use super::interval_limit::{self, IntervalArguments};
use super::limiter_object::{LimitArguments, LimiterObject};

/// The class.
pub static CLASS: Class = Class::new();

/// Makes the class known to the engine.
pub fn register() {
    interval_limit::register(&CLASS, "TokenBucket\\LeakyBucket", handler!(construct));
}

fn construct(call: &Call) -> Result<(), Thrown> {
    let IntervalArguments { backend, limit: capacity, interval } =
        interval_limit::parse_arguments(call)?;
    // A leaky bucket decides as the token bucket does that refills at the rate at which this one leaks.
    let limit = interval_limit::limit_per_interval(capacity, interval)?;
    let arguments = LimitArguments::Interval { limit: capacity, interval };
    call.construct(LimiterObject::from_call(call, backend, Some(limit), arguments)?);
    Ok(())
}
