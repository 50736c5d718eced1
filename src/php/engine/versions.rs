//! Where the versions of PHP differ: one function for each difference, so that the rest of this folder
//! need not know the version.
//!
//! The compiler checks the functions that ext-php-rs binds from PHP's headers. It cannot check those that
//! this folder declares by hand: compare them with the headers of each new PHP.

use ext_php_rs::ffi;
use ext_php_rs::types::Zval;

// These do not differ. Every callback returns one of them.
pub use ext_php_rs::ffi::{
    ZEND_RESULT_CODE_FAILURE as FAILURE, ZEND_RESULT_CODE_SUCCESS as SUCCESS,
};

/// Coerces an argument to a float by the engine's rules; `None` if it cannot be.
///
/// # Safety
///
/// `argument` must be the argument `n` of the call that is running.
pub unsafe fn coerce_to_float(argument: *mut Zval, n: u32) -> Option<f64> {
    #[cfg(php86)]
    {
        // SAFETY: by contract. The function returns NaN for failure.
        Some(unsafe { ffi::zend_parse_arg_double_slow(argument, n) })
            .filter(|value| !value.is_nan())
    }
    #[cfg(not(php86))]
    {
        let mut value = 0.0;
        // SAFETY: by contract; on success the engine writes the value.
        unsafe { ffi::zend_parse_arg_double_slow(argument, &raw mut value, n) }.then_some(value)
    }
}

/// Coerces an argument to a string by the engine's rules, and replaces the argument by it; null if it
/// cannot be.
///
/// # Safety
///
/// `argument` must be the argument `n` of the call that is running.
pub unsafe fn coerce_to_string(argument: *mut Zval, n: u32) -> *mut ffi::zend_string {
    #[cfg(php86)]
    {
        // SAFETY: by contract.
        unsafe { ffi::zend_parse_arg_str_slow(argument, n) }
    }
    #[cfg(not(php86))]
    {
        let mut string = std::ptr::null_mut();
        // SAFETY: by contract; on success the engine writes the pointer.
        match unsafe { ffi::zend_parse_arg_str_slow(argument, &raw mut string, n) } {
            true => string,
            false => std::ptr::null_mut(),
        }
    }
}
