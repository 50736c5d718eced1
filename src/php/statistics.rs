//! `TokenBucket\statistics()`.

use super::call::{self, Call};
use super::exceptions::Thrown;
use super::globals::GLOBALS;
use crate::store::shm::counts::{Outcome, Told};
use ext_php_rs::builders::FunctionBuilder;
use ext_php_rs::flags::DataType;
use ext_php_rs::types::Zval;
use ext_php_rs::zend::ExecuteData;
use std::ffi::c_char;
use std::mem::ManuallyDrop;

/// The function, as the module declares it.
pub fn function() -> FunctionBuilder<'static> {
    FunctionBuilder::new("TokenBucket\\statistics", handler).returns(DataType::Array, false, false)
}

extern "C" fn handler(frame: &mut ExecuteData, result: &mut Zval) {
    call::run(frame, result, statistics);
}

/// What stands for the limits that have no place of their own. Not a name that one can have by its
/// identifier, unless it is called so.
const OTHERS: &[u8] = b"*";

fn statistics(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 0)?;
    let globals = GLOBALS.get();
    let track = globals.directives.track_identifiers.get();
    let mut limits = Zval::new_array();
    for (name, told) in globals.statistics().told() {
        put(&mut limits, name.as_deref().unwrap_or(OTHERS), row(&told, track));
    }
    call.return_value(limits)
}

/// What is told of one limit. A denial that was not enforced is one that was let in.
fn row(told: &Told, track: bool) -> Zval {
    // Never wraps in the life of a host.
    let of = |outcome: Outcome| told.outcomes.get(outcome as usize).map_or(0, |n| *n as i64);
    let (accepted, denied, let_in) =
        (of(Outcome::Accepted), of(Outcome::Denied), of(Outcome::LetIn));
    let mut row = Zval::new_array();
    for (name, count) in [
        (&b"checked"[..], accepted + denied + let_in),
        (b"accepted", accepted + let_in),
        (b"denied", denied),
        (b"would_deny", let_in),
        (b"errors", of(Outcome::Failed)),
        (b"degraded", of(Outcome::Degraded)),
        (b"evictions", of(Outcome::Evicted)),
    ] {
        put(&mut row, name, int(count));
    }
    let mut most = Zval::new_array();
    for (identifier, count) in told.denied.iter().filter(|_| track) {
        put(&mut most, identifier, int(i64::from(*count)));
    }
    put(&mut row, b"most_denied", most);
    row
}

fn int(value: i64) -> Zval {
    let mut result = Zval::new();
    result.set_long(value);
    result
}

/// Puts a value into an array, under a key as a script would write it: `"12"` is 12.
fn put(array: &mut Zval, key: &[u8], value: Zval) {
    unsafe extern "C" {
        // Its header is not among those that ext-php-rs binds.
        fn add_assoc_zval_ex(array: *mut Zval, key: *const c_char, length: usize, value: *mut Zval);
    }
    // The engine looks at what stands behind a key, as behind every string of C's.
    let ended = [key, b"\0"].concat();
    // The array owns the value from here on.
    let mut value = ManuallyDrop::new(value);
    // SAFETY: an array that nobody else has; the engine copies the key and takes the value.
    unsafe { add_assoc_zval_ex(array, ended.as_ptr().cast(), key.len(), &raw mut *value) };
}
