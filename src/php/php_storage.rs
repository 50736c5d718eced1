//! Storages written in PHP: objects of any class that implements `TokenBucketStorage`.
//!
//! A bucket calls the storage's `consume()` with the identifier, the cost in seconds, the size of a full
//! bucket in seconds, and a closure that makes the record of a new bucket. The storage decides by its own
//! clock. Its exceptions pass through to the caller.
//!
//! The storage may run any PHP code, so no reference into an object is held meanwhile. A fatal error in it
//! skips these frames, which leak no more than references that end with the request.

use super::engine::call::{Call, NO_CONSTRUCTOR, handler};
use super::engine::declare::{Class, Method, Type, public};
use super::engine::exceptions::{Thrown, type_error};
use super::engine::object::{self, Native, own_handlers};
use crate::clock::unix_seconds;
use crate::limit::{Available, Decision, TokenBucket, Verdict};
use ext_php_rs::convert::IntoZval;
use ext_php_rs::ffi;
use ext_php_rs::flags::ClassFlags;
use ext_php_rs::types::{ZendHashTable, Zval};
use ext_php_rs::zend::{ClassEntry, ExecutorGlobals};
use std::ffi::CStr;
use std::ptr;

/// A bucket on a storage written in PHP.
pub struct PhpBucket {
    /// The storage, an object.
    pub storage: Zval,
    /// The identifier, a string.
    pub identifier: Zval,
    /// Tokens in a full bucket.
    pub capacity: i64,
    /// Tokens per second.
    pub rate: f64,
}

/// The value of a `TokenBucket\Bootstrap`, the object that the closure is bound to.
struct BootstrapObject {
    storage: Zval,
    identifier: Zval,
    /// What the call leaves in a full bucket, in seconds.
    left: f64,
}

static CLASS: Class = Class::new();

const METHODS: &[Method] =
    &[public(c"__invoke", handler!(bootstrap), &[], Type::BOOL), NO_CONSTRUCTOR];

pub fn register() {
    let flags = ClassFlags::Final | ClassFlags::NoDynamicProperties;
    object::class::<BootstrapObject>(&CLASS, "TokenBucket\\Bootstrap", flags, METHODS, &[]);
}

impl Native for BootstrapObject {
    own_handlers!();

    fn dump(&self, _properties: &mut ZendHashTable) {}

    fn gc_roots(&self) -> &[Zval] {
        std::slice::from_ref(&self.storage)
    }
}

impl PhpBucket {
    /// Calls the storage's `consume()`. Returns whether it accepts.
    pub fn consume(self, cost: u64) -> Result<bool, Thrown> {
        // As the published class: a cost above the capacity is denied, and a cost of 0 is accepted, without
        // a call of the storage.
        if cost == 0 || cost > self.capacity as u64 {
            return Ok(cost == 0);
        }
        let seconds = |tokens: f64| tokens / self.rate;
        let left = seconds(self.capacity as f64 - cost as f64);
        let (cost, full) = (seconds(cost as f64), seconds(self.capacity as f64));
        let Self { storage, identifier, .. } = self;
        let closure = make_closure(BootstrapObject {
            storage: storage.shallow_clone(),
            identifier: identifier.shallow_clone(),
            left,
        })?;
        let arguments = [identifier, float(cost), float(full), closure];
        let returned = call_method(&storage, "consume", arguments)?;
        returned.bool().ok_or_else(|| {
            let class = storage.object().and_then(|object| object.get_class_name().ok());
            type_error(format!(
                "{}::consume(): Return value must be of type bool, {} returned",
                class.unwrap_or_default(),
                type_name(&returned)
            ))
        })
    }
}

/// Whether `call` is made by the storage's `consume()`, which is deciding for the same object. A call from
/// another fiber, while one is suspended in there, is not.
pub fn is_deciding_for(call: &Call, storage: &Zval) -> bool {
    storage.object().is_some_and(|storage| {
        let consume = find_method(storage.get_class_entry(), "consume");
        consume.is_some_and(|consume| call.is_within(storage, consume))
    })
}

/// The decision of a storage that only tells whether it accepts: no tokens are known to be left, and the
/// times are upper bounds, those of an empty bucket.
pub fn decision(limit: &TokenBucket, cost: u64, accepted: bool) -> Decision {
    let now = 0;
    let (refill, full) = (limit.cost_in_time(cost).ceil(), limit.refill_time().ceil());
    let retry_at = match accepted {
        true => now,
        false if cost > limit.capacity() => Decision::NEVER,
        false => now + refill,
    };
    Decision {
        verdict: Verdict::of(accepted),
        now,
        retry_at,
        expires_at: now + full,
        available: Available::NOTHING,
        taken: if accepted { cost } else { 0 },
        wait: 0,
    }
}

/// Calls the storage's `bootstrap()` to make the record of a new bucket, less the cost of the call.
fn bootstrap(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    let (storage, identifier, left) = call.with_this(|this: &BootstrapObject| {
        (this.storage.shallow_clone(), this.identifier.shallow_clone(), this.left)
    })?;
    call_method(&storage, "bootstrap", [identifier, float(unix_seconds() - left)])?;
    call.return_bool(true)
}

/// Makes a `Closure` of `Bootstrap::__invoke()`.
fn make_closure(value: BootstrapObject) -> Result<Zval, Thrown> {
    // Not by `Function::try_from_method()` of ext-php-rs 0.16.4, which reads beyond a function of the engine (valgrind).
    let class = ClassEntry::try_find("Closure").ok_or(Thrown)?;
    call_function(class, ptr::null_mut(), "fromcallable", [object::create_with(&CLASS, value)])
}

/// Calls a method of an object.
fn call_method<const N: usize>(
    object: &Zval,
    name: &str,
    arguments: [Zval; N],
) -> Result<Zval, Thrown> {
    let Some(object) = object.object() else { return Err(Thrown) };
    call_function(object.get_class_entry(), ptr::from_ref(object).cast_mut(), name, arguments)
}

/// Calls a method of a class: a static one, if the object is null.
fn call_function<const N: usize>(
    class: &ClassEntry,
    object: *mut ffi::zend_object,
    name: &str,
    mut arguments: [Zval; N],
) -> Result<Zval, Thrown> {
    // There is always one: a class has the methods of its interfaces.
    let function = find_method(class, name).ok_or(Thrown)?;
    let mut result = Zval::new();
    // SAFETY: a method of the class, and null or a live object of it, to which the caller holds a reference.
    unsafe {
        ffi::zend_call_known_function(
            function,
            object,
            ptr::from_ref(class).cast_mut(),
            &raw mut result,
            N as u32,
            arguments.as_mut_ptr(),
            ptr::null_mut(),
        );
    }
    if ExecutorGlobals::has_exception() { Err(Thrown) } else { Ok(result) }
}

/// Finds a method of a class by its name in lower case.
fn find_method(class: &ClassEntry, name: &str) -> Option<*mut ffi::zend_function> {
    // SAFETY: the values in a class's table of functions are functions.
    class.function_table.get(name).map(|method| unsafe { method.value.func })
}

fn float(value: f64) -> Zval {
    value.into_zval(false).unwrap_or_default()
}

/// The name of a value's type in the engine's error texts.
fn type_name(value: &Zval) -> String {
    // SAFETY: the engine reads the value, and returns a static string.
    unsafe { CStr::from_ptr(ffi::zend_zval_type_name(value)).to_string_lossy().into_owned() }
}
