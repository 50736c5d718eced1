//! `TokenBucket\status()`, `TokenBucket\prometheus()` and `TokenBucket\forget_server()`.

use super::default_storage;
use super::denials::{MOST_IN_STATUS, of_current_prefix};
use super::engine::call::{Call, handler, string};
use super::engine::declare::{Method, Type, function, required};
use super::engine::exceptions::Thrown;
use super::engine::php_array::PhpArray;
use super::events::log_event;
use super::globals::GLOBALS;
use super::ini;
use super::limits_in_force::look_at_limits_file;
use super::named_limiter::one_limit;
use super::statistics::{counted, last_hour_of_prefix, of_prefix};
use crate::clock::now;
use crate::dsn::Dsn;
use crate::limit::{Decision, Limit, Op, SECOND};
use crate::limiter::{
    CALENDAR, CONCURRENCY, CallContext, ClientRule, FileSettings, LONGEST_IDENTIFIER, LimitName,
    LimitStatistics, Limiter, ListedBlock, NamedLimit, NamedLimits, Report, Rule, ServerStatus,
    Status, TableStatus, describe_likely_proxy, forget_server as forget_server_in, prometheus,
    unix_time,
};
use ext_php_rs::zend::ExecutorGlobals;
use std::cell::Cell;
use std::rc::Rc;

pub const STATUS: Method =
    function(c"TokenBucket\\status", handler!(return_status), &[], Type::ARRAY);
pub const PROMETHEUS: Method =
    function(c"TokenBucket\\prometheus", handler!(return_prometheus), &[], Type::STRING);
pub const FORGET_SERVER: Method = function(
    c"TokenBucket\\forget_server",
    handler!(forget_server),
    &[required(c"server", Type::STRING)],
    Type::BOOL,
);

fn forget_server(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(1, 1)?;
    let name = String::from_utf8_lossy(call.string(1)?.as_bytes()).into_owned();
    let files = FileSettings::from(&*GLOBALS.get().settings());
    call.return_bool(forget_server_in(&files, &name))
}

fn return_prometheus(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    let loaded = look_at_limits_file()?;
    call.return_string(prometheus(&collect(loaded.as_deref())).as_bytes())
}

fn collect(loaded: Option<&NamedLimits>) -> Status {
    let globals = GLOBALS.get();
    let settings = globals.settings();
    let is_file_named = !settings.limits.as_os_str().is_empty();
    let is_file_valid = is_file_named.then(|| globals.limits_file.error().is_none());
    let files = FileSettings::from(&*settings);
    let named = loaded.iter().flat_map(|loaded| loaded.iter());
    let configured = globals.configured_limiters(named);
    let hosts = configured.iter().filter_map(|limiter| limiter.host());
    let errors = configured.iter().filter_map(|limiter| limiter.check_memory().err());
    Status::collect(&globals.statistics(), &files, hosts, errors, is_file_valid)
}

fn return_status(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    let globals = GLOBALS.get();
    let loaded = look_at_limits_file()?;
    let status = collect(loaded.as_deref());
    let settings = globals.settings();
    let (prefix, track) = (settings.prefix.as_slice(), settings.track_identifiers);
    let mut array = PhpArray::new();
    array.put("version", env!("CARGO_PKG_VERSION"));
    let errors = status.memory_errors.iter().map(String::as_str);
    array.put("shared_memory_errors", errors.collect::<PhpArray>());
    array.put("likely_mistakes", likely_mistakes(&status.limits, prefix, track));
    array.put("limits", of_prefix(&status.limits, prefix, track));
    array.put("last_hour", last_hour_of_prefix(&status.limits, prefix));
    array.put("denials", of_current_prefix(|_| true, MOST_IN_STATUS));
    array.put("blocked", blocked(track));
    array.put("limits_file", limits_file());
    array.put("named_limits", named_limits(loaded, &status, prefix, track)?);
    array.put("tables", status.tables.iter().map(table).collect::<PhpArray>());
    array.put("servers", status.servers.iter().map(server).collect::<PhpArray>());
    array.put("directives", directives());
    call.return_value(array)
}

