//! `TokenBucket\denials()`.

use super::engine::call::{Call, handler, string};
use super::engine::declare::{Method, Type, function, optional};
use super::engine::exceptions::Thrown;
use super::engine::php_array::PhpArray;
use super::globals::GLOBALS;
use super::limits_in_force::look_at_limits_file;
use super::statistics::{OTHERS, counted};
use crate::address::Network;
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
    let settings = globals.settings();
    let denials = globals.statistics().denials();
    let of_prefix = denials.iter().filter(|denial| {
        denial.limit.prefix().is_none_or(|of_limit| of_limit == settings.prefix)
            && is_wanted(denial)
    });
    of_prefix.take(most).map(|denial| row(denial, settings.track_identifiers)).collect()
}

fn name_of(denial: &LoggedDenial) -> &[u8] {
    denial.limit.name().unwrap_or(OTHERS)
}

/// Whether a denial is of this client: the identifier, or the part of it behind the limit's name, or behind that of the limit whose
/// buckets it has, is the client or begins with it.
fn is_of_client(denial: &LoggedDenial, client: &[u8], loaded: Option<&NamedLimits>) -> bool {
    let identifier = denial.identifier.as_slice();
    let is_cut = identifier.len() == LONGEST_IDENTIFIER;
    let behind = |name: &[u8]| identifier.strip_prefix(name)?.strip_prefix(b":");
    let named = || {
        let LimitName::Known(_, name) = &denial.limit else { return false };
        let like = loaded.and_then(|loaded| loaded.find(name));
        let key = like.map_or(name.as_slice(), |named| named.key.as_bytes());
        let mut texts = [name, key].into_iter().filter_map(behind);
        texts.any(|text| begins_with_client(text, client, is_cut))
    };
    begins_with_client(identifier, client, is_cut) || named()
}

/// Whether a text is the client, or begins with it and goes on at a space or a colon. A text that `is_cut` may be the beginning of
/// the client.
fn begins_with_client(text: &[u8], client: &[u8], is_cut: bool) -> bool {
    let Some(rest) = text.strip_prefix(client) else {
        return is_cut && client.starts_with(text);
    };
    match rest.first() {
        None | Some(b' ') => true,
        // The colons of an IPv6 address or network end no client: 2001:db8::1 is another one than 2001:db8::1:5.
        Some(b':') => {
            Network::parse(text.split(|byte| *byte == b' ').next().unwrap_or(text)).is_none()
        }
        Some(_) => false,
    }
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
    row.put("count", counted(denial.count));
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
