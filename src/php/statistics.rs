//! `TokenBucket\statistics()`.

use super::call::{self, Call};
use super::exceptions::Thrown;
use super::globals::GLOBALS;
use crate::limiter::{LimitName, LimitStatistics, Outcome};
use ext_php_rs::args::Arg;
use ext_php_rs::builders::FunctionBuilder;
use ext_php_rs::flags::DataType;
use ext_php_rs::types::Zval;
use ext_php_rs::zend::ExecuteData;
use std::ffi::c_char;
use std::mem::ManuallyDrop;

/// Declares the function.
pub fn function() -> FunctionBuilder<'static> {
    FunctionBuilder::new("TokenBucket\\statistics", handler)
        .not_required()
        .arg(Arg::new("prefix", DataType::String).allow_null().default("UNKNOWN"))
        .returns(DataType::Array, false, false)
}

extern "C" fn handler(frame: &mut ExecuteData, result: &mut Zval) {
    call::run(frame, result, statistics);
}

/// The key of the limits that have no record of their own. As the name of a limit it can only stand
/// for identifiers that begin with it.
const OTHERS: &[u8] = b"*";

fn statistics(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 1)?;
    let globals = GLOBALS.get();
    let track = globals.directives.track_identifiers.get();
    let wanted = match call.string_or_null(1)? {
        Some(prefix) => Some(prefix.as_bytes().to_vec()),
        None if call.is_passed(1) => None,
        None => Some(globals.directives.prefix.get()),
    };
    let snapshot = globals.statistics().snapshot();
    call.return_value(match wanted {
        Some(wanted) => {
            let is_wanted = |name: &LimitName| name.prefix().is_none_or(|prefix| prefix == wanted);
            table(snapshot.iter().filter(|(name, _)| is_wanted(name)), track)
        }
        None => by_prefix(&snapshot, track),
    })
}

/// Makes an array with a table for each prefix. The limits without a record are in the table of `*`.
fn by_prefix(snapshot: &[(LimitName, LimitStatistics)], track: bool) -> Zval {
    let mut all = Zval::new_array();
    for limits in snapshot.chunk_by(|(a, _), (b, _)| a.prefix() == b.prefix()) {
        let prefix_of = |name: &LimitName| name.prefix().unwrap_or(OTHERS).to_vec();
        let Some(prefix) = limits.first().map(|(name, _)| prefix_of(name)) else { continue };
        // Over the whole snapshot: a prefix may itself be `*`.
        let same = snapshot.iter().filter(|(name, _)| prefix_of(name) == prefix);
        put(&mut all, &prefix, table(same, track));
    }
    all
}

/// Makes an array of the counts of limits, by their names.
fn table<'a>(limits: impl Iterator<Item = &'a (LimitName, LimitStatistics)>, track: bool) -> Zval {
    let mut table = Zval::new_array();
    for (name, limit) in limits {
        put(&mut table, name.name().unwrap_or(OTHERS), row(limit, track));
    }
    table
}

/// Makes an array of the counts of one limit. A call that a dry run denied counts as accepted.
fn row(limit: &LimitStatistics, track: bool) -> Zval {
    // Never wraps: no host makes 2^63 calls.
    let count = |outcome: Outcome| limit.outcomes.get(outcome as usize).map_or(0, |n| *n as i64);
    let (accepted, denied, would_deny) =
        (count(Outcome::Accepted), count(Outcome::Denied), count(Outcome::DryRunDenied));
    let mut row = Zval::new_array();
    for (name, count) in [
        (&b"checked"[..], accepted + denied + would_deny),
        (b"accepted", accepted + would_deny),
        (b"denied", denied),
        (b"would_deny", would_deny),
        (b"errors", count(Outcome::Failed)),
        (b"degraded", count(Outcome::Degraded)),
        (b"evictions", count(Outcome::Evicted)),
    ] {
        put(&mut row, name, int(count));
    }
    let mut most_denied = Zval::new_array();
    for (identifier, count) in limit.denied.iter().filter(|_| track) {
        put(&mut most_denied, identifier, int(i64::from(*count)));
    }
    put(&mut row, b"most_denied", most_denied);
    row
}

fn int(value: i64) -> Zval {
    let mut result = Zval::new();
    result.set_long(value);
    result
}

/// Puts a value into an array. As in a script, a key of digits becomes an int: `"12"` is 12.
fn put(array: &mut Zval, key: &[u8], value: Zval) {
    unsafe extern "C" {
        // ext-php-rs does not bind its header.
        fn add_assoc_zval_ex(array: *mut Zval, key: *const c_char, length: usize, value: *mut Zval);
    }
    // The engine reads the NUL byte after a key, as in every C string.
    let ended = [key, b"\0"].concat();
    // The array takes ownership of the value.
    let mut value = ManuallyDrop::new(value);
    // SAFETY: an array with one reference; the engine copies the key and takes the value.
    unsafe { add_assoc_zval_ex(array, ended.as_ptr().cast(), key.len(), &raw mut *value) };
}
