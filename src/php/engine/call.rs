//! A call from PHP: its arguments, `$this` and the value it returns.
//!
//! Arguments are read as a C extension reads them, with the engine's coercion and error texts.
//!
//! Of ext-php-rs the frames (`ExecuteData`) are used, but not `zend::run_handler`: it shows a panic's text to PHP, and its `setjmp` costs 121
//! instructions in a `consume()` of 681. `zend_call_arg` lends a `&mut Zval` for each look at one argument.

use super::argument::Argument;
use super::declare::{Class, Method, PRIVATE, Type, method};
use super::exceptions::{Thrown, error, value_error};
use super::object::{self, Native};
use super::shared_string::SharedString;
use super::versions::SUCCESS;
use crate::identifier::MAX_IDENTIFIER;
use ext_php_rs::convert::IntoZval;
use ext_php_rs::ffi;
use ext_php_rs::flags::FunctionType;
use ext_php_rs::types::{ZendHashTable, ZendStr, Zval};
use ext_php_rs::zend::{ExecuteData, Function};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// The size of a call frame's head in zvals. The arguments follow it.
const FRAME_SLOTS: usize = size_of::<ExecuteData>().div_ceil(size_of::<Zval>());

/// Makes a [`Handler`](super::declare::Handler) of a function that takes a [`Call`].
macro_rules! handler {
    ($function:expr) => {{
        unsafe extern "C" fn handler(
            frame: *mut ::ext_php_rs::zend::ExecuteData,
            result: *mut ::ext_php_rs::types::Zval,
        ) {
            // SAFETY: the engine passes the frame of the call, and a zval for its result.
            unsafe { $crate::php::engine::call::run(frame, result, $function) };
        }
        handler
    }};
}
pub(crate) use handler;

/// A call from PHP.
pub struct Call {
    frame: *mut ExecuteData,
    result: *mut Zval,
}

/// Tells a call that runs, or waits for another, from all others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CallId(*const ExecuteData);

/// A private constructor, for a final class whose objects only this extension makes.
pub const NO_CONSTRUCTOR: Method =
    method(PRIVATE, c"__construct", handler!(do_nothing), &[], Type::NONE);

fn do_nothing(_: &Call) -> Result<(), Thrown> {
    Ok(())
}

/// Runs a method. A panic becomes an `Error`, and the worker goes on.
///
/// # Safety
///
/// `frame` must be the frame of the call that is running, and `result` a zval for what it returns.
#[inline]
pub unsafe fn run(
    frame: *mut ExecuteData,
    result: *mut Zval,
    method: impl FnOnce(&Call) -> Result<(), Thrown>,
) {
    let call = Call { frame, result };
    // Unwind safe: a store changes by single atomic steps, and an object by assignments that cannot panic.
    //
    // A fatal error (the memory limit, a time-out) is a `longjmp` over these frames, from inside an engine's function. Rust promises
    // nothing for that across `catch_unwind`. On the systems that are supported it holds: `longjmp` unwinds nothing there, entering
    // `catch_unwind` writes nothing but the frame itself, and a panic counts when it begins, not where it is caught
    // (`php-tests/02_storages/php_storage_fibers.phpt`, also under valgrind and AddressSanitizer in `make sanitize`). The frames that are
    // skipped own nothing but memory of the request. The engine's own try costs what the head says.
    if catch_unwind(AssertUnwindSafe(|| method(&call))).is_err() {
        error("token_bucket: internal error, please report it");
    }
}

impl Call {
    /// The object that the method was called on.
    #[inline]
    pub fn object(&self) -> *mut ffi::zend_object {
        // SAFETY: the engine calls an instance method with an object in This, and no static method
        // calls this function.
        unsafe { (*self.frame).This.value.obj }
    }

    /// The same as a reference, for what lies in the object beside its value.
    #[inline]
    pub fn this_object(&self) -> &ffi::zend_object {
        // SAFETY: the engine holds the object as long as the call runs.
        unsafe { &*self.object() }
    }

