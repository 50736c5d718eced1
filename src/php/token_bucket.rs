//! `TokenBucket`.

use super::engine::call::{Call, handler};
use super::engine::declare;
use super::engine::declare::{
    Class, Method, PROTECTED, PUBLIC_STATIC, Type, method, optional, public, required,
};
use super::engine::exceptions::{Thrown, error, value_error};
use super::engine::object;
use super::events::{answered, deliver_warning};
use super::globals::GLOBALS;
use super::interfaces;
use super::interval_limit::{self, IntervalArguments};
use super::likely_mistakes::{Mistake, claim, warn_of_milliseconds};
use super::limiter_methods::{
    ATTEMPT, BLOCK, CONSUME, IDENTIFIER, LIMIT_NAME, PEEK, REFUND, RESERVE, RESET, STORAGE,
    TAKE_UP_TO, throw_as_it_leaves,
};
use super::limiter_object::{LimitArguments, LimiterObject};
use super::storage_argument::parse_storage_argument;
use crate::identifier::{Identifier, MAX_IDENTIFIER, client_identifier};
use crate::limit::{LimitError, Op, TokenBucket, describe_seconds};
use crate::limiter::CallContext;
use ext_php_rs::ffi;
use ext_php_rs::flags::ClassFlags;
use ext_php_rs::types::{ZendStr, Zval};
use ext_php_rs::zend::ExecutorGlobals;
use std::cell::Cell;
use std::ptr::{self, NonNull};

pub static CLASS: Class = Class::new();
/// `compare_microtimes()` takes two times for equal if they differ by less than this share of the second.
const MICROTIME_DELTA: f64 = 0.0001;
/// The default of `$window` of `check()`, in seconds.
const DEFAULT_WINDOW: f64 = 300.0;

const METHODS: &[Method] = &[
    method(
        PUBLIC_STATIC,
        c"compare_microtimes",
        handler!(compare_microtimes),
        &[required(c"m1", Type::FLOAT), required(c"m2", Type::FLOAT)],
        Type::INT,
    ),
    public(
        c"__construct",
        handler!(construct),
        &[
            STORAGE,
            IDENTIFIER,
            optional(c"bucket_capacity", Type::INT.or_null(), c"null"),
            optional(c"tokens_per_second", Type::FLOAT.or_null(), c"null"),
            LIMIT_NAME,
        ],
        Type::NONE,
    ),
    method(PUBLIC_STATIC, c"per", handler!(per), interval_limit::PARAMETERS, Type::STATIC),
    CONSUME,
    public(
        c"check",
        handler!(check),
        &[
            optional(c"id", Type::STRING.or_null(), c"null"),
            optional(c"limit", Type::INT.or_null(), c"null"),
            optional(c"window", Type::FLOAT, c"300.0"),
        ],
        Type::BOOL,
    ),
    ATTEMPT,
    TAKE_UP_TO,
    PEEK,
    RESERVE,
    REFUND,
    RESET,
    BLOCK,
    method(PROTECTED, c"key", handler!(key), &[required(c"id", Type::STRING)], Type::STRING),
];

pub fn register() {
    let (flags, limiter) = (ClassFlags::empty(), [&interfaces::LIMITER]);
    object::class::<LimiterObject>(&CLASS, "TokenBucket", flags, METHODS, &limiter);
    declare::constant(&CLASS, "MILLISECOND", 0.001);
    for (name, seconds) in
        [("SECOND", 1i64), ("MINUTE", 60), ("HOUR", 3_600), ("DAY", 86_400), ("WEEK", 604_800)]
    {
        declare::constant(&CLASS, name, seconds);
    }
    declare::constant(&CLASS, "MICROTIME_DELTA", MICROTIME_DELTA);
}