/// What the counts below a prefix show to be probably wrong, as operators read it.
fn likely_mistakes(
    limits: &[(LimitName, LimitStatistics)],
    prefix: &[u8],
    track: bool,
) -> PhpArray {
    let is_said = track && GLOBALS.get().settings().warn_of_mistakes;
    let own = limits.iter().filter(|(name, _)| is_said && name.prefix() == Some(prefix));
    own.filter_map(|(name, limit)| describe_likely_proxy(name.name()?, limit)).collect()
}

/// What is blocked below the current prefix, the block that ends last first.
fn blocked(track: bool) -> PhpArray {
    let globals = GLOBALS.get();
    let now = now();
    let row = |block: ListedBlock| {
        let is_known = track && !block.identifier.is_empty();
        let mut row = PhpArray::new();
        row.put("name", string(&block.name));
        row.put("identifier", is_known.then(|| string(&block.identifier)));
        row.put("algorithm", block.kind.name());
        row.put("enforced", block.is_enforced);
        row.put("seconds", (block.until - now) as f64 / SECOND as f64);
        row
    };
    globals.statistics().blocks(now).into_iter().map(row).collect()
}

/// The file of `token_bucket.limits`, and what is wrong with it. None if no file is named.
fn limits_file() -> Option<PhpArray> {
    let globals = GLOBALS.get();
    let settings = globals.settings();
    let path = settings.limits.as_os_str();
    let error = globals.limits_file.error();
    (!path.is_empty()).then(|| {
        let mut file = PhpArray::new();
        file.put("path", string(path.as_encoded_bytes()));
        file.put("error", error.as_deref());
        file
    })
}

fn named_limits(
    loaded: Option<Rc<NamedLimits>>,
    status: &Status,
    prefix: &[u8],
    track: bool,
) -> Result<PhpArray, Thrown> {
    let mut array = PhpArray::new();
    for named in loaded.iter().flat_map(|loaded| loaded.iter()) {
        let is_counted_as = |name: &LimitName| {
            name.prefix() == Some(prefix) && name.name() == Some(named.name.as_bytes())
        };
        let counts = status.limits.iter().find(|(name, _)| is_counted_as(name));
        let counts = counts.map(|(_, counts)| counts).filter(|_| track);
        array.put(&named.name, named_limit(named, counts)?);
    }
    Ok(array)
}

fn named_limit(named: &NamedLimit, counts: Option<&LimitStatistics>) -> Result<PhpArray, Thrown> {
    let mut row = PhpArray::new();
    match &named.rule {
        Rule::One { algorithm, count, interval, .. } => {
            row.put("algorithm", algorithm.name());
            row.put("limit", *count);
            row.put("interval", *interval);
        }
        Rule::Calendar { count, unit, timezone } => {
            row.put("algorithm", CALENDAR);
            row.put("limit", *count);
            row.put("unit", unit.name());
            row.put("timezone", timezone.as_str());
        }
        Rule::Concurrency(limit) => {
            row.put("algorithm", CONCURRENCY);
            row.put("limit", u64::from(limit.max()));
            row.put("lifetime", limit.lifetime() as f64 / SECOND as f64);
        }
        Rule::All(members) | Rule::First(members) => {
            let key = if let Rule::All(_) = named.rule { "all" } else { "first" };
            row.put(key, members.iter().map(String::as_str).collect::<PhpArray>());
            return Ok(row);
        }
    }
    row.put("leave", named.leave);
    let exceptions = named.exceptions();
    row.put("except", exceptions.except.as_ref().map(|clients| clients.count() as u64));
    row.put(
        "clients",
        exceptions.clients.as_ref().map(|file| {
            let mut clients = PhpArray::new();
            clients.put("path", file.path.as_str());
            clients.put("count", file.clients.count() as u64);
            clients
        }),
    );
    row.put("storage", named.storage().map(Dsn::redact).as_deref());
    // None while token_bucket.storage is invalid.
    let limiter = GLOBALS.get().limiter_for(named).ok();
    row.put("enforce", limiter.as_ref().map(|limiter| limiter.settings().enforce));
    row.put("on_error", limiter.as_ref().map(|limiter| limiter.settings().on_error.name()));
    if !matches!(named.rule, Rule::Concurrency(_)) {
        // A question to a server for each client would take long.
        let local = limiter.filter(|limiter| !limiter.is_remote());
        let limited = local.map(|limiter| limited_clients(named, counts, &limiter)).transpose()?;
        row.put("limited", limited);
    }
    Ok(row)
}

