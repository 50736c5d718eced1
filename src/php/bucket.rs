//! What the classes of limiters have in common: a store, an identifier and a limit.

use super::call::{Call, handler};
use super::decision;
use super::declare::{Method, Parameter, Type, optional, public, required, sensitive};
use super::exceptions::{Thrown, logic_exception};
use super::globals::GLOBALS;
use super::ini::emit_warning;
use super::interfaces;
use super::object::{Handlers, Native};
use super::php_storage::{self, ConsumeCall};
use super::shared_string::SharedString;
use super::storage;
use crate::limit::{Limit, Op};
use crate::limiter::{
    CallContext, CounterHandle, DecisionFlags, FlaggedDecision, Identifier, Limiter,
};
use crate::store::KeyHash;
use crate::store::counters::Outcome;
use ext_php_rs::ffi;
use ext_php_rs::types::{ZendHashTable, Zval};
use ext_php_rs::zend::ExecutorGlobals;
use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::rc::Rc;

/// Who decides for a bucket.
pub enum Store {
    Native(Rc<Limiter>),
    /// A storage written in PHP, an object. Boxed: so a `Store` is two words, which are returned in registers.
    Php(Box<Zval>),
}

/// A bucket as a PHP object.
pub struct Bucket {
    pub store: Store,
    identifier: SharedString,
    pub limit: Option<Rc<Limit>>,
    /// The numbers as they were given.
    arguments: LimitArguments,
    /// The limit's name, where one was given.
    name: Option<SharedString>,
    key_hash: Cell<KeyHash>,
    counter: Cell<CounterHandle>,
    /// `key()` of a class that overrides it.
    pub key: Option<NonNull<ffi::zend_function>>,
}

/// The numbers a limiter was made of, by the names of its constructor.
#[derive(Clone, Copy)]
pub enum LimitArguments {
    /// `$bucket_capacity`, `$tokens_per_second`.
    TokenBucket(Option<i64>, Option<f64>),
    /// `$limit`, `$period`.
    LeakyBucket(i64, f64),
    /// `$limit`, `$interval`.
    FixedWindow(i64, f64),
}

static HANDLERS: Handlers = Handlers::new();
/// Which argument of a constructor is the limit's name.
const NAME: u32 = 5;

/// Of the constructors: `$storage`, `$identifier` first, `$name` last.
pub const STORAGE: Parameter =
    sensitive(required(c"storage", Type::object(c"TokenBucketStorage").or(Type::STRING).or_null()));
/// As above.
pub const IDENTIFIER: Parameter = required(c"identifier", Type::STRING);
/// As above.
pub const LIMIT_NAME: Parameter = optional(c"name", Type::STRING.or_null(), c"null");

/// Of the methods that take tokens or hits.
pub const COUNT: Parameter = optional(c"token_count", Type::INT, c"1");
/// What most of them return.
pub const DECISION: Type = Type::object(c"TokenBucket\\Decision");

/// What every limiter can do.
pub const CONSUME: Method = public(c"consume", handler!(consume), &[COUNT], Type::BOOL);
/// As above.
pub const ATTEMPT: Method = public(c"attempt", handler!(attempt), &[COUNT], DECISION);
/// As above.
pub const PEEK: Method = public(c"peek", handler!(peek), &[COUNT], DECISION);
/// As above.
pub const REFUND: Method = public(c"refund", handler!(refund), &[COUNT], Type::VOID);
/// As above.
pub const RESET: Method = public(c"reset", handler!(reset), &[], Type::VOID);

impl Native for Bucket {
    fn handlers() -> &'static Handlers {
        &HANDLERS
    }

    fn dump(&self, properties: &mut ZendHashTable) {
        let (most, count, pace, seconds) = match self.arguments {
            LimitArguments::TokenBucket(count, rate) => {
                ("bucket_capacity", count, "tokens_per_second", rate)
            }
            LimitArguments::LeakyBucket(limit, period) => {
                ("limit", Some(limit), "period", Some(period))
            }
            LimitArguments::FixedWindow(limit, span) => {
                ("limit", Some(limit), "interval", Some(span))
            }
        };
        // A class that extends ours may have properties of the same names.
        if properties.get("identifier").is_none() {
            let _ = properties.insert("identifier", self.identifier.to_zval());
        }
        if properties.get(most).is_none() {
            let _ = properties.insert(most, count);
        }
        if properties.get(pace).is_none() {
            let _ = properties.insert(pace, seconds);
        }
    }

    fn gc_roots(&self) -> &[Zval] {
        match &self.store {
            Store::Native(_) => &[],
            Store::Php(storage) => std::slice::from_ref(&**storage),
        }
    }
}

