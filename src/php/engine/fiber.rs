//! Which fiber runs.

use ext_php_rs::zend::ExecutorGlobals;

/// Tells a fiber from all others that live.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FiberId(usize);

impl FiberId {
    /// That of the fiber that runs; none outside fibers.
    pub fn of_running() -> Option<Self> {
        let fiber = ExecutorGlobals::get().active_fiber;
        (!fiber.is_null()).then(|| Self(fiber.addr()))
    }
}
