//! The directives: checked when they are set, and kept ready to be read.

use super::default_storage::{DefaultStorage, Source};
use super::exceptions::Thrown;
use super::globals::GLOBALS;
use super::{FAILURE, SUCCESS};
use crate::dsn::{Dsn, MAX_PREFIX, MAX_TIMEOUT_MS, OnError, parse_timeout_ms, sanitize};
use crate::limiter::{Policy, Settings, StoreSettings};
use crate::store::file::{MAX_SIZE, MIN_SIZE};
use crate::store::{FileSettings, Timeouts};
use ext_php_rs::ffi;
use ext_php_rs::flags::IniEntryPermission;
use ext_php_rs::types::ZendStr;
use ext_php_rs::zend::{ExecutorGlobals, IniEntryDef, IniEntryDefs, SapiGlobals};
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// The directives as they stand: a copy for the calls, which must not ask the engine.
#[derive(Default)]
pub struct Directives {
    /// `token_bucket.storage`
    pub storage: DefaultStorage,
    /// `token_bucket.prefix`
    pub prefix: RefCell<Vec<u8>>,
    /// `token_bucket.on_error`
    on_error: Cell<OnError>,
    /// `token_bucket.timeout_ms`, `token_bucket.connect_timeout_ms`
    timeouts: Cell<Timeouts>,
    /// `token_bucket.deny_cache`
    deny_cache: Cell<bool>,
    /// `token_bucket.enforce`
    pub enforce: Cell<bool>,
    /// `token_bucket.track_identifiers`
    pub track_identifiers: Cell<bool>,
    /// `token_bucket.shm_path`
    pub shm_path: RefCell<PathBuf>,
    /// `token_bucket.shm_size`, in bytes
    shm_size: Cell<u64>,
    /// `token_bucket.test_clock`
    pub test_clock: Cell<bool>,
}

impl Directives {
    /// What a limiter has to know of them.
    pub fn settings(&self) -> Settings {
        let (path, size) = (self.shm_path.borrow().clone(), self.shm_size.get());
        let files = FileSettings { path, size };
        Settings {
            store: StoreSettings { files, timeouts: self.timeouts.get() },
            policy: Policy {
                on_error: self.on_error.get(),
                deny_cache: self.deny_cache.get(),
                enforce: self.enforce.get(),
                track_identifiers: self.track_identifiers.get(),
            },
        }
    }
}

/// Takes a new value over, or says what it must be.
type Setter = fn(&Directives, &[u8], Source) -> Result<(), String>;

type OnModify = unsafe extern "C" fn(
    *mut ffi::zend_ini_entry,
    *mut ffi::zend_string,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    c_int,
) -> c_int;

/// A directive; `$setter` runs whenever it is set, by php.ini, a pool or `ini_set`.
macro_rules! directive {
    ($name:literal, $default:literal, $permission:ident, $setter:path) => {{
        unsafe extern "C" fn on_modify(
            entry: *mut ffi::zend_ini_entry,
            value: *mut ffi::zend_string,
            _: *mut c_void,
            _: *mut c_void,
            _: *mut c_void,
            stage: c_int,
        ) -> c_int {
            set($name, $default, entry, value, stage, $setter)
        }
        const ON_MODIFY: OnModify = on_modify;
        IniEntryDef {
            on_modify: Some(ON_MODIFY),
            ..IniEntryDef::new($name, $default, IniEntryPermission::$permission)
        }
    }};
}

static DIRECTIVES: IniEntryDefs<12> = IniEntryDefs::new([
    IniEntryDef {
        displayer: Some(show_storage),
        ..directive!(c"token_bucket.storage", c"shm:", All, set_storage)
    },
    directive!(c"token_bucket.prefix", c"tb:", All, set_prefix),
    directive!(c"token_bucket.on_error", c"fallback", All, set_on_error),
    directive!(c"token_bucket.timeout_ms", c"50", All, set_timeout),
    directive!(c"token_bucket.connect_timeout_ms", c"100", All, set_connect_timeout),
    directive!(c"token_bucket.deny_cache", c"1", All, set_deny_cache),
    directive!(c"token_bucket.enforce", c"1", All, set_enforce),
    directive!(c"token_bucket.track_identifiers", c"1", All, set_track_identifiers),
    directive!(c"token_bucket.shm_size", c"8M", System, set_shm_size),
    directive!(c"token_bucket.shm_path", c"", System, set_shm_path),
    directive!(c"token_bucket.test_clock", c"0", System, set_test_clock),
    IniEntryDef::end(),
]);

const STORAGE: &CStr = c"token_bucket.storage";

