//! `TokenBucket\statistics()` and `TokenBucket\reset_statistics()`.

use super::engine::call::{Call, handler};
use super::engine::declare::{Method, Parameter, Type, function, optional};
use super::engine::exceptions::Thrown;
use super::engine::php_array::PhpArray;
use super::globals::GLOBALS;
use crate::limiter::{CallsOfMinute, LimitName, LimitStatistics, Outcome};

/// The most identifiers of a limit that are listed.
const MAX_DENIED: usize = 16;

pub const STATISTICS: Method =
    function(c"TokenBucket\\statistics", handler!(statistics), &[PREFIX], Type::ARRAY);
pub const RESET_STATISTICS: Method =
    function(c"TokenBucket\\reset_statistics", handler!(reset_statistics), &[PREFIX], Type::VOID);

const PREFIX: Parameter = optional(c"prefix", Type::STRING.or_null(), c"null");

/// What was counted of a limit, with its name.
type Counted = (LimitName, LimitStatistics);

/// The key of the limits that have no record of their own. As the name of a limit it can only stand
/// for identifiers that begin with it.
pub const OTHERS: &[u8] = b"*";

/// The argument that asks for all prefixes.
const ALL: &[u8] = b"*";

fn statistics(call: &Call) -> Result<(), Thrown> {
    let wanted = wanted_prefix(call)?;
    let globals = GLOBALS.get();
    let track = globals.settings().track_identifiers;
    let snapshot = globals.statistics().snapshot();
    let counts = match wanted {
        Some(wanted) => of_prefix(&snapshot, &wanted, track),
        None => by_prefix(&snapshot, track),
    };
    call.return_value(counts)
}

fn reset_statistics(call: &Call) -> Result<(), Thrown> {
    let wanted = wanted_prefix(call)?;
    GLOBALS.get().statistics().reset(|name| match &wanted {
        Some(wanted) => name.prefix() == Some(wanted),
        None => true,
    });
    Ok(())
}

/// The prefix that a call is about: its argument, or the directive's. None: all, which `*` asks for.
fn wanted_prefix(call: &Call) -> Result<Option<Vec<u8>>, Thrown> {
    call.expect_arguments(0, 1)?;
    Ok(match call.string_or_null(1)? {
        Some(prefix) if prefix.as_bytes() == ALL => None,
        Some(prefix) => Some(prefix.as_bytes().to_vec()),
        None => Some(GLOBALS.get().settings().prefix.clone()),
    })
}

/// Makes an array of the counts of the limits below a prefix, and of those without a record of their own.
pub fn of_prefix(snapshot: &[Counted], wanted: &[u8], track: bool) -> PhpArray {
    table(below_prefix(snapshot, wanted), track)
}

/// The limits below a prefix, and those without a record of their own.
fn below_prefix<'a>(
    snapshot: &'a [Counted],
    wanted: &'a [u8],
) -> impl Iterator<Item = &'a Counted> {
    let is_wanted = move |name: &LimitName| name.prefix().is_none_or(|prefix| prefix == wanted);
    snapshot.iter().filter(move |(name, _)| is_wanted(name))
}

/// Makes an array of the calls and denials of each minute of the last hour, of the limits below a prefix.
pub fn last_hour_of_prefix(snapshot: &[Counted], wanted: &[u8]) -> PhpArray {
    let mut all = PhpArray::new();
    for (name, limit) in below_prefix(snapshot, wanted) {
        all.put(name.name().unwrap_or(OTHERS), last_hour(limit));
    }
    all
}

/// Makes an array with a table for each prefix. The limits without a record are in the table of `*`.
fn by_prefix(snapshot: &[Counted], track: bool) -> PhpArray {
    let mut all = PhpArray::new();
    for limits in snapshot.chunk_by(|(a, _), (b, _)| a.prefix() == b.prefix()) {
        let prefix_of = |name: &LimitName| name.prefix().unwrap_or(OTHERS).to_vec();
        let Some(prefix) = limits.first().map(|(name, _)| prefix_of(name)) else { continue };
        // Over the whole snapshot: a prefix may itself be `*`.
        let same = snapshot.iter().filter(|(name, _)| prefix_of(name) == prefix);
        all.put(&prefix, table(same, track));
    }
    all
}

/// Makes an array of the counts of limits, by their names.
fn table<'a>(limits: impl Iterator<Item = &'a Counted>, track: bool) -> PhpArray {
    let mut table = PhpArray::new();
    for (name, limit) in limits {
        table.put(name.name().unwrap_or(OTHERS), row(limit, track));
    }
    table
}

/// The minutes of one limit, the oldest first. The last one is not over.
fn last_hour(limit: &LimitStatistics) -> PhpArray {
    let list = |count: fn(&CallsOfMinute) -> u64| -> PhpArray {
        limit.minutes.iter().map(|minute| counted(count(minute))).collect()
    };
    let mut last_hour = PhpArray::new();
    last_hour.put(b"calls", list(|minute| minute.calls));
    last_hour.put(b"denied", list(|minute| minute.denied));
    last_hour.put(b"would_deny", list(|minute| minute.would_deny));
    last_hour
}

/// A count for PHP. No host counts so far: in a garbled file it may be anything, and sums must not become floats.
pub fn counted(count: u64) -> i64 {
    const MOST: u64 = 1 << 50;
    count.min(MOST) as i64
}

/// Makes an array of the counts of one limit. A call that a dry run denied counts as accepted.
fn row(limit: &LimitStatistics, track: bool) -> PhpArray {
    let count = |outcome: Outcome| limit.outcomes.get(outcome as usize).map_or(0, |n| counted(*n));
    let (accepted, denied, would_deny) =
        (count(Outcome::Accepted), count(Outcome::Denied), count(Outcome::DryRunDenied));
    let mut row = PhpArray::new();
    for (name, count) in [
        (&b"checked"[..], accepted + denied + would_deny),
        (b"accepted", accepted + would_deny),
        (b"denied", denied),
        (b"would_deny", would_deny),
        (b"errors", count(Outcome::Failed)),
        (b"busy", count(Outcome::Busy)),
        (b"degraded", count(Outcome::Degraded)),
        (b"evictions", count(Outcome::Evicted)),
        (b"exempt", count(Outcome::Exempt)),
    ] {
        row.put(name, count);
    }
    let mut most_denied = PhpArray::new();
    for (identifier, count) in limit.denied.iter().filter(|_| track).take(MAX_DENIED) {
        most_denied.put(identifier, counted(*count));
    }
    row.put(b"most_denied", most_denied);
    row
}
