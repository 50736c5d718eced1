//! The directive `open_basedir`, which bounds the files that a script may name.

use std::ffi::{CString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Whether there are files that no script may name.
pub fn is_set() -> bool {
    !allows(Path::new("/"))
}

/// Whether a script may name the file. Says nothing about whether it is there.
pub fn allows(path: &Path) -> bool {
    unsafe extern "C" {
        // ext-php-rs does not bind its header. The signature is the same from PHP 8.0 to 8.6.
        fn php_check_open_basedir_ex(path: *const c_char, warn: c_int) -> c_int;
    }
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: reads a text that ends with a NUL, and the directive. Without the warning it runs no PHP code.
    unsafe { php_check_open_basedir_ex(path.as_ptr(), 0) == 0 }
}
