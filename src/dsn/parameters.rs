//! What stands behind the question mark.

use super::{
    MAX_PREFIX, MAX_TIMEOUT_MS, OnError, Options, Redis, Secret, Target, Tls, Topology, printable,
    timeout_ms,
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
            return Err(unknown(name, target));
        }
    }
    if let Target::Redis(Redis { tls: Some(Tls { cert, key, .. }), .. }) = target
        && cert.is_some() != key.is_some()
    {
        return Err(Error::configuration(
            "DSN parameters \"cert\" and \"key\" must be given together",
        ));
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
        "timeout_ms" => options.timeout = Some(milliseconds(name, value)?),
        "connect_timeout_ms" => options.connect_timeout = Some(milliseconds(name, value)?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn of_target(name: &str, value: Vec<u8>, target: &mut Target) -> Result<bool> {
    let Target::Redis(redis) = target else { return Ok(false) };
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

fn unknown(name: &str, target: &Target) -> Error {
    let mut known = "prefix, on_error, timeout_ms, connect_timeout_ms".to_owned();
    if let Target::Redis(redis) = target {
        known += match redis.topology {
            Topology::Single(_) => ", db",
            Topology::Cluster(_) => "",
            Topology::Sentinel { .. } => ", sentinel_password",
        };
        known += if redis.tls.is_some() { ", ca, cert, key" } else { "" };
    }
    // What does not look like a name may be the rest of a password.
    let name = match name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
        true => format!(" \"{}\"", printable(name)),
        false => String::new(),
    };
    Error::configuration(format!("Unknown parameter{name} in the storage DSN, known are: {known}"))
}
