//! `TokenBucket\client_terms()`: what the operator's file says of one client.

use super::engine::call::{Call, handler, string};
use super::engine::declare::{Method, Type, function, required};
use super::engine::exceptions::{Thrown, value_error};
use super::engine::php_array::PhpArray;
use super::globals::GLOBALS;
use super::named_limiter::{CLIENT, find, limits_in_force};
use crate::dsn::printable_path;
use crate::limiter::{Rule, Terms};

pub const CLIENT_TERMS: Method = function(
    c"TokenBucket\\client_terms",
    handler!(client_terms),
    &[required(c"name", Type::STRING), required(c"client", Type::STRING)],
    Type::ARRAY.or_null(),
);

fn client_terms(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(2, 2)?;
    let (name, client) = (call.string(1)?, call.string(CLIENT)?);
    let limits = limits_in_force()?;
    let named = find(&limits, name)?;
    if let Rule::All(members) | Rule::First(members) = &named.rule {
        let (set, members) = (&named.name, members.join(" or "));
        return Err(value_error(
            1,
            format!("must be a single limit; {set} is a set: ask for {members}"),
        ));
    }
    let Some(exception) = named.exception(client.as_bytes()) else { return call.return_value(()) };
    let path = exception.file.as_ref().map(|file| file.path.clone());
    let path = path.unwrap_or_else(|| printable_path(&GLOBALS.get().settings().limits));
    let mut array = PhpArray::new();
    array.put("file", string(path.as_bytes()));
    array.put("line", u64::from(exception.said.line));
    array.put("exempt", exception.said.terms == Terms::Exempt);
    let (count, interval) = match exception.said.terms {
        Terms::Exempt => (None, None),
        Terms::Numbers { count, interval } => (Some(count), interval),
    };
    array.put("limit", count);
    array.put("interval", interval);
    call.return_value(array)
}
