//! Builds arrays for PHP.

use ext_php_rs::convert::IntoZval;
use ext_php_rs::error::Result;
use ext_php_rs::flags::DataType;
use ext_php_rs::types::Zval;
use std::ffi::c_char;
use std::mem::ManuallyDrop;

/// An array that is being built.
pub struct PhpArray(Zval);

impl IntoZval for PhpArray {
    const TYPE: DataType = DataType::Array;
    const NULLABLE: bool = false;

    fn set_zval(self, zv: &mut Zval, _: bool) -> Result<()> {
        *zv = self.0;
        Ok(())
    }
}

impl PhpArray {
    /// An empty array.
    pub fn new() -> Self {
        Self(Zval::new_array())
    }

    /// Puts a value into the array; null for an int above 2^63, which nothing that is counted reaches. As in a script,
    /// a key of digits becomes an int: `"12"` is 12.
    pub fn put(&mut self, key: impl AsRef<[u8]>, value: impl IntoZval) {
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
        let mut value = ManuallyDrop::new(value.into_zval(false).unwrap_or_default());
        let array = &raw mut self.0;
        // SAFETY: an array with one reference; the engine copies the key and takes the value.
        unsafe {
            add_assoc_zval_ex(array, ended.as_ptr().cast(), ended.len() - 1, &raw mut *value);
        }
    }

    /// Appends a value.
    pub fn push(&mut self, value: impl IntoZval) {
        if let Some(table) = self.0.array_mut() {
            let _ = table.push(value);
        }
    }
}

impl<T: IntoZval> FromIterator<T> for PhpArray {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut list = Self::new();
        values.into_iter().for_each(|value| list.push(value));
        list
    }
}