impl Bucket {
    /// A bucket on `store`, its identifier the second argument of the call, its limit's name the
    /// fifth.
    #[inline(always)]
    pub fn new(
        call: &Call,
        store: Store,
        limit: Option<Rc<Limit>>,
        arguments: LimitArguments,
    ) -> Result<Self, Thrown> {
        let identifier = call.valid_identifier(2, call.string(2)?)?;
        Ok(Self {
            store,
            identifier: SharedString::new(identifier),
            limit,
            arguments,
            name: name(call)?,
            key_hash: Cell::default(),
            counter: Cell::default(),
            key: None,
        })
    }

    /// The limit's name, where one was given.
    #[inline(always)]
    fn name(&self) -> Option<&[u8]> {
        self.name.as_ref().map(SharedString::as_bytes)
    }

    /// The caller of calls on the bucket's own identifier.
    #[inline(always)]
    pub fn context(&self) -> CallContext<'_> {
        let identifier = Identifier::Plain(self.identifier());
        CallContext {
            identifier,
            name: self.name(),
            key_hash: &self.key_hash,
            counter: &self.counter,
        }
    }

    /// The caller of calls on another identifier of the same limit.
    #[inline(always)]
    pub fn context_for<'a>(
        &'a self,
        identifier: Identifier<'a>,
        key_hash: &'a Cell<KeyHash>,
    ) -> CallContext<'a> {
        CallContext { identifier, name: self.name(), key_hash, counter: &self.counter }
    }

    /// Whose bucket it is.
    #[inline]
    pub fn identifier(&self) -> &[u8] {
        self.identifier.as_bytes()
    }

    /// The bucket's own limit, or the complaint that it has none.
    #[inline]
    pub fn limit(&self, method: &str) -> Result<&Limit, Thrown> {
        self.limit.as_deref().ok_or_else(|| self.no_limit(method))
    }

    #[cold]
    fn no_limit(&self, method: &str) -> Thrown {
        let missing = match self.arguments {
            LimitArguments::TokenBucket(None, None) => "$bucket_capacity and $tokens_per_second",
            LimitArguments::TokenBucket(None, _) => "$bucket_capacity",
            _ => "$tokens_per_second",
        };
        logic_exception(format!(
            "TokenBucket::{method}() needs a limit: {missing} missing in TokenBucket::__construct()"
        ))
    }

    /// The limiter of a native store, or the complaint that there is none.
    #[inline(always)]
    pub fn limiter(&self, method: &str) -> Result<&Limiter, Thrown> {
        match &self.store {
            Store::Native(limiter) => Ok(limiter),
            Store::Php(..) => Err(not_expressed(method)),
        }
    }

    /// Decides on a call on the bucket's own identifier.
    #[inline(always)]
    fn decide(&self, limiter: &Limiter, limit: &Limit, op: &Op) -> Result<FlaggedDecision, Thrown> {
        Ok(limiter.decide(&self.context(), limit, op, GLOBALS.get().frozen.get())?)
    }

    /// Whether a call on the bucket's own identifier may go on.
    #[inline(always)]
    pub fn admits(&self, limiter: &Limiter, limit: &Limit, op: &Op) -> Result<bool, Thrown> {
        Ok(limiter.admits(&self.context(), limit, op, GLOBALS.get().frozen.get())?)
    }
}

#[cold]
fn not_expressed(method: &str) -> Thrown {
    logic_exception(format!(
        "{method}() cannot be asked of a storage written in PHP: \
         TokenBucketStorage knows consume() alone"
    ))
}

#[inline(always)]
fn name(call: &Call) -> Result<Option<SharedString>, Thrown> {
    match call.value(NAME) {
        None => Ok(None),
        Some(_) => name_given(call),
    }
}

#[cold]
fn name_given(call: &Call) -> Result<Option<SharedString>, Thrown> {
    Ok(call.string_or_null(NAME)?.map(SharedString::new))
}

/// `$storage`: a DSN, a storage, or null for the default.
#[inline(always)]
pub fn store(call: &Call) -> Result<Store, Thrown> {
    match call.value(1) {
        None => GLOBALS.get().default_limiter().map(Store::Native),
        Some(storage) => match storage.zend_str() {
            Some(dsn) => GLOBALS.get().limiter_on(dsn.as_bytes()).map(Store::Native),
            None => store_of_object(call, storage),
        },
    }
}

