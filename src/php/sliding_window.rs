//! `TokenBucket\SlidingWindow`.

use super::engine::call::{Call, handler};
use super::engine::declare::Class;
use super::engine::exceptions::Thrown;
use super::interval_limit;
use crate::limit::{Limit, SlidingWindow};

/// The class.
pub static CLASS: Class = Class::new();

/// Makes the class known to the engine.
pub fn register() {
    interval_limit::register(&CLASS, "TokenBucket\\SlidingWindow", handler!(construct));
}

fn construct(call: &Call) -> Result<(), Thrown> {
    interval_limit::construct_window(call, |hits, interval| {
        SlidingWindow::new(hits, interval).map(Limit::from)
    })
}
