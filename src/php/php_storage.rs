//! Storages written in PHP: any class that implements `TokenBucketStorage`.
//!
//! The bucket asks with the identifier, what the tokens are worth in seconds, what a full bucket is
//! worth, and a closure that makes the record where there is none. The storage decides, by its own
//! clock; what it throws goes to the caller as it is.
//!
//! Nothing of ours is borrowed while it runs: it may do anything, and a fatal error in it jumps over
//! this frame, which leaks no more than references that end with the request.

use super::call::{Call, handler};
use super::declare::{self, Class, Method, Type, private, public};
use super::engine;
use super::exceptions::{Thrown, error, type_error};
use super::object::{self, Handlers, Native};
use crate::limit::{Decision, Limit, Span};
use ext_php_rs::convert::IntoZval;
use ext_php_rs::ffi;
use ext_php_rs::flags::ClassFlags;
use ext_php_rs::types::{ZendHashTable, Zval};
use ext_php_rs::zend::{ClassEntry, ExecutorGlobals};
use std::ffi::{CStr, c_char};
use std::ptr;
use std::time::SystemTime;

/// What a bucket on such a storage asks for: tokens, and what they are worth to it.
pub struct ConsumeCall {
    /// The storage, an object.
    pub storage: Zval,
    /// The identifier, a string.
    pub identifier: Zval,
    /// Tokens.
    pub capacity: i64,
    /// Tokens per second.
    pub rate: f64,
}

/// `TokenBucket\Bootstrap`: what the closure is bound to.
struct Bootstrap {
    storage: Zval,
    identifier: Zval,
    /// What is left in a new bucket after the call, in seconds.
    left: f64,
}

static CLASS: Class = Class::new();
static HANDLERS: Handlers = Handlers::new();

const METHODS: &[Method] = &[
    public(c"__invoke", handler!(bootstrap), &[], Type::BOOL),
    private(c"__construct", handler!(construct), &[], Type::NONE),
];

/// Makes the class known to the engine.
pub fn register() {
    let flags = ClassFlags::Final | ClassFlags::NoDynamicProperties;
    declare::class(&CLASS, "TokenBucket\\Bootstrap", flags, METHODS, ptr::null_mut(), &[]);
    object::install_handlers::<Bootstrap>(&CLASS);
}

impl Native for Bootstrap {
    fn handlers() -> &'static Handlers {
        &HANDLERS
    }

    fn dump(&self, _properties: &mut ZendHashTable) {}

    fn gc_roots(&self) -> &[Zval] {
        std::slice::from_ref(&self.storage)
    }
}

impl ConsumeCall {
    /// Whether the storage lets `cost` tokens go.
    pub fn ask(self, cost: u64) -> Result<bool, Thrown> {
        // As the classic class: more than there can be is not asked for. Nor is nothing.
        if cost == 0 || cost > self.capacity as u64 {
            return Ok(cost == 0);
        }
        let worth = |tokens: f64| tokens / self.rate;
        let left = worth(self.capacity as f64 - cost as f64);
        let full = worth(self.capacity as f64);
        let Self { storage, identifier, .. } = self;
        let closure = closure(Bootstrap {
            storage: storage.shallow_clone(),
            identifier: identifier.shallow_clone(),
            left,
        })?;
        let arguments = [identifier, float(worth(cost as f64)), float(full), closure];
        let answer = call(&storage, c"consume", arguments)?;
        answer.bool().ok_or_else(|| {
            let class = storage.object().and_then(|object| object.get_class_name().ok());
            type_error(format!(
                "{}::consume(): Return value must be of type bool, {} returned",
                class.unwrap_or_default(),
                type_name(&answer)
            ))
        })
    }
}

/// Whether the call comes out of the storage's `consume()`, which decides for the same object. Another
/// fiber may call while one is suspended in there.
pub fn is_deciding_for(call: &Call, storage: &Zval) -> bool {
    storage.object().is_some_and(|storage| {
        let consume = method(ptr::from_ref(storage.get_class_entry()).cast_mut(), c"consume");
        consume.is_some_and(|consume| call.is_within(storage, consume))
    })
}

