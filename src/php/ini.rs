//! Makes the directives known to the engine, which then calls `on_modify` with each new value.

use super::default_storage::DefaultStorage;
use super::directives::{DIRECTIVES, Directive, Scope};
use super::engine::directive_cell::ValueSource;
use super::engine::versions::{FAILURE, SUCCESS};
use super::events;
use super::globals::GLOBALS;
use crate::dsn::{Dsn, sanitize};
use ext_php_rs::ffi;
use ext_php_rs::flags::IniEntryPermission;
use ext_php_rs::types::ZendStr;
use ext_php_rs::zend::{IniEntryDef, IniEntryDefs, SapiGlobals};
use std::ffi::{CStr, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// php.ini is read.
const STAGE_STARTUP: c_int = 1 << 0;
/// FPM applies a pool's values, and Apache those of a virtual host. No script runs yet.
const STAGE_ACTIVATE: c_int = 1 << 2;
/// Apache applies the values of `.htaccess`. No script runs yet.
const STAGE_HTACCESS: c_int = 1 << 5;

/// The rows and the end that the engine wants.
const ENTRIES_COUNT: usize = DIRECTIVES.len() + 1;

/// The table as the engine reads it. Static, because PHP 8.5 keeps a pointer to it.
static ENTRIES: IniEntryDefs<ENTRIES_COUNT> = IniEntryDefs::new(entries());

const fn entries() -> [IniEntryDef; ENTRIES_COUNT] {
    let mut entries = [const { IniEntryDef::end() }; ENTRIES_COUNT];
    let mut rows: &'static [Directive] = &DIRECTIVES;
    let mut places: &mut [IniEntryDef] = &mut entries;
    while let ([row, next_rows @ ..], [place, next_places @ ..]) = (rows, places) {
        *place = entry(row);
        (rows, places) = (next_rows, next_places);
    }
    entries
}

const fn entry(row: &'static Directive) -> IniEntryDef {
    let permission = match row.scope {
        Scope::Anywhere => IniEntryPermission::All,
        Scope::PhpIniOrPool => IniEntryPermission::System,
    };
    let mut entry = IniEntryDef::new(row.name, row.default, permission);
    entry.on_modify = Some(on_modify);
    entry.mh_arg1 = ptr::from_ref(row).cast_mut().cast();
    if row.is_secret {
        entry.displayer = Some(show_without_password);
    }
    entry
}

/// Makes the directives known to the engine, which sets each one at once.
pub fn register(module: i32) {
    DefaultStorage::forget_php_ini_error();
    IniEntryDef::register(ENTRIES.as_slice(), module);
}

/// Emits the warnings about values that were set before the request.
pub fn emit_pending_warnings() {
    for message in GLOBALS.get().pending_warnings.take() {
        events::emit_warning(&message);
    }
}

/// Sets a directive. Runs for each value from php.ini, a pool, a request or `ini_set()`.
unsafe extern "C" fn on_modify(
    entry: *mut ffi::zend_ini_entry,
    value: *mut ffi::zend_string,
    row: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    stage: c_int,
) -> c_int {
    let set = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the engine passes the `mh_arg1` of the entry, which points into a static table.
        let row = unsafe { &*row.cast_const().cast::<Directive>() };
        set(row, entry, value, stage)
    }));
    let Ok(set) = set else { return FAILURE };
    GLOBALS.get().forget_limiters();
    match set {
        Ok(()) => return SUCCESS,
        // Warnings between two requests are lost: the next request emits this one.
        Err(message) if matches!(stage, STAGE_ACTIVATE | STAGE_HTACCESS) => {
            GLOBALS.get().pending_warnings.borrow_mut().push(message);
        }
        Err(message) => events::emit_warning(&message),
    }
    FAILURE
}

/// Sets a directive, or returns the warning about the value.
fn set(
    row: &Directive,
    entry: *mut ffi::zend_ini_entry,
    value: *mut ffi::zend_string,
    stage: c_int,
) -> Result<(), String> {
    let directives = &GLOBALS.get().directives;
    let source = value_source(entry, value, stage);
    // SAFETY: the engine passes a string that lives as long as this call, or null.
    let value = unsafe { value.cast_const().as_ref() }.map_or(&b""[..], ZendStr::as_bytes);
    let Err(requirement) = (row.set)(directives, value, source) else { return Ok(()) };
    let error = format!("{} {requirement}", row.name.to_string_lossy());
    let keeps_value = (row.refuse)(directives, &error, source);
    let given = match row.is_secret {
        true => String::new(),
        false => format!(", \"{}\" given", sanitize(&String::from_utf8_lossy(value))),
    };
    Err(match keeps_value {
        true => {
            let in_force = value_in_force(row.default, entry, stage);
            format!("{error}{given}; \"{in_force}\" stays in force")
        }
        false => format!("{error}{given}; until it is, there is no default storage"),
    })
}

fn value_source(
    entry: *mut ffi::zend_ini_entry,
    value: *mut ffi::zend_string,
    stage: c_int,
) -> ValueSource {
    // SAFETY: the engine passes the directive's entry.
    let original = unsafe { entry.as_ref() }.map(|entry| entry.orig_value);
    match stage {
        // The engine restores a value with the very string that the entry had before.
        _ if original == Some(value) && !value.is_null() => ValueSource::Restored,
        STAGE_STARTUP => ValueSource::PhpIni,
        // FPM applies a pool's values when a worker starts, without a server context. The values of
        // `.user.ini`, PHP_VALUE, a virtual host and `.htaccess` come with a request.
        STAGE_ACTIVATE if SapiGlobals::get().server_context.is_null() => ValueSource::Pool,
        STAGE_ACTIVATE | STAGE_HTACCESS => ValueSource::Request,
        _ => ValueSource::Script,
    }
}

/// The value that stays in force after another one was refused, as messages show it.
fn value_in_force(default: &CStr, entry: *mut ffi::zend_ini_entry, stage: c_int) -> String {
    // SAFETY: the engine passes the directive's entry, whose value is a string or null.
    let value = unsafe { entry.as_ref().and_then(|entry| entry.value.cast_const().as_ref()) };
    let value = match value {
        Some(value) if stage != STAGE_STARTUP => value.as_bytes(),
        _ => default.to_bytes(),
    };
    Dsn::redact(&sanitize(&String::from_utf8_lossy(value)))
}

/// Prints the value of a directive for phpinfo(), without the passwords in it.
unsafe extern "C" fn show_without_password(entry: *mut ffi::zend_ini_entry, kind: c_int) {
    /// `ZEND_INI_DISPLAY_ORIG`: the value from before the request or script changed it.
    const ORIGINAL: c_int = 1;
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the engine passes the entry it is to show; its values are strings or null.
        let dsn = unsafe {
            let value = match kind == ORIGINAL && !(*entry).orig_value.is_null() {
                true => (*entry).orig_value,
                false => (*entry).value,
            };
            value.cast_const().as_ref().map_or(&b""[..], ZendStr::as_bytes)
        };
        let shown =
            Dsn::redact(&String::from_utf8_lossy(dsn)).replace('&', "&amp;").replace('<', "&lt;");
        // SAFETY: the bytes are those of a string that lives until the call returns.
        unsafe { ffi::php_output_write(shown.as_ptr().cast(), shown.len()) };
    }));
}
