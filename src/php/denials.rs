//! `TokenBucket\denials()`.

use super::engine::call::{Call, handler, string};
use super::engine::declare::{Method, Type, function, optional};
use super::engine::exceptions::Thrown;
use super::engine::php_array::PhpArray;
use super::globals::GLOBALS;
use super::named_limiter::look_at_limits_file;
use super::statistics::OTHERS;
use crate::limit::SECOND;
use crate::limiter::{
    DenialReason, DeniedBy, LONGEST_IDENTIFIER, LimitName, LoggedDenial, NamedLimits, unix_time,
};

/// How many denials `status()` has.
pub const MOST_IN_STATUS: usize = 100;

pub const DENIALS: Method = function(
    c"TokenBucket\\denials",
    handler!(return_denials),
    &[
        optional(c"name", Type::STRING.or_null(), c"null"),
        optional(c"client", Type::STRING.or_null(), c"null"),
    ],
    Type::ARRAY,
);

fn return_denials(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 2)?;
    let (name, client) = (call.string_or_null(1)?, call.string_or_null(2)?);
    let name = name.map(|name| name.as_bytes().to_vec());
    let client = client.map(|client| client.as_bytes().to_vec());
    let loaded = look_at_limits_file()?;
    let is_wanted = |denial: &LoggedDenial| {
        name.as_deref().is_none_or(|name| name == name_of(denial))
            && client
                .as_deref()
                .is_none_or(|client| is_of_client(denial, client, loaded.as_deref()))
    };
    call.return_value(of_current_prefix(is_wanted, usize::MAX))
}

/// Makes a list of the denials below the current prefix, the latest first.
pub fn of_current_prefix(is_wanted: impl Fn(&LoggedDenial) -> bool, most: usize) -> PhpArray {
    let globals = GLOBALS.get();
    let (prefix, track) =
        (globals.directives.prefix.get(), globals.directives.track_identifiers.get());
    let denials = globals.statistics().denials();
    let of_prefix = denials.iter().filter(|denial| {
        denial.limit.prefix().is_none_or(|of_limit| of_limit == prefix) && is_wanted(denial)
    });
    of_prefix.take(most).map(|denial| row(denial, track)).collect()
}

fn name_of(denial: &LoggedDenial) -> &[u8] {
    denial.limit.name().unwrap_or(OTHERS)
}

/// Whether a denial is of this client: the identifier, or what stands in it behind the limit's name, or behind that of the limit
/// whose buckets it has.
fn is_of_client(denial: &LoggedDenial, client: &[u8], loaded: Option<&NamedLimits>) -> bool {
    let cut = |text: &[u8]| text.get(..LONGEST_IDENTIFIER).unwrap_or(text) == denial.identifier;
    let named = || {
        let LimitName::Known(_, name) = &denial.limit else { return false };
        let like = loaded.and_then(|loaded| loaded.find(name));
        let key = like.map_or(name.as_slice(), |named| named.key.as_bytes());
        [name, key].iter().any(|name| cut(&[name, b":".as_slice(), client].concat()))
    };
    cut(client) || named()
}

fn row(denial: &LoggedDenial, track: bool) -> PhpArray {
    let cause = &denial.cause;
    let is_known = track && !denial.identifier.is_empty();
    let mut row = PhpArray::new();
    row.put("name", string(name_of(denial)));
    row.put("identifier", is_known.then(|| string(&denial.identifier)));
    row.put("algorithm", cause.kind.name());
    row.put("limit", cause.capacity);
    row.put("interval", (cause.window > 0).then(|| cause.window as f64 / SECOND as f64));
    row.put("reason", reason(cause.reason));
    row.put("decided_by", decider(cause.by));
    row.put("enforced", cause.is_enforced);
    row.put("count", denial.count);
    row.put("first_at", unix_time(denial.first_at));
    row.put("last_at", unix_time(denial.last_at));
    row
}

const fn reason(reason: DenialReason) -> &'static str {
    match reason {
        DenialReason::Empty => "empty",
        DenialReason::Blocked => "blocked",
        DenialReason::NoRoom => "no_room",
        DenialReason::Outage => "outage",
    }
}

const fn decider(by: DeniedBy) -> &'static str {
    match by {
        DeniedBy::Store => "store",
        DeniedBy::DenyCache => "deny_cache",
        DeniedBy::Fallback => "fallback",
        DeniedBy::OnError => "on_error",
    }
}
