//! The directives: checked when they are set, and kept ready to be read.

use super::globals::GLOBALS;
use super::{FAILURE, SUCCESS};
use crate::dsn::{Dsn, MAX_PREFIX, printable};
use crate::store::Settings;
use crate::store::shm::file::{MAX_SIZE, MIN_SIZE};
use ext_php_rs::ffi;
use ext_php_rs::flags::IniEntryPermission;
use ext_php_rs::types::ZendStr;
use ext_php_rs::zend::{IniEntryDef, IniEntryDefs};
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// The directives as they stand: a copy for the calls, which must not ask the engine.
#[derive(Default)]
pub struct Directives {
    /// `token_bucket.storage`
    pub storage: RefCell<String>,
    /// `token_bucket.prefix`
    pub prefix: RefCell<Vec<u8>>,
    /// `token_bucket.shm_path`
    shm_path: RefCell<PathBuf>,
    /// `token_bucket.shm_size`, in bytes
    shm_size: Cell<u64>,
    /// `token_bucket.test_clock`
    pub test_clock: Cell<bool>,
}

impl Directives {
    /// What a store has to know of them.
    pub fn settings(&self) -> Settings {
        Settings { shm_path: self.shm_path.borrow().clone(), shm_size: self.shm_size.get() }
    }
}

/// Takes a new value over, or says what it must be.
type Setter = fn(&Directives, &[u8]) -> Result<(), String>;

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
            _: *mut ffi::zend_ini_entry,
            value: *mut ffi::zend_string,
            _: *mut c_void,
            _: *mut c_void,
            _: *mut c_void,
            stage: c_int,
        ) -> c_int {
            set($name, value, stage, $setter)
        }
        const ON_MODIFY: OnModify = on_modify;
        IniEntryDef {
            on_modify: Some(ON_MODIFY),
            ..IniEntryDef::new($name, $default, IniEntryPermission::$permission)
        }
    }};
}

static DIRECTIVES: IniEntryDefs<6> = IniEntryDefs::new([
    directive!(c"token_bucket.storage", c"shm:", All, set_storage),
    directive!(c"token_bucket.prefix", c"tb:", All, set_prefix),
    directive!(c"token_bucket.shm_size", c"8M", System, set_shm_size),
    directive!(c"token_bucket.shm_path", c"", System, set_shm_path),
    directive!(c"token_bucket.test_clock", c"0", System, set_test_clock),
    IniEntryDef::end(),
]);

/// Makes the directives known to the engine, which sets each at once.
pub fn register(module: i32) {
    IniEntryDef::register(DIRECTIVES.as_slice(), module);
}

/// The stage at which FPM applies a pool's values: in the worker, between requests.
const STAGE_ACTIVATE: c_int = 1 << 2;

fn set(name: &CStr, value: *mut ffi::zend_string, stage: c_int, setter: Setter) -> c_int {
    let set = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the engine passes a string that lives as long as this call, or null.
        let value = unsafe { value.cast_const().as_ref() }.map_or(&b""[..], ZendStr::as_bytes);
        setter(&GLOBALS.get().directives, value).map_err(|must| {
            let (name, value) =
                (name.to_string_lossy(), printable(&String::from_utf8_lossy(value)));
            format!("{name} {must}, \"{value}\" given")
        })
    }));
    match set {
        Ok(Ok(())) => {
            GLOBALS.get().forget_default();
            SUCCESS
        }
        Ok(Err(message)) if stage == STAGE_ACTIVATE => {
            // FPM drops what is logged between requests: it is said in the first one.
            GLOBALS.get().complaints.borrow_mut().push(message);
            FAILURE
        }
        Ok(Err(message)) => {
            warn(&message);
            FAILURE
        }
        Err(_) => FAILURE,
    }
}

/// Says what could not be said before there was a request.
pub fn say_complaints() {
    for message in GLOBALS.get().complaints.take() {
        warn(&message);
    }
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

fn set_storage(directives: &Directives, value: &[u8]) -> Result<(), String> {
    let dsn = String::from_utf8_lossy(value).into_owned();
    Dsn::parse(&dsn).map_err(|error| format!("must be a storage DSN ({error})"))?;
    directives.storage.replace(dsn);
    Ok(())
}

fn set_prefix(directives: &Directives, value: &[u8]) -> Result<(), String> {
    if value.len() > MAX_PREFIX {
        return Err(format!("must be at most {MAX_PREFIX} bytes"));
    }
    directives.prefix.replace(value.to_vec());
    Ok(())
}

fn set_shm_size(directives: &Directives, value: &[u8]) -> Result<(), String> {
    match size_in_bytes(value) {
        Some(size) if (MIN_SIZE..=MAX_SIZE).contains(&size) => {
            directives.shm_size.set(size);
            Ok(())
        }
        _ => Err("must be a size between 64K and 64G, such as 8M".to_owned()),
    }
}

fn set_shm_path(directives: &Directives, value: &[u8]) -> Result<(), String> {
    let path = PathBuf::from(OsStr::from_bytes(value));
    if !value.is_empty() && !path.is_absolute() {
        return Err("must be the absolute path of a directory, or empty".to_owned());
    }
    directives.shm_path.replace(path);
    Ok(())
}

fn set_test_clock(directives: &Directives, value: &[u8]) -> Result<(), String> {
    let on = match value.to_ascii_lowercase().as_slice() {
        b"1" | b"on" | b"yes" | b"true" => true,
        b"" | b"0" | b"off" | b"no" | b"false" => false,
        _ => return Err("must be 0 or 1".to_owned()),
    };
    directives.test_clock.set(on);
    Ok(())
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