    /// The object that the method was called on, as a value that refers to it.
    pub fn this_value(&self) -> Zval {
        let mut value = Zval::new();
        // SAFETY: the engine holds the object as long as the call runs.
        value.set_object(unsafe { &mut *self.object() });
        value
    }

    /// What tells this call from others as long as it runs.
    pub fn id(&self) -> CallId {
        CallId(self.frame)
    }

    /// The calls that wait for this one, the nearest first. None of another fiber that is suspended.
    pub fn callers(&self) -> impl Iterator<Item = CallId> {
        // SAFETY: that of `is_within`.
        let own = unsafe { &*self.frame };
        std::iter::successors(own.previous(), |frame| frame.previous())
            .map(|frame| CallId(ptr::from_ref(frame)))
    }

    /// Whether this call is made, directly or not, by a call of `method` on `other` which this call's
    /// object itself has made, and not PHP code.
    pub fn is_within(&self, other: &ffi::zend_object, method: *mut ffi::zend_function) -> bool {
        let (own, other) = (self.object().cast_const(), ptr::from_ref(other));
        let this = |frame: &ExecuteData| frame.This.object().map(ptr::from_ref);
        let is_internal = |frame: &ExecuteData| {
            let function_type = frame.function().map(Function::function_type);
            matches!(function_type, Some(Ok(FunctionType::Internal)))
        };
        // SAFETY: the frame of the call that is running. The engine unlinks the callers of a suspended fiber and the
        // frames that a fatal error has ended, so every caller found from here waits for this call.
        let mut frame = unsafe { &*self.frame };
        while let Some(caller) = frame.previous() {
            if frame.func == method
                && this(frame) == Some(other)
                && this(caller) == Some(own)
                && is_internal(caller)
            {
                return true;
            }
            frame = caller;
        }
        false
    }

    /// Makes an object of the class that a static method was called on, without calling its constructor.
    pub fn create_static(&self) -> Result<Zval, Thrown> {
        let mut object = Zval::new();
        // SAFETY: the engine calls a static method with a class in This. On success it writes the object, else it throws.
        let created = unsafe { ffi::object_init_ex(&raw mut object, (*self.frame).This.value.ce) };
        if created == SUCCESS { Ok(object) } else { Err(Thrown) }
    }

    /// Runs `work` on the value of the object that the method was called on.
    ///
    /// `work` must run no PHP code, which may construct the object again: it returns what is to be reported.
    #[inline(always)]
    pub fn try_with_this<T: Native, R>(
        &self,
        work: impl FnOnce(&T) -> Result<R, Thrown>,
    ) -> Result<R, Thrown> {
        // SAFETY: the engine calls a method only on objects of its class, which carry a `T`, and holds them for the
        // call. No PHP code runs while `work` does.
        match unsafe { object::borrow(self.object()) } {
            Some(value) => work(value),
            None => Err(not_initialized()),
        }
    }

    /// Runs `work`, which cannot fail, as [`try_with_this`](Self::try_with_this) does.
    #[inline(always)]
    pub fn with_this<T: Native, R>(&self, work: impl FnOnce(&T) -> R) -> Result<R, Thrown> {
        self.try_with_this(|this| Ok(work(this)))
    }

    /// Runs `work`, which may change the object's value, as [`with_this`](Self::with_this) does.
    pub fn with_this_mut<T: Native, R>(&self, work: impl FnOnce(&mut T) -> R) -> Result<R, Thrown> {
        // SAFETY: that of `try_with_this`; the references of other methods end before PHP code runs, so none is alive.
        match unsafe { object::borrow_mut(self.object()) } {
            Some(value) => Ok(work(value)),
            None => Err(not_initialized()),
        }
    }

    /// Sets the value of the object that is being constructed.
    #[inline]
    pub fn construct<T: Native>(&self, value: T) {
        // SAFETY: the engine calls a constructor only on objects of its class, and a constructor holds no
        // reference into the object.
        unsafe { object::construct(self.object(), value) };
    }

    /// Throws the engine's `ArgumentCountError` if the number of arguments is out of range.
    #[inline]
    pub fn expect_arguments(&self, least: u32, most: u32) -> Result<(), Thrown> {
        let count = self.count();
        if count < least || count > most {
            // SAFETY: throws; reads the current call frame, which is ours.
            unsafe { ffi::zend_wrong_parameters_count_error(least, most) };
            return Err(Thrown);
        }
        Ok(())
    }