fn construct(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(2, 5)?;
    let backend = parse_storage_argument(call)?;
    call.string(2)?;
    let (capacity, rate) = (call.int_or_null(3)?, call.float_or_null(4)?);
    let limit = match (capacity, rate) {
        (Some(capacity), Some(rate)) => {
            Some(GLOBALS.get().per_second(capacity, rate).map_err(|error| match error {
                LimitError::Capacity => value_error(3, error),
                LimitError::RefillTooLong => value_error(4, describe_slow_rate(capacity, rate)),
                _ => value_error(4, error),
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
    let arguments = LimitArguments::TokenBucket(capacity, rate);
    let mut value = LimiterObject::from_call(call, backend, limit, arguments)?;
    value.overridden_key = find_overridden_key(call.this_object());
    call.construct(value);
    match (capacity, rate) {
        (Some(capacity), Some(rate)) if rate > capacity as f64 => warn_of_period(capacity, rate),
        _ => Ok(()),
    }
}

/// Warns once in a process of a rate that is probably a period: `new TokenBucket(null, $id, 5, 300)` gets 300 tokens back
/// each second. Rates above the capacity are rare, and of those that are meant few are a whole number of minutes.
#[cold]
#[inline(never)]
fn warn_of_period(capacity: i64, rate: f64) -> Result<(), Thrown> {
    if rate % 60.0 != 0.0 || !claim(Mistake::Period) {
        return Ok(());
    }
    let refill = describe_seconds(capacity as f64 / rate);
    deliver_warning(Some(format!(
        "A bucket of {capacity} is full again in {refill}, for the fourth argument is a rate per second; {capacity} in \
         {rate} seconds is TokenBucket::per(..., {capacity}, {rate})"
    )))
}

/// Makes an object whose limit is a number of tokens in some seconds. Its class may be one that extends
/// `TokenBucket`, whose constructor is not called: it may have other parameters.
fn per(call: &Call) -> Result<(), Thrown> {
    let IntervalArguments { backend, limit: capacity, interval } =
        interval_limit::parse_arguments(call)?;
    let limit = interval_limit::limit_per_interval(capacity, interval)?;
    warn_of_milliseconds("$interval", interval)?;
    let rate = capacity as f64 / interval;
    let arguments = LimitArguments::TokenBucket(Some(capacity), Some(rate));
    let mut value = LimiterObject::from_call(call, backend, Some(limit), arguments)?;
    let object = call.create_static()?;
    let Some(new) = object.object() else { return Err(Thrown) };
    value.overridden_key = find_overridden_key(new);
    let pointer = ptr::from_ref(new).cast_mut();
    // SAFETY: a new object of TokenBucket or of a class that extends it, to which nothing else refers.
    unsafe { object::construct(pointer, value) };
    call.return_value(object)
}

/// The error text for a rate that refills the bucket too slowly. The usual mistake is to pass seconds per
/// token.
#[cold]
fn describe_slow_rate(capacity: i64, rate: f64) -> String {
    const YEAR: f64 = 365.25 * 86_400.0;
    let years = capacity as f64 / rate / YEAR;
    let years = if years < 1e6 { format!("{years:.1}") } else { format!("{years:.1e}") };
    format!(
        "must refill the whole bucket within four years: a capacity of {capacity} takes {years} years \
         at {rate:?} tokens per second; were seconds per token meant?"
    )
}

/// The `key()` of the object's class, if that class overrides it.
#[inline]
fn find_overridden_key(object: &ffi::zend_object) -> Option<NonNull<ffi::zend_function>> {
    let class = object.ce;
    if class == CLASS.as_ptr() {
        return None;
    }
    // SAFETY: an object that lives has a class, and its functions live as long as the class.
    unsafe {
        let found = ffi::zend_hash_str_find(&raw const (*class).function_table, c"key".as_ptr(), 3);
        let function = NonNull::new(found.as_ref()?.value.func)?;
        ((*function.as_ptr()).common.scope != CLASS.as_ptr()).then_some(function)
    }
}

fn check(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 3)?;
    let id = call.string_or_null(1)?;
    let limit = call.int_or_null(2)?;
    let window = if call.is_passed(3) { call.float(3)? } else { DEFAULT_WINDOW };
    let limit = limit.map(|limit| {
        let limit = GLOBALS.get().per_window(limit, window);
        limit.map_err(|error| interval_limit::throw_wrong_limit(error, 2, 3))
    });
    let limit = limit.transpose()?;
    let id = id.map(|id| call.check_identifier(1, id)).transpose()?;
    let own = call.with_this(|this: &LimiterObject| this.overridden_key)?;
    let overridden_key = match (id, own) {
        (Some(id), Some(function)) => Some(call_key(call, function, id)?),
        _ => None,
    };
    let key = overridden_key.as_ref().and_then(Zval::zend_str).map(ZendStr::as_bytes);
    let admitted = call.try_with_this(|this: &LimiterObject| {
        let limiter = this.limiter("check")?;
        if this.backend.leave() > 0 {
            return Err(throw_as_it_leaves("check"));
        }
        let limit = match &limit {
            Some(limit) => limit,
            None => this.limit("check")?,
        };
        let (key_hash, record) = (Cell::default(), Cell::default());
        let context = match (id, key) {
            (None, _) => this.context(),
            // Not the object's record: the key may begin with another limit's name.
            (_, Some(key)) => CallContext {
                record: &record,
                ..this.context_for(Identifier::Plain(key), &key_hash)
            },
            (Some(id), None) => {
                let (name, id) = (this.identifier(), id.as_bytes());
                this.context_for(Identifier::Client { name, id }, &key_hash)
            }
        };
        answered(limiter.admits(&context, limit, &Op::Check))
    })?;
    let is_limited = !admitted.deliver()?;
    warn_of_milliseconds("$window", window)?;
    call.return_bool(is_limited)
}

/// Calls a `key()` written in PHP.
fn call_key(
    call: &Call,
    function: NonNull<ffi::zend_function>,
    id: &ZendStr,
) -> Result<Zval, Thrown> {
    let mut key = Zval::new();
    let Some(argument) = call.non_null(1) else { return Err(Thrown) };
    let mut argument = argument.shallow_clone();
    let object = call.object();
    debug_assert_eq!(argument.zend_str().map(ZendStr::len), Some(id.len()));
    // SAFETY: a method of the object's class, with the one argument it takes. The call holds the object.
    // A fatal error skips this frame and leaks a reference to the argument until the request ends.
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

fn key(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(1, 1)?;
    let id = call.string(1)?;
    let own = |this: &LimiterObject| client_identifier(this.identifier(), id.as_bytes());
    call.return_string(&call.with_this(own)?)
}

fn compare_microtimes(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(2, 2)?;
    let (m1, m2) = (call.float(1)?, call.float(2)?);
    let is_equal = match m2 == 0.0 {
        true => m1.abs() < MICROTIME_DELTA,
        false => ((m1 - m2) / m2).abs() < MICROTIME_DELTA,
    };
    call.return_value(match is_equal {
        true => 0i64,
        false if m1 > m2 => 1,
        false => -1,
    })
}