/// Makes the directives known to the engine, which sets each at once.
pub fn register(module: i32) {
    DefaultStorage::begin();
    IniEntryDef::register(DIRECTIVES.as_slice(), module);
}

/// The stage at which php.ini is read.
const STAGE_STARTUP: c_int = 1 << 0;
/// The stages at which FPM applies a pool's values and Apache a site's: before there is a request.
const STAGE_ACTIVATE: c_int = 1 << 2;
/// As above, of what Apache finds in `.htaccess`.
const STAGE_HTACCESS: c_int = 1 << 5;

fn set(
    name: &CStr,
    default: &CStr,
    entry: *mut ffi::zend_ini_entry,
    value: *mut ffi::zend_string,
    stage: c_int,
    setter: Setter,
) -> c_int {
    let set = catch_unwind(AssertUnwindSafe(|| {
        let globals = GLOBALS.get();
        let source = source(entry, value, stage);
        // SAFETY: the engine passes a string that lives as long as this call, or null.
        let value = unsafe { value.cast_const().as_ref() }.map_or(&b""[..], ZendStr::as_bytes);
        let Err(must) = setter(&globals.directives, value, source) else { return Ok(()) };
        let (name, shown) = (name.to_string_lossy(), sanitize(&String::from_utf8_lossy(value)));
        let in_force = in_force(default, entry, stage);
        Err(match name == STORAGE.to_string_lossy() {
            // Its value may hold a password.
            true => {
                let message = format!("{name} {must}");
                globals.directives.storage.refuse(message.clone(), source);
                match source {
                    Source::Script => format!("{message}; \"{in_force}\" stays in force"),
                    _ => format!("{message}; until it is, there is no default storage"),
                }
            }
            false => format!("{name} {must}, \"{shown}\" given; \"{in_force}\" stays in force"),
        })
    }));
    let Ok(set) = set else { return FAILURE };
    GLOBALS.get().directive_changed();
    match set {
        Ok(()) => return SUCCESS,
        // What is said between requests is lost: it is said in the first one.
        Err(message) if matches!(stage, STAGE_ACTIVATE | STAGE_HTACCESS) => {
            GLOBALS.get().complaints.borrow_mut().push(message);
        }
        Err(message) => warn(&message),
    }
    FAILURE
}

/// Where a value comes from.
fn source(entry: *mut ffi::zend_ini_entry, value: *mut ffi::zend_string, stage: c_int) -> Source {
    // SAFETY: the engine passes the directive's entry.
    let original = unsafe { entry.as_ref() }.map(|entry| entry.orig_value);
    match stage {
        // The engine gives back the very string that was there before.
        _ if original == Some(value) && !value.is_null() => Source::Restored,
        STAGE_STARTUP => Source::PhpIni,
        // A pool's values are applied when a worker starts; those of `.user.ini`, PHP_VALUE, a virtual host and
        // `.htaccess` when the web server has passed it a request.
        STAGE_ACTIVATE if SapiGlobals::get().server_context.is_null() => Source::Pool,
        STAGE_ACTIVATE | STAGE_HTACCESS => Source::Request,
        _ => Source::Script,
    }
}

/// The value that counts where another one was refused.
fn in_force(default: &CStr, entry: *mut ffi::zend_ini_entry, stage: c_int) -> String {
    // SAFETY: the engine passes the directive's entry, whose value is a string or null.
    let value = unsafe { entry.as_ref().and_then(|entry| entry.value.cast_const().as_ref()) };
    let value = match value {
        Some(value) if stage != STAGE_STARTUP => value.as_bytes(),
        _ => default.to_bytes(),
    };
    Dsn::shown(&sanitize(&String::from_utf8_lossy(value)))
}

/// Says what could not be said before there was a request.
pub fn emit_directive_warnings() {
    for message in GLOBALS.get().complaints.take() {
        warn(&message);
    }
}

/// Says of a store what has to be said. Nothing may be borrowed: an error handler may do anything.
#[inline(always)]
pub fn emit_warning(warning: Option<String>) -> Result<(), Thrown> {
    match warning {
        None => Ok(()),
        Some(message) => emit(&message),
    }
}

#[cold]
fn emit(message: &str) -> Result<(), Thrown> {
    warn(message);
    if ExecutorGlobals::has_exception() { Err(Thrown) } else { Ok(()) }
}

