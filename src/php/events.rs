//! Reports to PHP: warnings, and lines in the log.

use super::engine::exceptions::Thrown;
use crate::limiter::{Event, Report};
use ext_php_rs::ffi;
use ext_php_rs::zend::{ExecutorGlobals, ProcessGlobals};
use std::ffi::{CStr, CString, c_int};

const E_WARNING: c_int = ffi::E_WARNING as c_int;
/// How severe a line in the log is, as syslog counts.
const LOG_WARNING: c_int = 4;
pub const LOG_NOTICE: c_int = 5;
/// The type of a zval without a value.
const UNDEF: u8 = ffi::IS_UNDEF as u8;

/// The answer of a call, and its event until that is reported. No more than that, for it is passed on in registers (`make
/// bench`, `consume()`).
#[must_use]
pub struct Answered<T> {
    answer: T,
    event: Option<Box<Event>>,
}

/// Turns the report of a call into its answer or an exception.
#[inline(always)]
pub fn answered<T>(report: Report<T>) -> Result<Answered<T>, Thrown> {
    let Report { answer, event, .. } = report;
    match answer {
        Ok(answer) => Ok(Answered { answer, event }),
        Err(error) => {
            // A handler that is called for a warning would run before the exception is there.
            log_event(event);
            Err(error.into())
        }
    }
}

impl<T> Answered<T> {
    /// Returns the answer, and reports the event. What PHP prints may pass through an output callback, which may run any
    /// PHP code and may throw: no reference into an object or into the globals may be alive.
    #[inline(always)]
    pub fn deliver(self) -> Result<T, Thrown> {
        if let Some(event) = self.event {
            emit_and_check(&event)?;
        }
        Ok(self.answer)
    }

    /// The same with another answer.
    #[inline(always)]
    pub fn map<U>(self, to: impl FnOnce(T) -> U) -> Answered<U> {
        Answered { answer: to(self.answer), event: self.event }
    }
}

/// Turns the report of a call into its answer or an exception, and reports its event, as [`Answered::deliver`] does.
pub fn deliver<T>(report: Report<T>) -> Result<T, Thrown> {
    answered(report)?.deliver()
}

/// Reports a likely mistake, as [`deliver`] does.
pub fn deliver_warning(warning: Option<String>) -> Result<(), Thrown> {
    warning.map_or(Ok(()), |warning| emit_and_check(&Event::from_warning(warning)))
}

/// Writes the event of a call to the log, where no PHP code may run.
#[cold]
pub fn log_event(event: Option<Box<Event>>) {
    let Some(event) = event else { return };
    event.recoveries.iter().for_each(|text| log(text, LOG_NOTICE));
    event.warnings.iter().for_each(|text| log(text, LOG_WARNING));
}

#[cold]
fn emit_and_check(event: &Event) -> Result<(), Thrown> {
    event.recoveries.iter().for_each(|text| log(text, LOG_NOTICE));
    for warning in &event.warnings {
        match is_handled_by_application() {
            // The call has an answer. A handler that throws or exits would put its own in that place.
            true => log(warning, LOG_WARNING),
            false => emit_warning(warning),
        }
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
///
/// With `html_errors`, which is on in php-fpm, `php_error_docref()` would escape the message for the log, too.
pub fn emit_warning(message: &str) {
    let mut text = format!("{}: {message}", origin());
    if is_shown_as_html() {
        // `zend_error()` escapes nothing. Here the message shall begin no tag; the log gets the same text.
        text = text.replace('<', "&lt;");
    }
    let text = c_string(text);
    // SAFETY: the format takes the one string it is given.
    unsafe { ffi::zend_error(E_WARNING, c"%s".as_ptr(), text.as_ptr()) };
}

/// A text for the engine, which would end it at a NUL.
fn c_string(text: String) -> CString {
    CString::new(text.replace('\0', "\\0")).unwrap_or_default()
}

/// Where a warning comes from, in the engine's words.
fn origin() -> String {
    // SAFETY: the engine reads a variable of its own.
    if unsafe { ffi::php_during_module_startup() } {
        return "PHP Startup".to_owned();
    }
    if ProcessGlobals::get().during_request_startup {
        return "PHP Request Startup".to_owned();
    }
    let mut separator = c"".as_ptr();
    // SAFETY: the engine returns names that live as long as the running function, and writes a static string.
    // There is no name if no function runs.
    let names = unsafe {
        let class = ffi::get_active_class_name(&raw mut separator);
        [class, separator, ffi::get_active_function_name()]
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

/// Writes a line to PHP's log, if `log_errors` is on. No error handler is called.
pub fn log(message: &str, severity: c_int) {
    if !ProcessGlobals::get().log_errors {
        return;
    }
    let message = c_string(format!("token_bucket: {message}"));
    // SAFETY: the engine reads a string that ends with NUL.
    unsafe { ffi::php_log_err_with_severity(message.as_ptr(), severity) };
}
