//! The exception classes, and functions that throw.
//!
//! The classes carry no Rust value: file, line, trace and subclasses work as the engine makes them.
//!
//! ext-php-rs's `PhpException` and `throw_object` are used. An exception by its `#[php_class]` has neither file nor line, its `zend::ce` lacks
//! SPL's classes, and `ZendObject::set_property` sets no private property of another class.

use super::declare::{self, Class};
use crate::error::{Error, ErrorKind};
use ext_php_rs::convert::IntoZval;
use ext_php_rs::exception::{PhpException, throw_object};
use ext_php_rs::ffi;
use ext_php_rs::flags::ClassFlags;
use ext_php_rs::types::Zval;
use ext_php_rs::zend::{ClassEntry, ce};
use std::ffi::CString;
use std::ptr;

/// The error of a function that has thrown a PHP exception. The caller returns to PHP at once.
#[derive(Debug, Clone, Copy)]
pub struct Thrown;

/// `TokenBucket\TokenBucketException`, which marks all exceptions of this extension.
pub static MARKER: Class = Class::new();
static STORAGE_EXCEPTION: Class = Class::new();
static CONFIGURATION_EXCEPTION: Class = Class::new();

// SAFETY: SPL is part of every PHP. It sets these before the engine loads extensions from files, and never again.
unsafe extern "C" {
    pub safe static spl_ce_RuntimeException: *mut ClassEntry;
    safe static spl_ce_InvalidArgumentException: *mut ClassEntry;
    safe static spl_ce_LogicException: *mut ClassEntry;
}

/// Makes the exceptions known to the engine.
pub fn register() {
    declare::interface(&MARKER, "TokenBucket\\TokenBucketException", &[]);
    declare::implement(&MARKER, ptr::from_ref(ce::throwable()).cast_mut());
    let (runtime, argument) = (spl_ce_RuntimeException, spl_ce_InvalidArgumentException);
    for (class, name, parent) in [
        (&STORAGE_EXCEPTION, "TokenBucket\\StorageException", runtime),
        (&CONFIGURATION_EXCEPTION, "TokenBucket\\ConfigurationException", argument),
    ] {
        declare::class(class, name, ClassFlags::empty(), &[], parent, &[&MARKER]);
    }
}

/// Throws an exception of a class of this extension that has a private property, with a value for it.
#[cold]
pub fn throw_with_property(class: &Class, message: &str, property: &str, value: Zval) -> Thrown {
    let mut exception = class.get().new();
    let mut set = |name: &str, mut value: Zval| {
        // SAFETY: a new object of the class, which declares the property or inherits it. The engine takes a reference
        // of its own to the value.
        unsafe {
            ffi::zend_update_property(
                class.as_ptr(),
                &raw mut *exception,
                name.as_ptr().cast(),
                name.len(),
                &raw mut value,
            );
        }
    };
    set("message", message.into_zval(false).unwrap_or_default());
    set(property, value);
    // Fails for what is no object.
    let _ = exception.into_zval(false).and_then(throw_object);
    Thrown
}

impl From<Error> for Thrown {
    #[cold]
    fn from(error: Error) -> Self {
        let class = match error.kind() {
            ErrorKind::Configuration => &CONFIGURATION_EXCEPTION,
            _ => &STORAGE_EXCEPTION,
        };
        throw(class.get(), error.into_message())
    }
}

#[cold]
fn throw(class: &'static ClassEntry, message: String) -> Thrown {
    // ext-php-rs refuses a message with a NUL byte, and the name of an anonymous class has one.
    PhpException::new(message.replace('\0', "\\0"), 0, class).throw();
    Thrown
}

/// Throws a `LogicException`, for a call that no correct program makes.
#[cold]
pub fn logic_exception(message: impl Into<String>) -> Thrown {
    // SAFETY: null, or a class that lives as long as the process.
    match unsafe { spl_ce_LogicException.as_ref() } {
        Some(class) => throw(class, message.into()),
        None => error(message),
    }
}

/// Throws a `TypeError`.
#[cold]
pub fn type_error(message: impl Into<String>) -> Thrown {
    throw(ce::type_error(), message.into())
}

/// Throws an `Error`.
#[cold]
pub fn error(message: impl Into<String>) -> Thrown {
    throw(ce::error(), message.into())
}

/// Throws a `TypeError` as the engine does, with the method, the number and the name of the argument.
/// `must` says what the argument must be.
#[cold]
pub fn argument_type_error(argument: u32, must: &str) -> Thrown {
    let must = CString::new(must).unwrap_or_default();
    // SAFETY: the format takes the one string it is given.
    unsafe { ffi::zend_argument_type_error(argument, c"%s".as_ptr(), must.as_ptr()) };
    Thrown
}

/// Throws a `ValueError` as the engine does, with the method, the number and the name of the argument.
/// `must` says what the argument must be.
#[cold]
pub fn value_error(argument: u32, must: impl std::fmt::Display) -> Thrown {
    let must = CString::new(must.to_string()).unwrap_or_default();
    // SAFETY: the format takes the one string it is given.
    unsafe { ffi::zend_argument_value_error(argument, c"%s".as_ptr(), must.as_ptr()) };
    Thrown
}
