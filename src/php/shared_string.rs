//! A string that is shared with the script, not copied.

use ext_php_rs::ffi;
use ext_php_rs::types::{ZendStr, Zval};
use std::ptr::NonNull;

/// A reference to a string of the engine's. The engine never changes a string that has several.
pub struct SharedString(NonNull<ZendStr>);

impl SharedString {
    /// Another reference to `text`.
    #[inline(always)]
    pub fn new(text: &ZendStr) -> Self {
        let text = NonNull::from(text);
        // SAFETY: a live string. The count of an interned one is not kept: it lives until the request
        // or the process ends, which no object outlives.
        unsafe {
            if (*text.as_ptr()).gc.u.type_info & ffi::GC_IMMUTABLE == 0 {
                (*text.as_ptr()).gc.refcount += 1;
            }
        }
        Self(text)
    }

    /// Its bytes.
    #[inline(always)]
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: self holds a reference to the string, so it lives and does not change.
        unsafe { self.0.as_ref() }.as_bytes()
    }

    /// The string as a value of the engine's.
    pub fn to_zval(&self) -> Zval {
        let mut value = Zval::new();
        // SAFETY: the value gets a reference of its own, which it gives back; an interned string has
        // none, and its flags say so.
        unsafe {
            let is_interned = (*self.0.as_ptr()).gc.u.type_info & ffi::GC_IMMUTABLE != 0;
            value.value.str_ = std::mem::ManuallyDrop::new(Self::new(self.0.as_ref())).0.as_ptr();
            value.u1.type_info =
                if is_interned { ffi::IS_INTERNED_STRING_EX } else { ffi::IS_STRING_EX };
        }
        value
    }
}

impl Drop for SharedString {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: gives back the reference that `new` took; the engine frees the string with its last,
        // which runs no PHP code.
        unsafe { ffi::ext_php_rs_zend_string_release(self.0.as_ptr()) };
    }
}