/// The clients, of those that were denied most, whose next call would be denied, and for how many seconds.
fn limited_clients(
    named: &NamedLimit,
    counts: Option<&LimitStatistics>,
    limiter: &Limiter,
) -> Result<PhpArray, Thrown> {
    let mut clients = PhpArray::new();
    for (identifier, _) in counts.iter().flat_map(|counts| &counts.denied) {
        let client = identifier
            .strip_prefix(named.key.as_bytes())
            .and_then(|rest| rest.strip_prefix(b":"))
            // A longer one is cut: its client is not known.
            .filter(|_| identifier.len() < LONGEST_IDENTIFIER);
        let Some(client) = client else { continue };
        let ClientRule::Limited(rule) = named.rule_for(client) else { continue };
        let (limit, op) = (one_limit(&rule)?.limit, Op::Peek { cost: 1 }.leaving(named.leave));
        let decision = look_at(identifier, limiter, &limit, &op).filter(|look| !look.is_accepted());
        if let Some(decision) = decision {
            clients.put(client, decision.retry_after());
        }
    }
    Ok(clients)
}

fn look_at(identifier: &[u8], limiter: &Limiter, limit: &Limit, peek: &Op) -> Option<Decision> {
    let (key_hash, record) = (Cell::default(), Cell::default());
    let context = CallContext::of_identifier(identifier, &key_hash, &record);
    let Report { answer, event, .. } = limiter.decide(&context, limit, peek);
    log_event(event);
    Some(answer.ok()?.decision)
}

fn table(table: &TableStatus) -> PhpArray {
    let mut row = PhpArray::new();
    row.put("name", table.name.as_str());
    row.put("holds", table.kind.name());
    row.put("path", string(table.path.as_os_str().as_encoded_bytes()));
    row.put("bytes", table.size);
    row.put("slots", table.usage.slots as u64);
    row.put("used", table.usage.used as u64);
    row.put("evictions", counted(table.usage.evictions));
    row.put("denied_newcomers", counted(table.usage.denied_newcomers));
    row
}

fn server(server: &ServerStatus) -> PhpArray {
    let mut row = PhpArray::new();
    row.put("name", server.name.as_str());
    row.put("up", !server.is_down);
    row.put("since", unix_time(server.since));
    row.put("outages", counted(server.outages));
    row.put("last_failure", server.last_failure.as_deref());
    row.put("round_trip", server.round_trip.map(|it| it.as_secs_f64()));
    row.put("clock_behind", server.clock_behind.map(|it| it.as_secs_f64()));
    row
}

/// The values of the directives, without passwords.
fn directives() -> PhpArray {
    let values = ExecutorGlobals::get().ini_values();
    let mut array = PhpArray::new();
    for name in ini::names() {
        let value = values.get(&*name.to_string_lossy()).cloned().flatten().unwrap_or_default();
        let is_dsn = name == default_storage::DIRECTIVE;
        let shown = if is_dsn { Dsn::redact(&value) } else { value };
        array.put(name.to_bytes(), shown.as_str());
    }
    array
}
