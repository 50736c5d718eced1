//! `TokenBucket\FixedWindow`.

use super::engine::call::{Call, handler};
use super::engine::declare::{Class, Parameter};
use super::engine::exceptions::Thrown;
use super::meter;
use crate::limit::{FixedWindow, Limit};

/// The class.
pub static CLASS: Class = Class::new();

const PARAMETERS: &[Parameter] = &meter::parameters(c"interval");

/// Makes the class known to the engine.
pub fn register() {
    meter::register(&CLASS, "TokenBucket\\FixedWindow", handler!(construct), PARAMETERS);
}

fn construct(call: &Call) -> Result<(), Thrown> {
    meter::construct_window(call, |hits, interval| {
        FixedWindow::new(hits, interval).map(Limit::from)
    })
}
