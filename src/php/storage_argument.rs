//! The argument `$storage` of the limiters' constructors.

use super::engine::call::Call;
use super::engine::exceptions::{Thrown, value_error};
use super::globals::GLOBALS;
use super::{interfaces, storage};
use crate::dsn::looks_like_dsn;
use crate::error::Error;
use crate::limiter::Limiter;
use ext_php_rs::ffi;
use ext_php_rs::types::{ZendStr, Zval};
use ext_php_rs::zend::ExecutorGlobals;
use std::ptr;
use std::rc::Rc;

/// The position of `$storage` in the constructors.
const STORAGE: u32 = 1;

/// What decides the calls on a limiter.
pub enum Backend {
    /// A store of this extension.
    Native(Rc<Limiter>),
    /// A store of this extension, for a named limit that leaves tokens or exempts the client.
    Named(Box<NamedLimiter>),
    /// A storage written in PHP, an object. Boxed, so that a `Backend` is returned in two registers.
    Php(Box<Zval>),
}

/// The limiter of a named limit that leaves tokens or exempts the client. [`Backend::Native`] has all others, so that the usual
/// call does not look for either (`make bench`, `consume()`); a limit of a set has it always.
#[derive(Clone)]
pub struct NamedLimiter {
    pub limiter: Rc<Limiter>,
    /// Each call leaves so many tokens.
    pub leave: u64,
    /// Whether the operator's file exempts the client from the limit.
    pub is_exempt: bool,
}

impl Backend {
    /// How many tokens each call leaves.
    #[inline(always)]
    pub fn leave(&self) -> u64 {
        if let Self::Named(named) = self { named.leave } else { 0 }
    }
}

impl NamedLimiter {
    /// How many tokens a call leaves that takes so many, and was told to leave `leave`. One that takes nothing leaves as many as there
    /// are, so that a block alone denies it.
    pub fn leave(&self, cost: u64, leave: u64) -> u64 {
        if cost == 0 { leave } else { leave.max(self.leave) }
    }
}

/// Reads `$storage`: null for the default storage, a DSN, or an object.
#[inline(always)]
pub fn parse_storage_argument(call: &Call) -> Result<Backend, Thrown> {
    match call.non_null(STORAGE) {
        None => limiter_on(None).map(Backend::Native),
        Some(storage) => match storage.zend_str() {
            Some(dsn) => limiter_on(Some(dsn)).map(Backend::Native),
            None => parse_other_type(call, storage),
        },
    }
}

#[inline(always)]
fn limiter_on(dsn: Option<&ZendStr>) -> Result<Rc<Limiter>, Thrown> {
    let dsn = dsn.map(ZendStr::as_bytes);
    match GLOBALS.get().find_limiter(dsn, None) {
        Some(limiter) => Ok(limiter),
        None => make_limiter(dsn),
    }
}

#[cold]
#[inline(never)]
fn make_limiter(dsn: Option<&[u8]>) -> Result<Rc<Limiter>, Thrown> {
    let made = match dsn {
        Some(dsn) => GLOBALS.get().make_limiter_of_script(dsn),
        None => GLOBALS.get().make_limiter(None, None),
    };
    Ok(made.map_err(|error| match dsn {
        // The usual mistake is an identifier in this place.
        Some(dsn) if !looks_like_dsn(&String::from_utf8_lossy(dsn)) => Error::configuration(
            format!("{error}; the first argument is the storage, the second the identifier"),
        ),
        _ => error,
    })?)
}

/// Throws if a storage written in PHP is given to a limit that is no token bucket.
pub fn expect_own_storage(backend: &Backend) -> Result<(), Thrown> {
    match backend {
        Backend::Native(_) | Backend::Named(_) => Ok(()),
        Backend::Php(_) => Err(value_error(
            STORAGE,
            "must not be a storage written in PHP: TokenBucketStorage supports token buckets only",
        )),
    }
}

/// Reads a `$storage` that is an object, or a value that the engine may coerce to a string.
#[inline(never)]
fn parse_other_type(call: &Call, storage: &Zval) -> Result<Backend, Thrown> {
    if let Some(object) = storage.object() {
        if let Some(limiter) = storage::limiter_of(object)? {
            return Ok(Backend::Native(limiter));
        }
        if object.instance_of(interfaces::STORAGE.get()) {
            return Ok(Backend::Php(Box::new(storage.shallow_clone())));
        }
    }
    // Also for an object: it may be Stringable.
    if let Some(dsn) = call.coerced_string(STORAGE) {
        return limiter_on(Some(dsn)).map(Backend::Native);
    }
    if ExecutorGlobals::has_exception() {
        return Err(Thrown);
    }
    // SAFETY: throws; reads the argument and the current call frame.
    unsafe {
        ffi::zend_wrong_parameter_class_or_string_or_null_error(
            STORAGE,
            c"TokenBucketStorage".as_ptr(),
            ptr::from_ref(storage).cast_mut(),
        );
    }
    Err(Thrown)
}
