//! Makes the directives known to the engine, which then calls `on_modify` with each new value.

use super::default_storage::{DIRECTIVE as STORAGE, DefaultStorage, ValueSource};
use super::engine::versions::{FAILURE, SUCCESS};
use super::events;
use super::globals::GLOBALS;
use crate::dsn::{Dsn, quote_unless_secret, sanitize};
use crate::settings::{SETTINGS, Scope, Setting};
use ext_php_rs::ffi;
use ext_php_rs::flags::IniEntryPermission;
use ext_php_rs::types::ZendStr;
use ext_php_rs::zend::{IniEntryDef, IniEntryDefs, SapiGlobals};
use std::ffi::{CStr, c_int, c_void};
use std::iter::once;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// php.ini is read.
const STAGE_STARTUP: c_int = 1 << 0;
/// FPM applies a pool's values, and Apache those of a virtual host. No script runs yet.
const STAGE_ACTIVATE: c_int = 1 << 2;
/// Apache applies the values of `.htaccess`. No script runs yet.
const STAGE_HTACCESS: c_int = 1 << 5;

/// The default of `token_bucket.storage`.
const DEFAULT_STORAGE: &CStr = c"shm:";

/// The storage, the settings and the end that the engine wants.
const ENTRIES_COUNT: usize = 1 + SETTINGS.len() + 1;

/// The table as the engine reads it. Static, because PHP 8.5 keeps a pointer to it.
static ENTRIES: IniEntryDefs<ENTRIES_COUNT> = IniEntryDefs::new(entries());

const fn entries() -> [IniEntryDef; ENTRIES_COUNT] {
    let mut entries = [const { IniEntryDef::end() }; ENTRIES_COUNT];
    let [storage, places @ ..] = &mut entries;
    *storage = IniEntryDef::new(STORAGE, DEFAULT_STORAGE, IniEntryPermission::All);
    storage.on_modify = Some(set_storage);
    storage.displayer = Some(show_without_password);
    let (mut settings, mut places): (&'static [Setting], &mut [IniEntryDef]) = (&SETTINGS, places);
    while let ([setting, next_settings @ ..], [place, next_places @ ..]) = (settings, places) {
        *place = entry(setting);
        (settings, places) = (next_settings, next_places);
    }
    entries
}

const fn entry(setting: &'static Setting) -> IniEntryDef {
    let permission = match setting.scope {
        Scope::PhpIniOrPool => IniEntryPermission::System,
        Scope::Script | Scope::Dsn | Scope::Section => IniEntryPermission::All,
    };
    let mut entry = IniEntryDef::new(setting.directive, setting.default, permission);
    entry.on_modify = Some(set_setting);
    entry.mh_arg1 = ptr::from_ref(setting).cast_mut().cast();
    entry
}

/// The names of all directives, in the order in which phpinfo() shows them.
pub fn names() -> impl Iterator<Item = &'static CStr> {
    once(STORAGE).chain(SETTINGS.iter().map(|setting| setting.directive))
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

/// Sets a setting. Runs for each value from php.ini, a pool, a request or `ini_set()`.
unsafe extern "C" fn set_setting(
    entry: *mut ffi::zend_ini_entry,
    value: *mut ffi::zend_string,
    setting: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    stage: c_int,
) -> c_int {
    set(value, stage, |value| {
        // SAFETY: the engine passes the `mh_arg1` of the entry, which points into a static table.
        let setting = unsafe { &*setting.cast_const().cast::<Setting>() };
        GLOBALS.get().set(setting, value).map_err(|what| {
            let name = setting.directive.to_string_lossy();
            // A DSN in the wrong directive may have a password.
            let given = match quote_unless_secret(&String::from_utf8_lossy(value)) {
                shown if shown.is_empty() => " another value".to_owned(),
                shown => shown,
            };
            let in_force = value_in_force(setting.default, entry, stage);
            format!("{name} must be {what},{given} given; \"{in_force}\" stays in force")
        })
    })
}

/// Sets `token_bucket.storage`. No message shows the value, which may hold a password.
unsafe extern "C" fn set_storage(
    entry: *mut ffi::zend_ini_entry,
    value: *mut ffi::zend_string,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    stage: c_int,
) -> c_int {
    set(value, stage, |text| {
        let (storage, source) = (&GLOBALS.get().storage, value_source(entry, value, stage));
        storage.set(text, source).map_err(|what| {
            let error = format!("{} must be {what}", STORAGE.to_string_lossy());
            match storage.refuse(&error, source) {
                true => {
                    let in_force = value_in_force(DEFAULT_STORAGE, entry, stage);
                    format!("{error}; \"{in_force}\" stays in force")
                }
                false => format!("{error}; until it is, there is no default storage"),
            }
        })
    })
}

/// Sets a directive by `work`, which returns the warning about a value that is refused.
fn set(
    value: *mut ffi::zend_string,
    stage: c_int,
    work: impl FnOnce(&[u8]) -> Result<(), String>,
) -> c_int {
    // SAFETY: the engine passes a string that lives as long as this call, or null.
    let value = unsafe { value.cast_const().as_ref() }.map_or(&b""[..], ZendStr::as_bytes);
    let Ok(set) = catch_unwind(AssertUnwindSafe(|| work(value))) else { return FAILURE };
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
    // Cut afterwards: a cut text may have lost the "@" that a password ends at.
    sanitize(&Dsn::redact(&String::from_utf8_lossy(value)))
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
