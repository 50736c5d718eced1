//! The limits of the operator's file that are in force.

use super::engine::exceptions::Thrown;
use super::events::deliver_warning;
use super::globals::GLOBALS;
use crate::error;
use crate::limiter::NamedLimits;
use std::rc::Rc;

/// The limits in force, or why there are none.
pub fn look_at_file() -> Result<error::Result<Rc<NamedLimits>>, Thrown> {
    let globals = GLOBALS.get();
    match globals.limits_file.limits(|| globals.settings().limits.clone()) {
        Ok((limits, warning)) => {
            if globals.limits_file.take_is_read_again() {
                globals.note_changed_limits();
            }
            // An output callback may run any PHP code; the limits are kept by their count.
            deliver_warning(warning)?;
            Ok(Ok(limits))
        }
        Err(error) => Ok(Err(error)),
    }
}

/// The limits in force, if this worker has used some of a file.
pub fn limits_in_use() -> Result<Option<Rc<NamedLimits>>, Thrown> {
    if GLOBALS.get().limits_file.is_read() { look_at_limits_file() } else { Ok(None) }
}

/// The limits in force, if there is a file of them that could be read.
pub fn look_at_limits_file() -> Result<Option<Rc<NamedLimits>>, Thrown> {
    Ok(look_at_file()?.ok())
}
