//! `TokenBucket\LeakyBucket`.

use super::call::{Call, handler};
use super::declare::{Class, Parameter};
use super::exceptions::{Thrown, value_error};
use super::globals::GLOBALS;
use super::limiter_object::{LimitArguments, LimiterObject};
use super::meter::{self, LIMIT_POSITION, MeterArguments, SECONDS_POSITION};
use crate::limit::LimitError;

static CLASS: Class = Class::new();

const PARAMETERS: &[Parameter] = &meter::parameters(c"period");

/// Makes the class known to the engine.
pub fn register() {
    meter::register(&CLASS, "TokenBucket\\LeakyBucket", handler!(construct), PARAMETERS);
}

fn construct(call: &Call) -> Result<(), Thrown> {
    let MeterArguments { backend, limit: capacity, seconds: period } =
        meter::parse_arguments(call)?;
    if !(period.is_finite() && period > 0.0) {
        return Err(value_error(SECONDS_POSITION, LimitError::Interval));
    }
    // A leaky bucket decides as the token bucket does that refills at the rate at which this one leaks.
    let limit = GLOBALS.get().per_second(capacity, capacity as f64 / period);
    let limit = limit.map_err(|error| match error {
        LimitError::Capacity => value_error(LIMIT_POSITION, error),
        LimitError::RateTooHigh => {
            value_error(SECONDS_POSITION, "must be at least one nanosecond for each unit of $limit")
        }
        _ => value_error(SECONDS_POSITION, LimitError::Interval),
    })?;
    let arguments =
        LimitArguments::Meter { limit: capacity, seconds: period, seconds_name: &"period" };
    call.construct(LimiterObject::from_call(call, backend, Some(limit), arguments)?);
    Ok(())
}
