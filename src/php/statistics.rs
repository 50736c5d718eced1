//! `TokenBucket\statistics()`.

use super::call::{self, Call};
use super::exceptions::Thrown;
use super::globals::GLOBALS;
use crate::store::counters::{LimitName, LimitStatistics, Outcome};
use ext_php_rs::args::Arg;
use ext_php_rs::builders::FunctionBuilder;
use ext_php_rs::flags::DataType;
use ext_php_rs::types::Zval;
use ext_php_rs::zend::ExecuteData;
use std::ffi::c_char;
use std::mem::ManuallyDrop;

/// The function, as the module declares it.
pub fn function() -> FunctionBuilder<'static> {
    FunctionBuilder::new("TokenBucket\\statistics", handler)
        .not_required()
        .arg(Arg::new("prefix", DataType::String).allow_null().default("UNKNOWN"))
        .returns(DataType::Array, false, false)
}

extern "C" fn handler(frame: &mut ExecuteData, result: &mut Zval) {
    call::run(frame, result, statistics);
}

/// Stands for all limits that have no record. A limit is called so only if its identifiers are.
const OTHERS: &[u8] = b"*";

fn statistics(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 1)?;
    let globals = GLOBALS.get();
    let track = globals.directives.track_identifiers.get();
    let wanted = match call.string_or_null(1)? {
        Some(prefix) => Some(prefix.as_bytes().to_vec()),
        None if call.is_passed(1) => None,
        None => Some(globals.directives.prefix.borrow().clone()),
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

/// The limits of all prefixes, in a table for each prefix; those that have no record in that of `*`.
fn by_prefix(snapshot: &[(LimitName, LimitStatistics)], track: bool) -> Zval {
    let mut all = Zval::new_array();
    for limits in snapshot.chunk_by(|(a, _), (b, _)| a.prefix() == b.prefix()) {
        let prefix_of = |name: &LimitName| name.prefix().unwrap_or(OTHERS).to_vec();
        let Some(prefix) = limits.first().map(|(name, _)| prefix_of(name)) else { continue };
        // Of a prefix that is called so, too.
        let same = snapshot.iter().filter(|(name, _)| prefix_of(name) == prefix);
        put(&mut all, &prefix, table(same, track));
    }
    all
}

fn table<'a>(limits: impl Iterator<Item = &'a (LimitName, LimitStatistics)>, track: bool) -> Zval {
    let mut table = Zval::new_array();
    for (name, limit) in limits {
        put(&mut table, name.name().unwrap_or(OTHERS), row(limit, track));
    }
    table
}

/// The counts of one limit. A denial that was not enforced counts as accepted.
fn row(limit: &LimitStatistics, track: bool) -> Zval {
    // Never wraps in the life of a host.
    let of = |outcome: Outcome| limit.outcomes.get(outcome as usize).map_or(0, |n| *n as i64);
    let (accepted, denied, let_in) =
        (of(Outcome::Accepted), of(Outcome::Denied), of(Outcome::DryRunDenied));
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
    for (identifier, count) in limit.denied.iter().filter(|_| track) {
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
