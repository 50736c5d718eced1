//! Where the versions of PHP differ: one function for each difference, so that the rest of this folder
//! need not know the version.
//!
//! The compiler checks the functions that ext-php-rs binds from PHP's headers. It cannot check those that
//! this folder declares by hand: compare them with the headers of each new PHP.

use ext_php_rs::ffi;
use ext_php_rs::types::Zval;
use ext_php_rs::zend::{ClassEntry, ExecuteData};

/// Whether a call has named arguments that no parameter has the name of.
///
/// # Safety
///
/// `frame` must be the frame of a call that is running.
pub unsafe fn has_named_arguments(frame: *const ExecuteData) -> bool {
    /// `ZEND_CALL_HAS_EXTRA_NAMED_PARAMS`, which ext-php-rs does not bind: the same from PHP 8.0 to 8.6.
    const HAS_EXTRA_NAMED: u32 = 1 << 27;
    // SAFETY: by contract.
    unsafe { (*frame).This.u1.type_info & HAS_EXTRA_NAMED != 0 }
}

/// Makes an object of a class, without calling its constructor. `None` if the class cannot have objects; an
/// exception is thrown then.
///
/// # Safety
///
/// `class` must be a registered class.
pub unsafe fn create_object(class: *mut ClassEntry) -> Option<Zval> {
    let mut object = Zval::new();
    // SAFETY: by contract; on success the engine writes the object.
    (unsafe { ffi::object_init_ex(&raw mut object, class) } == SUCCESS).then_some(object)
}

/// What a callback returns to the engine for success.
pub const SUCCESS: i32 = 0;
/// What a callback returns to the engine for failure.
pub const FAILURE: i32 = -1;

/// Sets the offset of the engine's part in an object's memory.
pub fn set_offset(handlers: &mut ffi::zend_object_handlers, offset: usize) {
    #[cfg(php86)]
    {
        handlers.offset = offset;
    }
    #[cfg(not(php86))]
    {
        handlers.offset = offset as i32;
    }
}

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

/// Makes a `Closure` of a method, bound to `this`, to which the closure holds a reference of its own. PHP code
/// can bind it to other objects of the class only, as if it had written `$this->method(...)`.
///
/// # Safety
///
/// `function` must be a method of `class`, and `this` hold an object of that class.
pub unsafe fn create_closure(
    function: *mut ffi::zend_function,
    class: *mut ClassEntry,
    this: &mut Zval,
) -> Zval {
    #[cfg(php86)]
    type ClosureThis = *mut ffi::zend_object;
    #[cfg(not(php86))]
    type ClosureThis = *mut Zval;
    unsafe extern "C" {
        // ext-php-rs does not bind its header. The last argument is the object in PHP 8.6, and the zval
        // that holds it in PHP 7.1 to 8.5.
        fn zend_create_fake_closure(
            result: *mut Zval,
            function: *mut ffi::zend_function,
            scope: *mut ClassEntry,
            called_scope: *mut ClassEntry,
            this: ClosureThis,
        );
    }
    // SAFETY: by contract `this` holds an object.
    #[cfg(php86)]
    let this = unsafe { this.value.obj };
    #[cfg(not(php86))]
    let this = &raw mut *this;
    let mut result = Zval::new();
    // SAFETY: by contract; the engine writes the result.
    unsafe { zend_create_fake_closure(&raw mut result, function, class, class, this) };
    result
}
