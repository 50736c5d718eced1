//! `TokenBucket\limiter()` and `TokenBucket\concurrency_limit()`.

use super::compound;
use super::concurrency_limit::{self, ConcurrencyLimitObject};
use super::engine::call::{Call, handler};
use super::engine::declare::{Class, Method, Type, function, required};
use super::engine::exceptions::{Thrown, argument_type_error, value_error};
use super::engine::shared_string::SharedString;
use super::first_of;
use super::globals::GLOBALS;
use super::limiter_object::{LimitArguments, LimiterObject};
use super::limiter_set::{LimiterSet, Part, SetKind};
use super::limits_in_force::look_at_file;
use super::storage_argument::{Backend, NamedLimiter};
use super::{calendar, calendar_window, interval_limit, token_bucket};
use crate::dsn::sanitize;
use crate::error::Error;
use crate::identifier::MAX_IDENTIFIER;
use crate::limit::Limit;
use crate::limiter::{Algorithm, NamedLimit, NamedLimits, Rule};
use ext_php_rs::types::{ZendHashTable, ZendStr, Zval};
use std::rc::Rc;

/// The position of `$client`.
pub const CLIENT: u32 = 2;

pub const LIMITER: Method = function(
    c"TokenBucket\\limiter",
    handler!(limiter),
    &[required(c"name", Type::STRING), required(c"client", Type::STRING.or(Type::ARRAY))],
    Type::object(c"TokenBucket\\Limiter"),
);

pub const CONCURRENCY_LIMIT: Method = function(
    c"TokenBucket\\concurrency_limit",
    handler!(concurrency_limit),
    &[required(c"name", Type::STRING), required(c"client", Type::STRING)],
    Type::object(c"TokenBucket\\ConcurrencyLimit"),
);

/// The limits in force.
pub fn limits_in_force() -> Result<Rc<NamedLimits>, Thrown> {
    Ok(look_at_file()??)
}

pub fn find<'a>(limits: &'a NamedLimits, name: &ZendStr) -> Result<&'a NamedLimit, Thrown> {
    limits.find(name.as_bytes()).ok_or_else(|| unknown(limits, name.as_bytes()))
}

fn concurrency_limit(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(2, 2)?;
    let name = call.string(1)?;
    let client = client(call, call.string(CLIENT)?)?;
    let limits = limits_in_force()?;
    let named = find(&limits, name)?;
    let client_rule = named.rule_for(client);
    let Rule::Concurrency(limit) = client_rule.rule() else {
        return Err(of_other_kind(named, "limits calls", "limiter"));
    };
    let (identifier, limiter) = (identifier(named, client)?, GLOBALS.get().limiter_for(named)?);
    let name = call.non_null(1).and_then(SharedString::from_zval);
    let (leave, is_exempt) = (named.leave, client_rule.is_exempt());
    let object = ConcurrencyLimitObject::new(limiter, identifier, *limit, leave, name, is_exempt)?;
    call.return_new(&concurrency_limit::CLASS, object)
}

/// A `ConfigurationException` that names the function for the limit.
#[cold]
fn of_other_kind(named: &NamedLimit, what: &str, function: &str) -> Thrown {
    let name = &named.name;
    Error::configuration(format!(
        "[{name}] in token_bucket.limits {what}: use TokenBucket\\{function}()"
    ))
    .into()
}

fn limiter(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(2, 2)?;
    let name = call.string(1)?;
    let limits = limits_in_force()?;
    let named = find(&limits, name)?;
    let list = call.non_null(CLIENT).and_then(Zval::array);
    match (&named.rule, list) {
        (Rule::Concurrency(_), _) => {
            Err(of_other_kind(named, "limits how many run at once", "concurrency_limit"))
        }
        (Rule::One { .. } | Rule::Calendar { .. }, Some(_)) => Err(argument_type_error(
            CLIENT,
            "must be of type string for a limit of its own, array given",
        )),
        (Rule::One { .. } | Rule::Calendar { .. }, None) => {
            let client = client(call, call.string(CLIENT)?)?;
            let client_rule = named.rule_for(client);
            let identifier = identifier(named, client)?;
            let limiter = GLOBALS.get().limiter_for(named)?;
            let is_exempt = client_rule.is_exempt();
            let backend = match named.leave {
                0 if !is_exempt => Backend::Native(limiter),
                leave => Backend::Named(Box::new(NamedLimiter { limiter, leave, is_exempt })),
            };
            let OneLimit { limit, arguments, class } = one_limit(client_rule.rule())?;
            let name = call.non_null(1).and_then(SharedString::from_zval);
            let object = LimiterObject::new(backend, identifier, limit, arguments, name);
            call.return_new(class, object)
        }
        (Rule::All(members), list) => call.return_new(
            &compound::CLASS,
            limiter_set(call, &limits, SetKind::Compound, members, list)?,
        ),
        (Rule::First(members), list) => call.return_new(
            &first_of::CLASS,
            limiter_set(call, &limits, SetKind::FirstOf, members, list)?,
        ),
    }
}