/// Shows `token_bucket.storage` without the passwords in it.
unsafe extern "C" fn show_storage(entry: *mut ffi::zend_ini_entry, kind: c_int) {
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
            Dsn::shown(&String::from_utf8_lossy(dsn)).replace('&', "&amp;").replace('<', "&lt;");
        // SAFETY: the bytes are those of a string that lives until the call returns.
        unsafe { ffi::php_output_write(shown.as_ptr().cast(), shown.len()) };
    }));
}

fn warn(message: &str) {
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

fn set_storage(directives: &Directives, value: &[u8], source: Source) -> Result<(), String> {
    directives.storage.set(&String::from_utf8_lossy(value), source)
}

fn set_prefix(directives: &Directives, value: &[u8], _: Source) -> Result<(), String> {
    if value.len() > MAX_PREFIX {
        return Err(format!("must be at most {MAX_PREFIX} bytes"));
    }
    directives.prefix.replace(value.to_vec());
    Ok(())
}

fn set_on_error(directives: &Directives, value: &[u8], _: Source) -> Result<(), String> {
    let policy = OnError::from_name(value).ok_or_else(|| format!("must be {}", OnError::VALUES))?;
    directives.on_error.set(policy);
    Ok(())
}

fn set_timeout(directives: &Directives, value: &[u8], _: Source) -> Result<(), String> {
    let call = milliseconds(value)?;
    directives.timeouts.set(Timeouts { call, ..directives.timeouts.get() });
    Ok(())
}

fn set_connect_timeout(directives: &Directives, value: &[u8], _: Source) -> Result<(), String> {
    let connect = milliseconds(value)?;
    directives.timeouts.set(Timeouts { connect, ..directives.timeouts.get() });
    Ok(())
}

fn milliseconds(value: &[u8]) -> Result<std::time::Duration, String> {
    parse_timeout_ms(value)
        .ok_or_else(|| format!("must be milliseconds between 1 and {MAX_TIMEOUT_MS}"))
}

fn set_deny_cache(directives: &Directives, value: &[u8], _: Source) -> Result<(), String> {
    directives.deny_cache.set(switch(value)?);
    Ok(())
}

fn set_enforce(directives: &Directives, value: &[u8], _: Source) -> Result<(), String> {
    directives.enforce.set(switch(value)?);
    Ok(())
}

fn set_track_identifiers(directives: &Directives, value: &[u8], _: Source) -> Result<(), String> {
    directives.track_identifiers.set(switch(value)?);
    Ok(())
}

fn set_shm_size(directives: &Directives, value: &[u8], _: Source) -> Result<(), String> {
    match size_in_bytes(value) {
        Some(size) if (MIN_SIZE..=MAX_SIZE).contains(&size) => {
            directives.shm_size.set(size);
            Ok(())
        }
        _ => Err("must be a size between 64K and 64G, such as 8M".to_owned()),
    }
}

fn set_shm_path(directives: &Directives, value: &[u8], _: Source) -> Result<(), String> {
    let path = PathBuf::from(OsStr::from_bytes(value));
    if !value.is_empty() && !path.is_absolute() {
        return Err("must be the absolute path of a directory, or empty".to_owned());
    }
    directives.shm_path.replace(path);
    Ok(())
}

fn set_test_clock(directives: &Directives, value: &[u8], _: Source) -> Result<(), String> {
    directives.test_clock.set(switch(value)?);
    Ok(())
}

fn switch(value: &[u8]) -> Result<bool, String> {
    match value.to_ascii_lowercase().as_slice() {
        b"1" | b"on" | b"yes" | b"true" => Ok(true),
        b"" | b"0" | b"off" | b"no" | b"false" => Ok(false),
        _ => Err("must be 0 or 1".to_owned()),
    }
}

/// A size as php.ini has them: digits, and one of K, M, G for powers of 1024.
fn size_in_bytes(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?.trim();
    let (digits, shift) = match text.as_bytes().last()? {
        b'k' | b'K' => (text.get(..text.len() - 1)?, 10),
        b'm' | b'M' => (text.get(..text.len() - 1)?, 20),
        b'g' | b'G' => (text.get(..text.len() - 1)?, 30),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::size_in_bytes;

    #[test]
    fn sizes_are_read_as_php_writes_them() {
        assert_eq!(size_in_bytes(b"8M"), Some(8 << 20));
        assert_eq!(size_in_bytes(b"64k"), Some(64 << 10));
        assert_eq!(size_in_bytes(b" 1G "), Some(1 << 30));
        assert_eq!(size_in_bytes(b"65536"), Some(65536));
        for wrong in [&b""[..], b"M", b"8MB", b"-1M", b"1.5M", b"99999999999999999999", b"x"] {
            assert_eq!(size_in_bytes(wrong), None);
        }
    }
}
