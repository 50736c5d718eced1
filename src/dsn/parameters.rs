//! The parameters of a DSN: what follows the question mark.

use super::parameter::{DsnParameter, must_be};
use super::sanitize::sanitize;
use super::schemes::Target;
use super::servers::{RedisTarget, Topology};
use crate::error::{Error, Result};
use crate::settings::{Overrides, Scope, Setting};

/// Parses the parameters that every store has into [`Overrides`], and those of one store into `target`.
pub fn parse(query: &str, target: &mut Target) -> Result<Overrides> {
    let mut overrides = Overrides::default();
    let mut names = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let parameter = DsnParameter::parse(pair);
        let name = parameter.name;
        if let Some(setting) = Setting::find(name, Scope::Dsn) {
            (setting.set)(&mut overrides, &parameter.value).map_err(|what| must_be(name, &what))?;
        } else if target.parameter_names().contains(&name) {
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
    Ok(overrides)
}

/// Whether one of the parameters was a password.
fn has_password(target: &Target) -> bool {
    let Target::Redis(RedisTarget { topology, .. }) = target else { return false };
    matches!(topology, Topology::Sentinel { password: Some(_), .. })
}

fn unknown(name: &str, query: &str, target: &Target) -> Error {
    let common = Setting::in_scope(Scope::Dsn).map(|setting| setting.name);
    let known: Vec<&str> = common.chain(target.parameter_names().iter().copied()).collect();
    let known = known.join(", ");
    // Text that does not look like a name may be the rest of a password, and so may text before an "@" or
    // after a password.
    let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let name = match is_name && !query.contains('@') && !has_password(target) {
        true => format!(" \"{}\"", sanitize(name)),
        false => String::new(),
    };
    Error::configuration(format!("Unknown parameter{name} in the storage DSN, known are: {known}"))
}