/// The limiters of a set, for one client or one each.
fn limiter_set(
    call: &Call,
    limits: &NamedLimits,
    kind: SetKind,
    members: &[String],
    list: Option<&ZendHashTable>,
) -> Result<LimiterSet, Thrown> {
    let parts = members.iter().enumerate().map(|(i, member)| {
        let client = match list {
            Some(list) => client_of(list, member, i)?,
            None => client(call, call.string(CLIENT)?)?,
        };
        part(limits, member, client)
    });
    let parts = parts.collect::<Result<Vec<Part>, Thrown>>()?;
    match list {
        Some(list) if list.len() != members.len() => {
            let members = members.join(", ");
            Err(value_error(CLIENT, format!("must have one client for each of {members}")))
        }
        _ => Ok(LimiterSet::new(kind, parts)),
    }
}

/// The string that names the client, for a limit of its own and for all limits of a set.
fn client<'a>(call: &Call, text: &'a ZendStr) -> Result<&'a [u8], Thrown> {
    call.check_identifier(CLIENT, text).map(ZendStr::as_bytes)
}

/// The client of one limit of a set: by the limit's name, or by its place in the set.
fn client_of<'a>(list: &'a ZendHashTable, member: &str, i: usize) -> Result<&'a [u8], Thrown> {
    let value = list.get(member).or_else(|| list.get_index(i64::try_from(i).ok()?));
    let Some(value) = value else {
        return Err(value_error(CLIENT, format!("must have a client for the limit {member}")));
    };
    let text = value.zend_str().map(ZendStr::as_bytes).filter(|text| !text.is_empty());
    text.ok_or_else(|| value_error(CLIENT, format!("must have a string for the limit {member}")))
}

fn part(limits: &NamedLimits, member: &str, client: &[u8]) -> Result<Part, Thrown> {
    let named = limits.find(member.as_bytes()).ok_or(Thrown)?;
    let client_rule = named.rule_for(client);
    let OneLimit { limit, arguments, .. } = one_limit(client_rule.rule())?;
    let (leave, is_exempt) = (named.leave, client_rule.is_exempt());
    let limiter = NamedLimiter { limiter: GLOBALS.get().limiter_for(named)?, leave, is_exempt };
    let name = SharedString::joined([member.as_bytes(), b"", b""]);
    Ok(Part::new(limiter, identifier(named, client)?, name, limit, arguments))
}

/// The identifier of a client under a limit: the name and the client.
fn identifier(named: &NamedLimit, client: &[u8]) -> Result<SharedString, Thrown> {
    let name = named.key.as_bytes();
    if name.len() + 1 + client.len() > MAX_IDENTIFIER {
        let most = MAX_IDENTIFIER - name.len() - 1;
        return Err(value_error(CLIENT, format!("must be at most {most} bytes long")));
    }
    Ok(SharedString::joined([name, b":", client]))
}

/// A limit, with its class, and what the constructor would have been given.
pub struct OneLimit {
    pub limit: Rc<Limit>,
    arguments: LimitArguments,
    class: &'static Class,
}

/// The limit of a rule; only limits of calls stand alone or in a set.
pub fn one_limit(rule: &Rule) -> Result<OneLimit, Thrown> {
    let (limit, arguments, class) = match rule {
        Rule::Calendar { count, unit, timezone } => {
            // The file was read with this time zone, so no argument is wrong.
            let calendar = calendar::find(*unit, timezone, CLIENT)?;
            let limit = Rc::new(calendar_window::limit(*count, &calendar)?);
            let arguments = LimitArguments::Calendar { limit: *count, calendar };
            (limit, arguments, &calendar_window::CLASS)
        }
        Rule::One { algorithm, count, interval, limit } => {
            let of_interval = LimitArguments::Interval { limit: *count, interval: *interval };
            let (arguments, class) = match algorithm {
                Algorithm::TokenBucket => {
                    let rate = *count as f64 / interval;
                    let arguments = LimitArguments::TokenBucket(Some(*count), Some(rate));
                    (arguments, &token_bucket::CLASS)
                }
                Algorithm::LeakyBucket => (of_interval, &interval_limit::LEAKY_BUCKET),
                Algorithm::FixedWindow => (of_interval, &interval_limit::FIXED_WINDOW),
                Algorithm::SlidingWindow => (of_interval, &interval_limit::SLIDING_WINDOW),
            };
            (Rc::clone(limit), arguments, class)
        }
        Rule::Concurrency(_) | Rule::All(_) | Rule::First(_) => return Err(Thrown),
    };
    Ok(OneLimit { limit, arguments, class })
}

/// A `ConfigurationException` that lists the names.
#[cold]
fn unknown(limits: &NamedLimits, name: &[u8]) -> Thrown {
    const MOST: usize = 20;
    let mut names: Vec<&str> = limits.names().take(MOST + 1).collect();
    if names.len() > MOST {
        names.splice(MOST.., ["..."]);
    }
    let known = format!("must be one of {}", names.join(", "));
    let name = sanitize(&String::from_utf8_lossy(name));
    Error::configuration(format!("token_bucket.limits has no limit \"{name}\": {known}")).into()
}
