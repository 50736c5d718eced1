//! `TokenBucket\FixedWindow`.

use super::call::{Call, handler};
use super::declare::{Class, Parameter};
use super::exceptions::{Thrown, value_error};
use super::limiter_object::{LimitArguments, LimiterObject};
use super::meter::{self, LIMIT_POSITION, MeterArguments, SECONDS_POSITION, STORAGE_POSITION};
use super::storage_argument::Backend;
use crate::limit::{FixedWindow, LimitError};
use std::rc::Rc;

static CLASS: Class = Class::new();

const PARAMETERS: &[Parameter] = &meter::parameters(c"interval");

/// Makes the class known to the engine.
pub fn register() {
    meter::register(&CLASS, "TokenBucket\\FixedWindow", handler!(construct), PARAMETERS);
}

fn construct(call: &Call) -> Result<(), Thrown> {
    let MeterArguments { backend, limit: hits, seconds: interval } = meter::parse_arguments(call)?;
    if let Backend::Php(..) = backend {
        return Err(value_error(
            STORAGE_POSITION,
            "must not be a storage written in PHP: TokenBucketStorage supports token buckets only",
        ));
    }
    let limit = FixedWindow::new(hits, interval).map_err(|error| match error {
        LimitError::Hits => value_error(LIMIT_POSITION, error),
        _ => value_error(SECONDS_POSITION, error),
    })?;
    let arguments =
        LimitArguments::Meter { limit: hits, seconds: interval, seconds_name: &"interval" };
    call.construct(LimiterObject::from_call(
        call,
        backend,
        Some(Rc::new(limit.into())),
        arguments,
    )?);
    Ok(())
}
