//! Sleeps as a script does.

use super::exceptions::Thrown;
use crate::clock;
use ext_php_rs::types::ZendCallable;
use ext_php_rs::zend::ExecutorGlobals;
use std::time::Duration;

/// Sleeps for some nanoseconds, for a second at most, or until a signal comes: by PHP's own `usleep()`, so the engine does
/// then what is due. It calls the script's signal handlers, or ends the request whose `max_execution_time` is over. The
/// caller looks how much time is left.
///
/// # Errors
///
/// What a signal handler has thrown.
pub fn sleep(ns: u64) -> Result<(), Thrown> {
    /// A signal that comes just before the sleep begins does not end it, and is heeded after it.
    const LONGEST: u64 = 1_000_000_000;
    let ns = ns.min(LONGEST);
    let micros = ns.div_ceil(1_000) as i64;
    match ZendCallable::try_from_name("usleep").and_then(|usleep| usleep.try_call(vec![&micros])) {
        Ok(_) => Ok(()),
        Err(_) if ExecutorGlobals::has_exception() => Err(Thrown),
        // disable_functions has taken it away.
        Err(_) => {
            clock::sleep(Duration::from_nanos(ns));
            Ok(())
        }
    }
}
