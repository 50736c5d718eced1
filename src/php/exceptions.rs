//! The exceptions, and throwing them.
//!
//! They are plain classes without objects of ours, so that file, line, trace and
//! subclasses are all the engine's own.

use super::declare::{self, Class};
use crate::error::Error;
use ext_php_rs::exception::PhpException;
use ext_php_rs::ffi;
use ext_php_rs::flags::ClassFlags;
use ext_php_rs::zend::{ClassEntry, ce};
use std::ffi::CString;

/// An exception is pending: nothing is left to do but to return to PHP.
#[derive(Debug, Clone, Copy)]
pub struct Thrown;

static THROWABLE: Class = Class::new();
static STORAGE_EXCEPTION: Class = Class::new();
static CONFIGURATION_EXCEPTION: Class = Class::new();

unsafe extern "C" {
    static spl_ce_RuntimeException: *mut ClassEntry;
    static spl_ce_InvalidArgumentException: *mut ClassEntry;
    static spl_ce_LogicException: *mut ClassEntry;
}

/// Makes the exceptions known to the engine.
pub fn register() {
    declare::interface(&THROWABLE, "TokenBucket\\Throwable", &[]);
    declare::implement(&THROWABLE, std::ptr::from_ref(ce::throwable()).cast_mut());
    // SAFETY: SPL is part of every PHP and registers its classes before any extension that
    // is loaded from a file.
    let (runtime, argument) = unsafe { (spl_ce_RuntimeException, spl_ce_InvalidArgumentException) };
    for (class, name, parent) in [
        (&STORAGE_EXCEPTION, "TokenBucket\\StorageException", runtime),
        (&CONFIGURATION_EXCEPTION, "TokenBucket\\ConfigurationException", argument),
    ] {
        declare::class(class, name, ClassFlags::empty(), &[], parent, &[&THROWABLE]);
    }
}

impl From<Error> for Thrown {
    #[cold]
    fn from(error: Error) -> Self {
        let class = match error {
            Error::Configuration(_) => &CONFIGURATION_EXCEPTION,
            Error::Storage(_) | Error::Local(_) | Error::Refused(_) => &STORAGE_EXCEPTION,
        };
        throw(class.get(), error.to_string())
    }
}

#[cold]
fn throw(class: &'static ClassEntry, message: String) -> Thrown {
    // The engine takes none with a NUL, which an anonymous class has in its name.
    PhpException::new(message.replace('\0', "\\0"), 0, class).throw();
    Thrown
}

/// Throws a `LogicException`: the program cannot mean this.
#[cold]
pub fn logic_exception(message: impl Into<String>) -> Thrown {
    // SAFETY: as in `register`.
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

/// Throws a `ValueError` in the engine's words: which argument of which method, and what it
/// must be.
#[cold]
pub fn value_error(argument: u32, must: impl std::fmt::Display) -> Thrown {
    let must = CString::new(must.to_string()).unwrap_or_default();
    // SAFETY: the format takes the one string it is given.
    unsafe { ffi::zend_argument_value_error(argument, c"%s".as_ptr(), must.as_ptr()) };
    Thrown
}