/// As [`store`], of an object or of what the engine may turn into a string.
#[inline(never)]
fn store_of_object(call: &Call, storage: &Zval) -> Result<Store, Thrown> {
    if let Some(object) = storage.object() {
        if let Some(limiter) = storage::limiter_of(ptr::from_ref(object).cast_mut())? {
            return Ok(Store::Native(limiter));
        }
        if object.instance_of(interfaces::STORAGE.get()) {
            return Ok(Store::Php(Box::new(storage.shallow_clone())));
        }
    }
    // An object may still be one that has a text.
    if let Some(dsn) = call.as_string(1) {
        return GLOBALS.get().limiter_on(dsn.as_bytes()).map(Store::Native);
    }
    if ExecutorGlobals::has_exception() {
        return Err(Thrown);
    }
    // SAFETY: throws; reads the argument and the current call frame.
    unsafe {
        ffi::zend_wrong_parameter_class_or_string_or_null_error(
            1,
            c"TokenBucketStorage".as_ptr(),
            ptr::from_ref(storage).cast_mut(),
        );
    }
    Err(Thrown)
}

fn consume(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 1)?;
    let cost = call.cost(1)?;
    let bucket = call.this::<Bucket>()?;
    let Store::Native(limiter) = &bucket.store else {
        return call.return_bool(ask(call, "consume", cost)?.is_admitted());
    };
    let admitted = bucket.admits(limiter, bucket.limit("consume")?, &Op::Take { cost })?;
    emit_warning(limiter.take_warning())?;
    call.return_bool(admitted)
}

/// Asks a storage written in PHP. Nothing of the object may be borrowed meanwhile.
#[cold]
fn ask(call: &Call, method: &str, cost: u64) -> Result<FlaggedDecision, Thrown> {
    let bucket = call.this::<Bucket>()?;
    let limit = *bucket.limit(method)?;
    let (capacity, rate) = match bucket.arguments {
        LimitArguments::TokenBucket(Some(capacity), Some(rate)) => (capacity, rate),
        LimitArguments::LeakyBucket(limit, period) => (limit, limit as f64 / period),
        _ => return Err(not_expressed(method)),
    };
    let Store::Php(storage) = &bucket.store else { return Err(not_expressed(method)) };
    if php_storage::is_deciding_for(call, storage) {
        return Err(logic_exception(format!(
            "{method}(): the storage must not ask the bucket that it decides for"
        )));
    }
    let (storage, identifier) = (storage.shallow_clone(), bucket.identifier.to_zval());
    let answer = ConsumeCall { storage, identifier, capacity, rate }.ask(cost);
    // It may have constructed the object again.
    let bucket = call.this::<Bucket>()?;
    let (globals, directives) = (GLOBALS.get(), &GLOBALS.get().directives);
    let (enforced, track) = (directives.enforce.get(), directives.track_identifiers.get());
    let outcome = Outcome::from_answer(answer.as_ref().ok().copied(), enforced);
    globals.statistics().count(&bucket.context(), outcome, track);
    let decision = php_storage::decision(&limit, cost, answer?);
    Ok(FlaggedDecision { decision, flags: DecisionFlags::new(false, enforced) })
}

/// Runs an operation of the bucket's own limit and returns its decision to PHP.
#[inline]
pub fn decide(call: &Call, method: &str, op: Op) -> Result<(), Thrown> {
    let bucket = call.this::<Bucket>()?;
    let limiter = bucket.limiter(method)?;
    let limit = *bucket.limit(method)?;
    let answer = bucket.decide(limiter, &limit, &op)?;
    emit_warning(limiter.take_warning())?;
    call.return_new(&decision::CLASS, decision::Decision { answer, limit })
}

fn attempt(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 1)?;
    let cost = call.cost(1)?;
    let bucket = call.this::<Bucket>()?;
    if let Store::Php(..) = bucket.store {
        let limit = *bucket.limit("attempt")?;
        let answer = ask(call, "attempt", cost)?;
        return call.return_new(&decision::CLASS, decision::Decision { answer, limit });
    }
    decide(call, "attempt", Op::Take { cost })
}

fn peek(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 1)?;
    decide(call, "peek", Op::Peek { cost: call.cost(1)? })
}

fn refund(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 1)?;
    let cost = call.cost(1)?;
    let bucket = call.this::<Bucket>()?;
    let limiter = bucket.limiter("refund")?;
    bucket.decide(limiter, bucket.limit("refund")?, &Op::Refund { cost })?;
    emit_warning(limiter.take_warning())
}

fn reset(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 0)?;
    let bucket = call.this::<Bucket>()?;
    let limiter = bucket.limiter("reset")?;
    bucket.decide(limiter, bucket.limit("reset")?, &Op::Reset)?;
    emit_warning(limiter.take_warning())
}
