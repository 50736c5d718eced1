//! Reports to PHP: warnings, and lines in the log.

use super::exceptions::Thrown;
use crate::limiter::Event;
use ext_php_rs::ffi;
use ext_php_rs::zend::{ExecutorGlobals, ProcessGlobals};
use std::ffi::{CString, c_char, c_int};

const E_WARNING: c_int = ffi::E_WARNING as c_int;
/// The type of a zval without a value.
const UNDEF: u8 = ffi::IS_UNDEF as u8;

/// Reports the event of a call, if it has one. What PHP prints may pass through an output callback, which may
/// run any PHP code and may throw: no reference into an object or into the globals may be alive.
#[inline(always)]
pub fn emit_event(event: Option<Event>) -> Result<(), Thrown> {
    match event {
        None => Ok(()),
        Some(event) => emit_and_check(&event),
    }
}

#[cold]
fn emit_and_check(event: &Event) -> Result<(), Thrown> {
    if let Some(recovery) = &event.recovery {
        log(recovery, Severity::Notice);
    }
    match &event.warning {
        // The call has an answer. A handler that throws or exits would put its own in that place.
        Some(warning) if is_handled_by_application() => log(warning, Severity::Warning),
        Some(warning) => emit_warning(warning),
        None => {}
    }
    if ExecutorGlobals::has_exception() { Err(Thrown) } else { Ok(()) }
}

/// Whether a warning would not be left to PHP: it would call an error handler, or be thrown by the internal
/// function that waits for this call.
fn is_handled_by_application() -> bool {
    let globals = ExecutorGlobals::get();
    // SAFETY: the type of a zval is always initialized; it is UNDEF while there is no handler.
    let has_handler = unsafe { globals.user_error_handler.u1.v.type_ } != UNDEF;
    let wants_warnings = globals.user_error_handler_error_reporting & E_WARNING != 0;
    has_handler && wants_warnings || globals.error_handling != ffi::zend_error_handling_t_EH_NORMAL
}

/// Emits a warning where no exception can be passed on: while directives are set.
pub fn emit_warning(message: &str) {
    let message = CString::new(message).unwrap_or_default();
    // SAFETY: the format takes the one string it is given.
    unsafe {
        ffi::php_error_docref(std::ptr::null(), E_WARNING, c"%s".as_ptr(), message.as_ptr());
    }
}

/// How severe a line in the log is, as syslog counts.
#[derive(Clone, Copy)]
enum Severity {
    /// `LOG_WARNING`
    Warning = 4,
    /// `LOG_NOTICE`
    Notice = 5,
}

/// Writes a line to PHP's log, if `log_errors` is on. No error handler is called.
fn log(message: &str, severity: Severity) {
    unsafe extern "C" {
        // ext-php-rs does not bind its header.
        fn php_log_err_with_severity(message: *const c_char, severity: c_int);
    }
    if !ProcessGlobals::get().log_errors {
        return;
    }
    let message = CString::new(format!("token_bucket: {message}")).unwrap_or_default();
    // SAFETY: the engine reads a string that ends with NUL.
    unsafe { php_log_err_with_severity(message.as_ptr(), severity as c_int) };
}
