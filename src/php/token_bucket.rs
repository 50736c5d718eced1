//! `TokenBucket`.

use super::call::{Call, handler};
use super::decision;
use super::declare::{
    self, Class, Method, Type, optional, protected, public, public_static, required, sensitive,
};
use super::exceptions::{Thrown, error, logic_exception, value_error};
use super::globals::GLOBALS;
use super::ini::say;
use super::interfaces;
use super::object::{self, Handlers, Native};
use super::php_storage::{self, Question};
use super::storage;
use crate::limit::{LimitError, Op, SECOND, TokenBucket};
use crate::limiter::{Answer, Limiter, MAX_IDENTIFIER, Subject, client_key};
use crate::store::Place;
use ext_php_rs::ffi;
use ext_php_rs::flags::ClassFlags;
use ext_php_rs::types::{ZendHashTable, ZendStr, Zval};
use ext_php_rs::zend::ExecutorGlobals;
use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::rc::Rc;

/// Who decides for a bucket.
enum Store {
    Native(Rc<Limiter>),
    /// A storage written in PHP, an object; and whether it is being asked.
    Php(Zval, Cell<bool>),
}

/// A bucket as a PHP object.
pub struct Bucket {
    store: Store,
    /// A string. Shared with the script, not copied.
    identifier: Zval,
    /// The bytes of that string: known without a look at it.
    bytes: NonNull<[u8]>,
    limit: Option<TokenBucket>,
    /// The numbers as they were given, for those who look.
    given: (Option<i64>, Option<f64>),
    place: Cell<Place>,
    /// `key()` of a class that overrides it.
    key: Option<NonNull<ffi::zend_function>>,
}

static CLASS: Class = Class::new();
static HANDLERS: Handlers = Handlers::new();

/// Two times this near to each other, relative to the second, count as equal.
const MICROTIME_DELTA: f64 = 0.0001;

const DECISION: Type = Type::object(c"TokenBucket\\Decision");
const TOKEN_COUNT: declare::Parameter = optional(c"token_count", Type::INT, c"1");

const METHODS: &[Method] = &[
    public_static(
        c"compare_microtimes",
        handler!(compare_microtimes),
        &[required(c"m1", Type::FLOAT), required(c"m2", Type::FLOAT)],
        Type::INT,
    ),
    public(
        c"__construct",
        handler!(construct),
        &[
            sensitive(required(
                c"storage",
                Type::object(c"TokenBucketStorage").or(Type::STRING).or_null(),
            )),
            required(c"identifier", Type::STRING),
            optional(c"bucket_capacity", Type::INT.or_null(), c"null"),
            optional(c"tokens_per_second", Type::FLOAT.or_null(), c"null"),
        ],
        Type::NONE,
    ),
    public(c"consume", handler!(consume), &[TOKEN_COUNT], Type::BOOL),
    public(
        c"check",
        handler!(check),
        &[
            optional(c"id", Type::STRING.or_null(), c"null"),
            optional(c"limit", Type::INT.or_null(), c"null"),
            optional(c"window", Type::INT, c"300"),
        ],
        Type::BOOL,
    ),
    public(c"attempt", handler!(attempt), &[TOKEN_COUNT], DECISION),
    public(c"peek", handler!(peek), &[TOKEN_COUNT], DECISION),
    public(
        c"reserve",
        handler!(reserve),
        &[TOKEN_COUNT, optional(c"max_wait", Type::FLOAT.or_null(), c"null")],
        DECISION,
    ),
    public(c"refund", handler!(refund), &[TOKEN_COUNT], Type::VOID),
    public(c"reset", handler!(reset), &[], Type::VOID),
    protected(c"key", handler!(key), &[required(c"id", Type::STRING)], Type::STRING),
];

/// Makes the class known to the engine.
pub fn register() {
    let (flags, limiter) = (ClassFlags::empty(), [&interfaces::LIMITER]);
    declare::class(&CLASS, "TokenBucket", flags, METHODS, ptr::null_mut(), &limiter);
    object::carry::<Bucket>(&CLASS);
    declare::constant(&CLASS, "MILLISECOND", 0.001);
    for (name, seconds) in
        [("SECOND", 1i64), ("MINUTE", 60), ("HOUR", 3_600), ("DAY", 86_400), ("WEEK", 604_800)]
    {
        declare::constant(&CLASS, name, seconds);
    }
    declare::constant(&CLASS, "MICROTIME_DELTA", MICROTIME_DELTA);
}

