//! PHP warnings.

use super::exceptions::Thrown;
use ext_php_rs::ffi;
use ext_php_rs::zend::ExecutorGlobals;
use std::ffi::{CString, c_int};

/// Emits the warning of a call, if it has one. An error handler may run any PHP code and may throw: no
/// reference into an object or into the globals may be alive.
#[inline(always)]
pub fn emit_warning(warning: Option<String>) -> Result<(), Thrown> {
    match warning {
        None => Ok(()),
        Some(message) => emit_and_check(&message),
    }
}

#[cold]
fn emit_and_check(message: &str) -> Result<(), Thrown> {
    emit(message);
    if ExecutorGlobals::has_exception() { Err(Thrown) } else { Ok(()) }
}

/// Emits a warning where no exception can be passed on: while directives are set.
pub fn emit(message: &str) {
    let message = CString::new(message).unwrap_or_default();
    // SAFETY: the format takes the one string it is given.
    unsafe {
        ffi::php_error_docref(
            std::ptr::null(),
            ffi::E_WARNING as c_int,
            c"%s".as_ptr(),
            message.as_ptr(),
        );
    }
}
