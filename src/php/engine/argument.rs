//! One argument of a call, coerced by the engine's rules and with its error texts.
//!
//! ext-php-rs's `Arg`, `ArgParser` and `FromZval` are not used, for they are strict in every file: `"5"` for an int throws "Invalid value
//! given for argument `tokens`."

use super::exceptions::Thrown;
use super::versions;
use ext_php_rs::ffi;
use ext_php_rs::types::{ZendHashTable, ZendStr, Zval};
use std::ffi::CStr;
use std::marker::PhantomData;

/// An argument of the call that is running, whose frame lives for `'a`.
#[derive(Clone, Copy)]
pub struct Argument<'a> {
    zval: *mut Zval,
    /// The position, counted from 1, for error messages.
    n: u32,
    frame: PhantomData<&'a Zval>,
}

impl<'a> Argument<'a> {
    /// # Safety
    ///
    /// `zval` must be the argument `n` of the call that is running, and that call must outlive `'a`.
    #[inline]
    pub const unsafe fn new(zval: *mut Zval, n: u32) -> Self {
        Self { zval, n, frame: PhantomData }
    }

    /// The argument without coercion.
    #[inline]
    pub fn value(self) -> &'a Zval {
        // SAFETY: `new` promises that the argument is alive.
        unsafe { &*self.zval }
    }

    /// The position, counted from 1.
    pub const fn position(self) -> u32 {
        self.n
    }

    /// An int, or a `TypeError` that names the `expected` type.
    #[inline]
    pub fn int(self, expected: u32) -> Result<i64, Thrown> {
        if let Some(value) = self.value().long() {
            return Ok(value);
        }
        let mut value = 0;
        // SAFETY: the engine reads an argument of the call that is running, and on success writes the
        // value.
        match unsafe { ffi::zend_parse_arg_long_slow(self.zval, &raw mut value, self.n) } {
            true => Ok(value),
            false => Err(self.throw_wrong_type(expected)),
        }
    }

    /// A float, or a `TypeError` that names the `expected` type.
    #[inline]
    pub fn float(self, expected: u32) -> Result<f64, Thrown> {
        if let Some(value) = self.value().double() {
            return Ok(value);
        }
        // The engine accepts an int for a float in strict mode, too.
        if let Some(value) = self.value().long() {
            return Ok(value as f64);
        }
        // SAFETY: an argument of the call that is running.
        unsafe { versions::coerce_to_float(self.zval, self.n) }
            .ok_or_else(|| self.throw_wrong_type(expected))
    }

    /// A string, or a `TypeError` that names the `expected` type.
    #[inline]
    pub fn string(self, expected: u32) -> Result<&'a ZendStr, Thrown> {
        self.coerced_string().ok_or_else(|| self.throw_wrong_type(expected))
    }

    /// A string; `None` if the argument cannot be coerced to one.
    #[inline]
    pub fn coerced_string(self) -> Option<&'a ZendStr> {
        // SAFETY: an argument of the call that is running. The coerced string replaces the argument in the
        // frame, so it lives as long as the call.
        unsafe {
            if (*self.zval).is_string() {
                return (*self.zval).value.str_.as_ref();
            }
            versions::coerce_to_string(self.zval, self.n).as_ref()
        }
    }

    /// An array, or a `TypeError` that names the `expected` type.
    pub fn array(self, expected: u32) -> Result<&'a ZendHashTable, Thrown> {
        self.value().array().ok_or_else(|| self.throw_wrong_type(expected))
    }

    /// Throws a `TypeError` that names the class that the argument must be of.
    #[cold]
    pub fn throw_wrong_class(self, class: &CStr) -> Thrown {
        // SAFETY: throws; reads the argument and the current call frame.
        unsafe { ffi::zend_wrong_parameter_class_error(self.n, class.as_ptr(), self.zval) };
        Thrown
    }

    #[cold]
    fn throw_wrong_type(self, expected: u32) -> Thrown {
        // SAFETY: throws; reads the argument and the current call frame.
        unsafe { ffi::zend_wrong_parameter_type_error(self.n, expected, self.zval) };
        Thrown
    }
}
