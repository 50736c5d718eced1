//! The parameters of a DSN: what follows the question mark.

use super::options::{DsnOverrides, MAX_LEASE, MAX_PREFIX, OnError, parse_lease};
use super::parameter::{DsnParameter, must_be};
use super::sanitize::sanitize;
use super::schemes::Target;
use super::servers::{RedisTarget, Topology};
use crate::error::{Error, Result};

/// The parameters that every store has.
const COMMON: [&str; 6] =
    ["prefix", "on_error", "enforce", "lease", "timeout_ms", "connect_timeout_ms"];

/// Parses the parameters of every store into [`DsnOverrides`], and those of one store into `target`.
pub fn parse(query: &str, target: &mut Target) -> Result<DsnOverrides> {
    let mut options = DsnOverrides::default();
    let mut names = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let parameter = DsnParameter::parse(pair);
        let name = parameter.name;
        if COMMON.contains(&parameter.name) {
            set_option(&mut options, parameter)?;
        } else if target.parameter_names().contains(&parameter.name) {
            target.set_parameter(&parameter)?;
        } else {
            return Err(unknown(name, query, target));
        }
        if names.contains(&name) {
            return Err(Error::configuration(format!("DSN parameter \"{name}\" is given twice")));
        }
        names.push(name);
    }
    target.check_parameters()?;
    Ok(options)
}

fn set_option(options: &mut DsnOverrides, parameter: DsnParameter<'_>) -> Result<()> {
    let DsnParameter { name, ref value } = parameter;
    match name {
        "prefix" if value.len() > MAX_PREFIX => {
            return Err(must_be(name, &format!("at most {MAX_PREFIX} bytes")));
        }
        "prefix" => options.prefix = Some(parameter.value),
        "on_error" => match OnError::from_name(value) {
            None => return Err(must_be(name, OnError::VALUES)),
            policy => options.on_error = policy,
        },
        "enforce" => match value.as_slice() {
            b"0" => options.enforce = Some(false),
            b"1" => options.enforce = Some(true),
            _ => return Err(must_be(name, "0 or 1")),
        },
        "lease" => match parse_lease(value) {
            None => return Err(must_be(name, &format!("between 0 and {MAX_LEASE}"))),
            lease => options.lease = lease,
        },
        "timeout_ms" => options.timeout = Some(parameter.timeout()?),
        _ => options.connect_timeout = Some(parameter.timeout()?),
    }
    Ok(())
}

/// Whether one of the parameters was a password.
fn has_password(target: &Target) -> bool {
    let Target::Redis(RedisTarget { topology, .. }) = target else { return false };
    matches!(topology, Topology::Sentinel { password: Some(_), .. })
}

fn unknown(name: &str, query: &str, target: &Target) -> Error {
    let known = [COMMON.as_slice(), target.parameter_names()].concat().join(", ");
    // Text that does not look like a name may be the rest of a password, and so may text before an "@" or
    // after a password.
    let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let name = match is_name && !query.contains('@') && !has_password(target) {
        true => format!(" \"{}\"", sanitize(name)),
        false => String::new(),
    };
    Error::configuration(format!("Unknown parameter{name} in the storage DSN, known are: {known}"))
}
