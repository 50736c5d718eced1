//! `TokenBucket\LeakyBucket`.

use super::engine::call::{Call, handler};
use super::engine::declare::{Class, Parameter};
use super::engine::exceptions::Thrown;
use super::limiter_object::{LimitArguments, LimiterObject};
use super::meter::{self, MeterArguments};

/// The class.
pub static CLASS: Class = Class::new();

const PARAMETERS: &[Parameter] = &meter::parameters(c"period");

/// Makes the class known to the engine.
pub fn register() {
    meter::register(&CLASS, "TokenBucket\\LeakyBucket", handler!(construct), PARAMETERS);
}

fn construct(call: &Call) -> Result<(), Thrown> {
    let MeterArguments { backend, limit: capacity, seconds: period } =
        meter::parse_arguments(call)?;
    // A leaky bucket decides as the token bucket does that refills at the rate at which this one leaks.
    let limit = meter::limit_per_period(capacity, period)?;
    let arguments =
        LimitArguments::Meter { limit: capacity, seconds: period, seconds_name: &"period" };
    call.construct(LimiterObject::from_call(call, backend, Some(limit), arguments)?);
    Ok(())
}
