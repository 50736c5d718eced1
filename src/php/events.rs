//! Reports to PHP: warnings, and lines in the log.

use super::exceptions::Thrown;
use crate::limiter::Event;
use ext_php_rs::ffi;
use ext_php_rs::zend::{ExecutorGlobals, ProcessGlobals};
use std::ffi::{CString, c_char, c_int};

/// Reports the event of a call, if it has one. An error handler may run any PHP code and may throw: no
/// reference into an object or into the globals may be alive.
#[inline(always)]
pub fn emit_event(event: Option<Box<Event>>) -> Result<(), Thrown> {
    match event {
        None => Ok(()),
        Some(event) => emit_and_check(&event),
    }
}

#[cold]
fn emit_and_check(event: &Event) -> Result<(), Thrown> {
    event.recovery.as_deref().map(log);
    event.warning.as_deref().map(emit_warning);
    if ExecutorGlobals::has_exception() { Err(Thrown) } else { Ok(()) }
}

/// Emits a warning where no exception can be passed on: while directives are set.
pub fn emit_warning(message: &str) {
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

/// Writes a line to PHP's log, if `log_errors` is on. No error handler sees it.
fn log(message: &str) {
    unsafe extern "C" {
        // ext-php-rs does not bind its header.
        fn php_log_err_with_severity(message: *const c_char, severity: c_int);
    }
    /// `LOG_NOTICE` of syslog.
    const NOTICE: c_int = 5;
    if !ProcessGlobals::get().log_errors {
        return;
    }
    let message = CString::new(format!("token_bucket: {message}")).unwrap_or_default();
    // SAFETY: the engine reads a string that ends with NUL.
    unsafe { php_log_err_with_severity(message.as_ptr(), NOTICE) };
}