    /// Throws the engine's `ArgumentCountError` if a method with a variadic parameter was called with named
    /// arguments: the engine does not count them among the arguments.
    pub fn expect_no_named_arguments(&self) -> Result<(), Thrown> {
        // SAFETY: the engine passes a valid frame, which outlives the call.
        let flags = unsafe { (*self.frame).This.u1.type_info };
        if flags & ffi::ZEND_CALL_HAS_EXTRA_NAMED_PARAMS != 0 {
            // SAFETY: throws; reads the current call frame, which is ours.
            unsafe { ffi::zend_unexpected_extra_named_error() };
            return Err(Thrown);
        }
        Ok(())
    }

    #[inline]
    fn count(&self) -> u32 {
        // SAFETY: the engine passes a valid frame, which outlives the call.
        unsafe { (*self.frame).This.u2.num_args }
    }

    /// The argument `n`, counted from 1, if it was passed.
    #[inline]
    fn argument(&self, n: u32) -> Option<Argument<'_>> {
        if n > self.count() {
            return None;
        }
        // SAFETY: the arguments that were passed follow the frame, one zval each, and live as long.
        Some(unsafe {
            Argument::new(self.frame.cast::<Zval>().add(FRAME_SLOTS + n as usize - 1), n)
        })
    }

    /// The argument `n` if it was passed and is not null.
    #[inline]
    fn non_null_argument(&self, n: u32) -> Option<Argument<'_>> {
        self.argument(n).filter(|argument| !argument.value().is_null())
    }

    /// All arguments.
    pub fn arguments(&self) -> impl Iterator<Item = Argument<'_>> {
        (1..=self.count()).filter_map(|n| self.argument(n))
    }

    /// Whether the argument `n` was passed; null counts.
    pub fn is_passed(&self, n: u32) -> bool {
        self.argument(n).is_some()
    }

    /// The argument `n` without coercion, if it was passed and is not null.
    #[inline]
    pub fn non_null(&self, n: u32) -> Option<&Zval> {
        self.non_null_argument(n).map(Argument::value)
    }

    /// The `int` argument `n`, or the default if it was not passed.
    #[inline]
    pub fn int(&self, n: u32, default: i64) -> Result<i64, Thrown> {
        match self.argument(n) {
            None => Ok(default),
            Some(argument) => argument.int(ffi::_zend_expected_type_Z_EXPECTED_LONG),
        }
    }

    /// The `?int` argument `n`; `None` if it was not passed.
    #[inline]
    pub fn int_or_null(&self, n: u32) -> Result<Option<i64>, Thrown> {
        let argument = self.non_null_argument(n);
        argument.map(|it| it.int(ffi::_zend_expected_type_Z_EXPECTED_LONG_OR_NULL)).transpose()
    }

    /// The required `float` argument `n`.
    #[inline]
    pub fn float(&self, n: u32) -> Result<f64, Thrown> {
        let argument = self.argument(n).ok_or(Thrown)?;
        argument.float(ffi::_zend_expected_type_Z_EXPECTED_DOUBLE)
    }

    /// The `?float` argument `n`; `None` if it was not passed.
    #[inline]
    pub fn float_or_null(&self, n: u32) -> Result<Option<f64>, Thrown> {
        let argument = self.non_null_argument(n);
        argument.map(|it| it.float(ffi::_zend_expected_type_Z_EXPECTED_DOUBLE_OR_NULL)).transpose()
    }

    /// The required `string` argument `n`.
    #[inline]
    pub fn string(&self, n: u32) -> Result<&ZendStr, Thrown> {
        let argument = self.argument(n).ok_or(Thrown)?;
        argument.string(ffi::_zend_expected_type_Z_EXPECTED_STRING)
    }

    /// The bytes of the `string` argument `n`, or the default if it was not passed.
    pub fn string_or<'a>(&'a self, n: u32, default: &'a [u8]) -> Result<&'a [u8], Thrown> {
        match self.is_passed(n) {
            true => self.string(n).map(ZendStr::as_bytes),
            false => Ok(default),
        }
    }

    /// The `?string` argument `n`; `None` if it was not passed.
    #[inline]
    pub fn string_or_null(&self, n: u32) -> Result<Option<&ZendStr>, Thrown> {
        let argument = self.non_null_argument(n);
        argument.map(|it| it.string(ffi::_zend_expected_type_Z_EXPECTED_STRING_OR_NULL)).transpose()
    }

    /// The argument `n` coerced to a string by the engine's rules; `None` if it cannot be.
    pub fn coerced_string(&self, n: u32) -> Option<&ZendStr> {
        self.argument(n)?.coerced_string()
    }

    /// Returns `text`, the argument `n`, or throws a `ValueError` if its length is not an identifier's.
    #[inline]
    pub fn check_identifier<'a>(&self, n: u32, text: &'a ZendStr) -> Result<&'a ZendStr, Thrown> {
        if (1..=MAX_IDENTIFIER).contains(&text.len()) {
            return Ok(text);
        }
        Err(value_error(n, format!("must be between 1 and {MAX_IDENTIFIER} bytes long")))
    }

    /// The required `string` argument `n`, or throws a `ValueError` if its length is not an identifier's.
    #[inline(always)]
    pub fn identifier(&self, n: u32) -> Result<SharedString, Thrown> {
        self.check_identifier(n, self.string(n)?)?;
        self.non_null(n).and_then(SharedString::from_zval).ok_or(Thrown)
    }

    /// The argument `n` as a number of tokens, `absent` if it was not passed; its `TypeError` names the `expected`
    /// type.
    #[inline]
    pub fn token_count_of(&self, n: u32, absent: u64, expected: u32) -> Result<u64, Thrown> {
        let Some(argument) = self.argument(n) else { return Ok(absent) };
        u64::try_from(argument.int(expected)?)
            .map_err(|_| value_error(n, "must be greater than or equal to 0"))
    }

    /// The argument `n` as a number of tokens, 1 if it was not passed.
    #[inline]
    pub fn token_count(&self, n: u32) -> Result<u64, Thrown> {
        self.token_count_of(n, 1, ffi::_zend_expected_type_Z_EXPECTED_LONG)
    }

    /// The required `array` argument `n`.
    pub fn array(&self, n: u32) -> Result<&ZendHashTable, Thrown> {
        let argument = self.argument(n).ok_or(Thrown)?;
        argument.array(ffi::_zend_expected_type_Z_EXPECTED_ARRAY)
    }

    /// Returns a bool to PHP.
    #[inline]
    pub fn return_bool(&self, value: bool) -> Result<(), Thrown> {
        // SAFETY: the engine passes a place for the result, which owns nothing yet.
        unsafe { (*self.result).u1.type_info = if value { ffi::IS_TRUE } else { ffi::IS_FALSE } };
        Ok(())
    }

    /// Returns a new string to PHP.
    pub fn return_string(&self, text: &[u8]) -> Result<(), Thrown> {
        self.return_value(string(text))
    }

    /// Returns a new object to PHP.
    #[inline]
    pub fn return_new<T: Native>(&self, class: &Class, value: T) -> Result<(), Thrown> {
        // SAFETY: the engine passes a place for the result, which owns nothing yet.
        unsafe { self.result.write(object::create_with(class, value)) };
        Ok(())
    }

    /// Returns any value to PHP; `None` is null.
    pub fn return_value(&self, value: impl IntoZval) -> Result<(), Thrown> {
        let value = value.into_zval(false).unwrap_or_default();
        // SAFETY: the engine passes a place for the result, which owns nothing yet.
        unsafe { self.result.write(value) };
        Ok(())
    }
}

#[cold]
fn not_initialized() -> Thrown {
    error(
        "The object is not initialized: a constructor that overrides must call parent::__construct()",
    )
}

/// A new PHP string.
pub fn string(text: &[u8]) -> Zval {
    let mut value = Zval::new();
    value.set_zend_string(ZendStr::new(text, false));
    value
}