/// What can be said of a bucket of which no more is known than yes or no: there may be nothing in it
/// now, and by the time that takes the cost will be there, or all.
pub fn decision(limit: &Limit, cost: u64, accepted: bool) -> Decision {
    let now = 0;
    let (worth, full) = match limit {
        Limit::TokenBucket(limit) => (limit.cost_in_time(cost).ceil(), limit.refill_time().ceil()),
        Limit::FixedWindow(window) => (window.interval(), window.interval()),
    };
    let retry_at = match accepted {
        true => now,
        false if cost > limit.capacity() => Decision::NEVER,
        false => now + worth,
    };
    Decision { accepted, now, retry_at, full_at: now + full, available: Span::default(), wait: 0 }
}

fn construct(_: &Call) -> Result<(), Thrown> {
    // Private: only a class that cannot exist, for ours is final, gets here.
    Ok(())
}

/// Makes the record of a new bucket, from which the call has taken.
fn bootstrap(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 0)?;
    let this = call.this::<Bootstrap>()?;
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs_f64();
    let (storage, identifier) = (this.storage.shallow_clone(), this.identifier.shallow_clone());
    let empty_at = float(now - this.left);
    self::call(&storage, c"bootstrap", [identifier, empty_at])?;
    call.return_bool(true)
}

/// A `Closure` of a [`Bootstrap`].
fn closure(bootstrap: Bootstrap) -> Result<Zval, Thrown> {
    let (class, mut this) = (CLASS.as_ptr(), Zval::new());
    let function = method(class, c"__invoke").ok_or_else(|| error("TokenBucket\\Bootstrap"))?;
    this.value.obj = object::new(&CLASS, bootstrap);
    this.u1.type_info = ffi::IS_OBJECT_EX;
    // SAFETY: the object is new, and its one reference is `this`'s, which drops it once the closure has
    // its own; the function is one of the class's.
    Ok(unsafe { engine::create_closure(function, class, &mut this) })
}

/// Calls a method of an object. What it throws is left to the caller's caller.
fn call<const N: usize>(
    object: &Zval,
    name: &CStr,
    mut arguments: [Zval; N],
) -> Result<Zval, Thrown> {
    let Some(object) = object.object() else { return Err(Thrown) };
    let object = ptr::from_ref(object).cast_mut();
    let mut result = Zval::new();
    // SAFETY: a live object, of which the caller holds a reference, and a method of its class.
    unsafe {
        let class = (*object).ce;
        let function = method(class, name).ok_or_else(|| error("A storage lacks a method"))?;
        ffi::zend_call_known_function(
            function,
            object,
            class,
            &raw mut result,
            N as u32,
            arguments.as_mut_ptr(),
            ptr::null_mut(),
        );
    }
    if ExecutorGlobals::has_exception() { Err(Thrown) } else { Ok(result) }
}

/// A method of a class, by its name in lower case.
fn method(class: *mut ClassEntry, name: &CStr) -> Option<*mut ffi::zend_function> {
    // SAFETY: a registered class, whose functions live as long as it does.
    unsafe {
        let table = &raw const (*class).function_table;
        let found = ffi::zend_hash_str_find(table, name.as_ptr(), name.count_bytes());
        Some(found.as_ref()?.value.func)
    }
}

fn float(value: f64) -> Zval {
    value.into_zval(false).unwrap_or_default()
}

/// The type of a value, as the engine's messages call it.
fn type_name(value: &Zval) -> String {
    unsafe extern "C" {
        fn zend_zval_type_name(value: *const Zval) -> *const c_char;
    }
    // SAFETY: reads the value; the name is a constant of the engine's.
    unsafe { CStr::from_ptr(zend_zval_type_name(value)).to_string_lossy().into_owned() }
}
