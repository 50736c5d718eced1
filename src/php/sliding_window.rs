//! `TokenBucket\SlidingWindow`.

use super::engine::call::{Call, handler};
use super::engine::declare::{Class, Parameter};
use super::engine::exceptions::Thrown;
use super::meter;
use crate::limit::{Limit, SlidingWindow};

/// The class.
pub static CLASS: Class = Class::new();

const PARAMETERS: &[Parameter] = &meter::parameters(c"interval");

/// Makes the class known to the engine.
pub fn register() {
    meter::register(&CLASS, "TokenBucket\\SlidingWindow", handler!(construct), PARAMETERS);
}

fn construct(call: &Call) -> Result<(), Thrown> {
    meter::construct_window(call, |hits, interval| {
        SlidingWindow::new(hits, interval).map(Limit::from)
    })
}
