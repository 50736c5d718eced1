//! Notices a DSN that an ini file has cut: it ends a value without quotes at some characters, and computes with others.

use super::Dsn;
use std::net::Ipv6Addr;

/// What to do about it.
const QUOTE_IT: &str = "an ini file has probably cut it at \";\", \"(\", \"!\", \"?\" or the like: write it in double quotes";

/// Parses a DSN that stands in an ini file.
///
/// # Errors
///
/// A message as [`Dsn::parse`] has it. It begins with what to do if the DSN was probably cut, even if it can be parsed.
pub fn parse_in_ini(dsn: &str) -> Result<Dsn, String> {
    match (Dsn::parse(dsn), is_probably_cut(dsn)) {
        (Ok(parsed), false) => Ok(parsed),
        (Ok(_), true) => Err(QUOTE_IT.to_owned()),
        (Err(error), true) => Err(format!("{QUOTE_IT}. As it is: {error}")),
        (Err(error), false) => Err(error.to_string()),
    }
}

/// Whether it ends in a password or before the value of a parameter, or is a number, as ini files make of `a|b`.
fn is_probably_cut(dsn: &str) -> bool {
    let (location, query) = dsn.split_once('?').unwrap_or((dsn, ""));
    if query.contains('@') {
        // A password that is not percent-encoded, and is whole.
        return false;
    }
    let ends_in_name = !query.is_empty() && !query.ends_with('&') && {
        let last = query.rsplit('&').next().unwrap_or_default();
        !last.contains('=')
    };
    let is_number = !dsn.is_empty() && dsn.bytes().all(|byte| byte.is_ascii_digit());
    ends_in_name || is_number || ends_in_password(location)
}

/// Whether there is a password, or a user without one, and no `@` behind it.
fn ends_in_password(location: &str) -> bool {
    let Some((_, rest)) = location.split_once("://") else { return false };
    let hosts = rest.split('/').next().unwrap_or_default();
    let is_login = |host: &str| match host.split_once(':') {
        Some((name, port)) => {
            let is_ipv6 = host.starts_with('[') || host.parse::<Ipv6Addr>().is_ok();
            let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
            !is_ipv6 && (name.is_empty() || !is_port)
        }
        None => false,
    };
    !rest.contains('@') && hosts.split(',').any(is_login)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dsn_that_was_cut_is_to_be_quoted() {
        for cut in [
            "redis://:pa",
            "redis://user:pa",
            "redis://:12",
            "mysql://user:",
            "mysql+unix://user:p4",
            "redis+cluster://u:pa",
            "redis://10.0.0.5?prefix",
            "shm:?prefix=a&lease",
            "0",
            "1",
        ] {
            let error = parse_in_ini(cut).unwrap_err();
            assert!(error.starts_with(QUOTE_IT), "{cut}: {error}");
        }
    }

    #[test]
    fn other_mistakes_are_reported_as_they_are() {
        for whole in [
            "redis://2001:db8::1",
            "redis://[2001:db8::1]:x",
            "redis://h:0",
            "redis://",
            "reddis://h",
            "",
        ]
        .into_iter()
        .chain([
            "redis://a:b@h:x",
            "shm:a/b",
            "shm:?lease=x",
            "redis://:p?q@h?prefix=x",
            "memcached://h1:1,h2:99999",
        ]) {
            assert_eq!(
                parse_in_ini(whole).unwrap_err(),
                Dsn::parse(whole).unwrap_err().to_string()
            );
        }
        for right in [
            "redis://h:6379",
            "redis+cluster://h1:1,h2:2",
            "shm:?prefix=",
            "redis://[::1]",
            "shm:?",
            "shm:",
        ] {
            assert!(parse_in_ini(right).is_ok(), "{right}");
        }
    }
}
