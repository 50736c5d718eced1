//! What stands behind the question mark.

use super::{
    Address, MAX_PREFIX, MAX_TIMEOUT_MS, Mysql, OnError, Options, Redis, Secret, Target, Tls,
    Topology, sanitize, timeout_ms,
};
use crate::error::{Error, Result};
use percent_encoding::percent_decode_str;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// Reads the parameters: those of every store, and into `target` those of its own.
pub fn parse(query: &str, target: &mut Target) -> Result<Options> {
    let mut options = Options::default();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value: Vec<u8> = percent_decode_str(value).collect();
        if !of_all(name, &value, &mut options)? && !of_target(name, value, target)? {
            return Err(unknown(name, query, target));
        }
    }
    let tls = match target {
        Target::Redis(Redis { tls, .. }) | Target::Mysql(Mysql { tls, .. }) => tls.as_ref(),
        _ => None,
    };
    if let Some(Tls { cert, key, .. }) = tls
        && cert.is_some() != key.is_some()
    {
        return Err(Error::configuration(
            "DSN parameters \"cert\" and \"key\" must be given together",
        ));
    }
    if let Target::Mysql(Mysql { database, address, .. }) = target
        && database.is_empty()
    {
        return Err(Error::configuration(match address {
            Address::Tcp { .. } => "The storage DSN must name a database: mysql://host/database",
            Address::Unix(_) => "The storage DSN must name a database: \"?db=database\"",
        }));
    }
    Ok(options)
}

fn of_all(name: &str, value: &[u8], options: &mut Options) -> Result<bool> {
    match name {
        "prefix" => match value.len() <= MAX_PREFIX {
            true => options.prefix = Some(value.to_vec()),
            false => return Err(must_be(name, &format!("at most {MAX_PREFIX} bytes"))),
        },
        "on_error" => match OnError::named(value) {
            None => return Err(must_be(name, OnError::VALUES)),
            policy => options.on_error = policy,
        },
        "enforce" => match value {
            b"0" => options.enforce = Some(false),
            b"1" => options.enforce = Some(true),
            _ => return Err(must_be(name, "0 or 1")),
        },
        "timeout_ms" => options.timeout = Some(milliseconds(name, value)?),
        "connect_timeout_ms" => options.connect_timeout = Some(milliseconds(name, value)?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn of_target(name: &str, value: Vec<u8>, target: &mut Target) -> Result<bool> {
    match target {
        Target::Redis(redis) => of_redis(name, value, redis),
        Target::Mysql(mysql) => of_mysql(name, value, mysql),
        _ => Ok(false),
    }
}

fn of_mysql(name: &str, value: Vec<u8>, mysql: &mut Mysql) -> Result<bool> {
    // Any of these asks for encryption, which a socket of this host has no use for.
    let tls = |mysql: &mut Mysql| mysql.tls.take().unwrap_or_default();
    let over_tcp = matches!(mysql.address, Address::Tcp { .. });
    match name {
        "table" => match is_name(&value) {
            true => mysql.table = String::from_utf8_lossy(&value).into_owned(),
            false => return Err(must_be(name, "1 to 64 letters, digits, \"_\" or \"$\"")),
        },
        "db" if !over_tcp => mysql.database = String::from_utf8_lossy(&value).into_owned(),
        "tls" if over_tcp => match value.as_slice() {
            b"1" => mysql.tls = Some(tls(mysql)),
            _ => return Err(must_be(name, "1")),
        },
        "ca" if over_tcp => mysql.tls = Some(Tls { ca: Some(file(name, value)?), ..tls(mysql) }),
        "cert" if over_tcp => {
            mysql.tls = Some(Tls { cert: Some(file(name, value)?), ..tls(mysql) });
        }
        "key" if over_tcp => mysql.tls = Some(Tls { key: Some(file(name, value)?), ..tls(mysql) }),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Whether it is a table's name that needs no thought in any statement.
fn is_name(value: &[u8]) -> bool {
    (1..=64).contains(&value.len())
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'))
}

fn of_redis(name: &str, value: Vec<u8>, redis: &mut Redis) -> Result<bool> {
    match (name, &mut redis.tls, &mut redis.topology) {
        ("ca", Some(tls), _) => tls.ca = Some(file(name, value)?),
        ("cert", Some(tls), _) => tls.cert = Some(file(name, value)?),
        ("key", Some(tls), _) => tls.key = Some(file(name, value)?),
        ("db", _, Topology::Single(_)) => {
            redis.database = std::str::from_utf8(&value)
                .ok()
                .and_then(|text| text.parse().ok())
                .ok_or_else(|| must_be(name, "a database's number"))?;
        }
        ("sentinel_password", _, Topology::Sentinel { password, .. }) => {
            *password = Some(Secret(String::from_utf8_lossy(&value).into_owned()));
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Whether a password has been read among the parameters.
fn has_password(target: &Target) -> bool {
    let Target::Redis(Redis { topology, .. }) = target else { return false };
    matches!(topology, Topology::Sentinel { password: Some(_), .. })
}

fn milliseconds(name: &str, value: &[u8]) -> Result<std::time::Duration> {
    timeout_ms(value)
        .ok_or_else(|| must_be(name, &format!("milliseconds between 1 and {MAX_TIMEOUT_MS}")))
}

fn file(name: &str, value: Vec<u8>) -> Result<PathBuf> {
    let path = PathBuf::from(OsString::from_vec(value));
    match path.is_absolute() {
        true => Ok(path),
        false => Err(must_be(name, "the absolute path of a PEM file")),
    }
}

fn must_be(name: &str, what: &str) -> Error {
    Error::configuration(format!("DSN parameter \"{name}\" must be {what}"))
}

fn unknown(name: &str, query: &str, target: &Target) -> Error {
    let mut known = "prefix, on_error, enforce, timeout_ms, connect_timeout_ms".to_owned();
    if let Target::Redis(redis) = target {
        known += match redis.topology {
            Topology::Single(_) => ", db",
            Topology::Cluster(_) => "",
            Topology::Sentinel { .. } => ", sentinel_password",
        };
        known += if redis.tls.is_some() { ", ca, cert, key" } else { "" };
    }
    if let Target::Mysql(mysql) = target {
        known += match mysql.address {
            Address::Tcp { .. } => ", table, tls, ca, cert, key",
            Address::Unix(_) => ", db, table",
        };
    }
    // What does not look like a name may be the rest of a password, and so may what stands before
    // an "@" or behind a password.
    let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let name = match is_name && !query.contains('@') && !has_password(target) {
        true => format!(" \"{}\"", sanitize(name)),
        false => String::new(),
    };
    Error::configuration(format!("Unknown parameter{name} in the storage DSN, known are: {known}"))
}
