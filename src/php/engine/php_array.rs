//! Builds arrays for PHP.

use super::call::string;
use ext_php_rs::ffi;
use ext_php_rs::types::Zval;
use std::ffi::c_char;
use std::mem::ManuallyDrop;

/// An array that is being built.
pub struct PhpArray(Zval);

/// A value that an array may hold.
pub trait PhpValue {
    /// The value as PHP has it.
    fn into_zval(self) -> Zval;
}

impl PhpValue for i64 {
    fn into_zval(self) -> Zval {
        let mut value = Zval::new();
        value.set_long(self);
        value
    }
}

/// Never wraps: nothing that is counted reaches 2^63.
impl PhpValue for u64 {
    fn into_zval(self) -> Zval {
        (self as i64).into_zval()
    }
}

impl PhpValue for f64 {
    fn into_zval(self) -> Zval {
        let mut value = Zval::new();
        value.set_double(self);
        value
    }
}

impl PhpValue for bool {
    fn into_zval(self) -> Zval {
        let mut value = Zval::new();
        value.set_bool(self);
        value
    }
}

impl PhpValue for &[u8] {
    fn into_zval(self) -> Zval {
        string(self)
    }
}

impl PhpValue for &str {
    fn into_zval(self) -> Zval {
        string(self.as_bytes())
    }
}

impl PhpValue for PhpArray {
    fn into_zval(self) -> Zval {
        self.0
    }
}

/// `None` is null.
impl<T: PhpValue> PhpValue for Option<T> {
    fn into_zval(self) -> Zval {
        self.map_or_else(Zval::new, T::into_zval)
    }
}

impl PhpArray {
    /// An empty array.
    pub fn new() -> Self {
        Self(Zval::new_array())
    }

    /// Puts a value into the array. As in a script, a key of digits becomes an int: `"12"` is 12.
    pub fn put(&mut self, key: impl AsRef<[u8]>, value: impl PhpValue) {
        unsafe extern "C" {
            // ext-php-rs does not bind its header.
            fn add_assoc_zval_ex(
                array: *mut Zval,
                key: *const c_char,
                length: usize,
                value: *mut Zval,
            );
        }
        // The engine reads the NUL byte after a key, as in every C string.
        let ended = [key.as_ref(), b"\0"].concat();
        // The array takes ownership of the value.
        let mut value = ManuallyDrop::new(value.into_zval());
        let array = &raw mut self.0;
        // SAFETY: an array with one reference; the engine copies the key and takes the value.
        unsafe {
            add_assoc_zval_ex(array, ended.as_ptr().cast(), ended.len() - 1, &raw mut *value);
        }
    }

    /// Appends a value.
    pub fn push(&mut self, value: impl PhpValue) {
        let Some(table) = self.0.array_mut() else { return };
        // The array takes ownership of the value.
        let mut value = ManuallyDrop::new(value.into_zval());
        // SAFETY: a table with one reference; the engine takes the value.
        unsafe { ffi::zend_hash_next_index_insert(table, &raw mut *value) };
    }
}

impl<T: PhpValue> FromIterator<T> for PhpArray {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut list = Self::new();
        values.into_iter().for_each(|value| list.push(value));
        list
    }
}