impl Native for Bucket {
    fn handlers() -> &'static Handlers {
        &HANDLERS
    }

    fn dump(&self, properties: &mut ZendHashTable) {
        let (capacity, rate) = self.given;
        // A class that extends ours may have properties of the same names.
        if properties.get("identifier").is_none() {
            let _ = properties.insert("identifier", self.identifier.shallow_clone());
        }
        if properties.get("bucket_capacity").is_none() {
            let _ = properties.insert("bucket_capacity", capacity);
        }
        if properties.get("tokens_per_second").is_none() {
            let _ = properties.insert("tokens_per_second", rate);
        }
    }

    fn held(&self) -> &[Zval] {
        match &self.store {
            Store::Native(_) => &[],
            Store::Php(storage, _) => std::slice::from_ref(storage),
        }
    }
}

impl Bucket {
    #[inline]
    fn identifier(&self) -> &[u8] {
        // SAFETY: the bytes of `identifier`, which holds a reference to the string; strings that
        // are shared are never changed.
        unsafe { self.bytes.as_ref() }
    }

    /// The bucket's own limit, or the complaint that it has none.
    #[inline]
    fn limit(&self, method: &str) -> Result<&TokenBucket, Thrown> {
        self.limit.as_ref().ok_or_else(|| self.no_limit(method))
    }

    #[cold]
    fn no_limit(&self, method: &str) -> Thrown {
        let missing = match self.given {
            (None, None) => "$bucket_capacity and $tokens_per_second",
            (None, _) => "$bucket_capacity",
            _ => "$tokens_per_second",
        };
        logic_exception(format!(
            "TokenBucket::{method}() needs a limit: {missing} missing in TokenBucket::__construct()"
        ))
    }

    /// The limiter of a native store, or the complaint that there is none.
    #[inline(always)]
    fn limiter(&self, method: &str) -> Result<&Limiter, Thrown> {
        match &self.store {
            Store::Native(limiter) => Ok(limiter),
            Store::Php(..) => Err(not_expressed(method)),
        }
    }

    /// Decides on a call on the bucket's own identifier.
    #[inline(always)]
    fn decide(&self, limiter: &Limiter, limit: &TokenBucket, op: Op) -> Result<Answer, Thrown> {
        let (subject, now) = (Subject::Identifier(self.identifier()), GLOBALS.get().frozen.get());
        Ok(limiter.decide(subject, &self.place, limit, op, now)?)
    }

    /// Whether a call on the bucket's own identifier may go on.
    #[inline(always)]
    fn admits(&self, limiter: &Limiter, limit: &TokenBucket, op: Op) -> Result<bool, Thrown> {
        let (subject, now) = (Subject::Identifier(self.identifier()), GLOBALS.get().frozen.get());
        Ok(limiter.admits(subject, &self.place, limit, op, now)?)
    }
}

#[cold]
fn not_expressed(method: &str) -> Thrown {
    logic_exception(format!(
        "TokenBucket::{method}() cannot be asked of a storage written in PHP: \
         TokenBucketStorage knows consume() alone"
    ))
}

fn construct(call: &Call) -> Result<(), Thrown> {
    call.expect(2, 4)?;
    let store = store(call)?;
    let identifier = call.string(2)?;
    let capacity = call.int_or_null(3)?;
    let rate = call.float_or_null(4)?;
    let bytes = call.valid_identifier(2, identifier)?.as_bytes();
    let limit = match (capacity, rate) {
        (Some(capacity), Some(rate)) => {
            Some(GLOBALS.get().per_second(capacity, rate).map_err(|wrong| {
                value_error(if wrong == LimitError::Capacity { 3 } else { 4 }, wrong)
            })?)
        }
        (Some(capacity), None) if TokenBucket::per_second(capacity, 1e9).is_err() => {
            return Err(value_error(3, LimitError::Capacity));
        }
        (None, Some(rate)) if !(rate.is_finite() && rate > 0.0) => {
            return Err(value_error(4, LimitError::Rate));
        }
        _ => None,
    };
    let identifier = call.value(2).map_or_else(Zval::new, Zval::shallow_clone);
    call.construct(Bucket {
        store,
        identifier,
        bytes: NonNull::from(bytes),
        limit,
        given: (capacity, rate),
        place: Cell::new(Place::default()),
        key: overridden_key(call.object()),
    });
    Ok(())
}

