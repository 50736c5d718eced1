//! Reports to PHP: warnings, and lines in the log.

use super::exceptions::Thrown;
use crate::limiter::Event;
use ext_php_rs::ffi;
use ext_php_rs::zend::{ExecutorGlobals, ProcessGlobals};
use std::ffi::{CStr, CString, c_char, c_int};

/// Reports the event of a call, if it has one. An error handler may run any PHP code and may throw: no
/// reference into an object or into the globals may be alive.
#[inline(always)]
pub fn emit_event(event: Option<Event>) -> Result<(), Thrown> {
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
///
/// With `html_errors`, which is on in php-fpm, `php_error_docref()` would escape the message for the log, too.
pub fn emit_warning(message: &str) {
    unsafe extern "C" {
        // ext-php-rs does not bind its header.
        fn zend_error(kind: c_int, format: *const c_char, ...);
    }
    let mut text = format!("{}: {message}", origin());
    if is_shown_as_html() {
        // `zend_error()` escapes nothing. Here the message shall begin no tag; the log gets the same text.
        text = text.replace('<', "&lt;");
    }
    let text = CString::new(text).unwrap_or_default();
    // SAFETY: the format takes the one string it is given.
    unsafe { zend_error(ffi::E_WARNING as c_int, c"%s".as_ptr(), text.as_ptr()) };
}

/// Where a warning comes from, in the engine's words.
fn origin() -> String {
    unsafe extern "C" {
        // ext-php-rs does not bind their headers.
        fn php_during_module_startup() -> bool;
        fn get_active_class_name(separator: *mut *const c_char) -> *const c_char;
        fn get_active_function_name() -> *const c_char;
    }
    // SAFETY: the engine reads a variable of its own.
    if unsafe { php_during_module_startup() } {
        return "PHP Startup".to_owned();
    }
    if ProcessGlobals::get().during_request_startup {
        return "PHP Request Startup".to_owned();
    }
    let mut separator = c"".as_ptr();
    // SAFETY: the engine returns names that live as long as the running function, and writes a static string.
    // There is no name if no function runs.
    let names = unsafe {
        [get_active_class_name(&raw mut separator), separator, get_active_function_name()]
    };
    if names.iter().any(|name| name.is_null()) {
        return "PHP".to_owned();
    }
    // SAFETY: the names are strings of the engine's.
    let names = names.map(|name| unsafe { CStr::from_ptr(name) }.to_string_lossy());
    format!("{}()", names.concat())
}

/// Tells whether PHP prints warnings into a page.
fn is_shown_as_html() -> bool {
    let globals = ProcessGlobals::get();
    globals.html_errors && globals.display_errors != 0
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