/// `$storage`: a DSN, a storage, or null for the default.
fn store(call: &Call) -> Result<Store, Thrown> {
    let Some(storage) = call.value(1) else {
        return GLOBALS.get().default_limiter().map(Store::Native);
    };
    if let Some(object) = storage.object() {
        if let Some(limiter) = storage::limiter_of(ptr::from_ref(object).cast_mut())? {
            return Ok(Store::Native(limiter));
        }
        if object.instance_of(interfaces::STORAGE.get()) {
            return Ok(Store::Php(storage.shallow_clone(), Cell::new(false)));
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

/// `key()` of the object's class, if it is not ours.
#[inline]
fn overridden_key(object: *mut ffi::zend_object) -> Option<NonNull<ffi::zend_function>> {
    // SAFETY: the object of the call that is running, its class and that class's functions
    // live as long as the request, as the object does.
    unsafe {
        let class = (*object).ce;
        if class == CLASS.as_ptr() {
            return None;
        }
        let found = ffi::zend_hash_str_find(&raw const (*class).function_table, c"key".as_ptr(), 3);
        let function = NonNull::new(found.as_ref()?.value.func)?;
        ((*function.as_ptr()).common.scope != CLASS.as_ptr()).then_some(function)
    }
}

fn consume(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 1)?;
    let cost = call.cost(1)?;
    let bucket = call.this::<Bucket>()?;
    let Store::Native(limiter) = &bucket.store else {
        return call.return_bool(ask(call, "consume", cost)?);
    };
    let admitted = bucket.admits(limiter, bucket.limit("consume")?, Op::Take { cost })?;
    say(limiter.take_warning())?;
    call.return_bool(admitted)
}

/// Asks a storage written in PHP. Nothing of the object may be borrowed meanwhile.
#[cold]
fn ask(call: &Call, method: &str, cost: u64) -> Result<bool, Thrown> {
    let bucket = call.this::<Bucket>()?;
    bucket.limit(method)?;
    let (Store::Php(storage, asked), (Some(capacity), Some(rate))) = (&bucket.store, bucket.given)
    else {
        return Err(not_expressed(method));
    };
    if asked.replace(true) {
        return Err(logic_exception(format!(
            "TokenBucket::{method}(): the storage must not ask the bucket that it decides for"
        )));
    }
    let identifier = bucket.identifier.shallow_clone();
    let answer =
        Question { storage: storage.shallow_clone(), identifier, capacity, rate }.ask(cost);
    // It may have constructed the object again.
    if let Store::Php(_, asked) = &call.this::<Bucket>()?.store {
        asked.set(false);
    }
    answer
}

fn check(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 3)?;
    let id = call.string_or_null(1)?;
    let limit = call.int_or_null(2)?;
    let window = call.int(3, 300)?;
    let limit = limit.map(|limit| {
        GLOBALS.get().per_window(limit, window).map_err(|wrong| {
            let argument = match wrong {
                LimitError::Capacity | LimitError::RateTooHigh => 2,
                _ => 3,
            };
            value_error(argument, wrong)
        })
    });
    let limit = limit.transpose()?;
    let id = id.map(|id| call.valid_identifier(1, id)).transpose()?;
    let bucket = call.this::<Bucket>()?;
    let own_key = match (id, bucket.key) {
        (Some(id), Some(function)) => Some(call_key(call, function, id)?),
        _ => None,
    };
    // Anew: the class's own key() may have done anything to the object.
    let bucket = call.this::<Bucket>()?;
    let limiter = bucket.limiter("check")?;
    let limit = match &limit {
        Some(limit) => limit,
        None => bucket.limit("check")?,
    };
    let Some(id) = id else {
        let admitted = bucket.admits(limiter, limit, Op::Check)?;
        say(limiter.take_warning())?;
        return call.return_bool(!admitted);
    };
    let subject = match own_key.as_ref().and_then(Zval::zend_str) {
        Some(key) => Subject::Identifier(key.as_bytes()),
        None => Subject::Client { name: bucket.identifier(), id: id.as_bytes() },
    };
    let (place, now) = (Cell::new(Place::default()), GLOBALS.get().frozen.get());
    let admitted = limiter.admits(subject, &place, limit, Op::Check, now)?;
    say(limiter.take_warning())?;
    call.return_bool(!admitted)
}

/// Calls the class's own `key()`. Nothing of the object may be borrowed meanwhile.
fn call_key(
    call: &Call,
    function: NonNull<ffi::zend_function>,
    id: &ZendStr,
) -> Result<Zval, Thrown> {
    let mut key = Zval::new();
    let Some(argument) = call.value(1) else { return Err(Thrown) };
    let mut argument = argument.shallow_clone();
    let object = call.object();
    debug_assert_eq!(argument.zend_str().map(ZendStr::len), Some(id.len()));
    // SAFETY: a method of the object's class, with the one parameter it takes; the object is
    // held by the call. A fatal error jumps over this frame and leaks the argument's
    // reference, which ends with the request.
    unsafe {
        ffi::zend_call_known_function(
            function.as_ptr(),
            object,
            (*object).ce,
            &raw mut key,
            1,
            &raw mut argument,
            ptr::null_mut(),
        );
    }
    if ExecutorGlobals::has_exception() {
        return Err(Thrown);
    }
    match key.zend_str() {
        Some(text) if (1..=MAX_IDENTIFIER).contains(&text.len()) => Ok(key),
        _ => Err(error(format!(
            "The key() of a TokenBucket must return a string of 1 to {MAX_IDENTIFIER} bytes"
        ))),
    }
}

/// Runs an operation of the bucket's own limit and returns its decision to PHP.
#[inline]
fn decide(call: &Call, method: &str, op: Op) -> Result<(), Thrown> {
    let bucket = call.this::<Bucket>()?;
    let limiter = bucket.limiter(method)?;
    let limit = *bucket.limit(method)?;
    let Answer { decision: answer, degraded } = bucket.decide(limiter, &limit, op)?;
    say(limiter.take_warning())?;
    call.return_new(&decision::CLASS, decision::Decision { answer, degraded, limit })
}

fn attempt(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 1)?;
    let cost = call.cost(1)?;
    let bucket = call.this::<Bucket>()?;
    if let Store::Php(..) = bucket.store {
        let limit = *bucket.limit("attempt")?;
        let answer = php_storage::decision(&limit, cost, ask(call, "attempt", cost)?);
        let decision = decision::Decision { answer, degraded: false, limit };
        return call.return_new(&decision::CLASS, decision);
    }
    decide(call, "attempt", Op::Take { cost })
}

fn peek(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 1)?;
    decide(call, "peek", Op::Peek { cost: call.cost(1)? })
}

fn reserve(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 2)?;
    let cost = call.cost(1)?;
    let max_wait = match call.float_or_null(2)? {
        None => u64::MAX,
        Some(seconds) if seconds >= 0.0 => (seconds * SECOND as f64).round() as u64,
        Some(_) => return Err(value_error(2, "must be greater than or equal to 0")),
    };
    decide(call, "reserve", Op::Reserve { cost, max_wait })
}

fn refund(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 1)?;
    let cost = call.cost(1)?;
    let bucket = call.this::<Bucket>()?;
    let limiter = bucket.limiter("refund")?;
    bucket.decide(limiter, bucket.limit("refund")?, Op::Refund { cost })?;
    say(limiter.take_warning())
}

fn reset(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 0)?;
    let bucket = call.this::<Bucket>()?;
    let limiter = bucket.limiter("reset")?;
    bucket.decide(limiter, bucket.limit("reset")?, Op::Reset)?;
    say(limiter.take_warning())
}

fn key(call: &Call) -> Result<(), Thrown> {
    call.expect(1, 1)?;
    let id = call.string(1)?;
    let key = client_key(call.this::<Bucket>()?.identifier(), id.as_bytes());
    let mut result = Zval::new();
    result.set_zend_string(ZendStr::new(key, false));
    call.return_value(result)
}

fn compare_microtimes(call: &Call) -> Result<(), Thrown> {
    call.expect(2, 2)?;
    let (m1, m2) = (call.float(1)?, call.float(2)?);
    let near = match m2 == 0.0 {
        true => m1.abs() < MICROTIME_DELTA,
        false => ((m1 - m2) / m2).abs() < MICROTIME_DELTA,
    };
    call.return_int(match near {
        true => 0,
        false if m1 > m2 => 1,
        false => -1,
    })
}
