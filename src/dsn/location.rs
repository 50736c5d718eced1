//! What stands before the question mark: the scheme and where the servers are.

use super::{Address, Mysql, Redis, Secret, Target, Tls, Topology, sanitize};
use crate::error::{Error, Result};
use percent_encoding::percent_decode_str;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

const SCHEMES: &str = "shm:, array:, redis:, rediss:, redis+unix:, redis+cluster:, \
                       redis+sentinel:, memcached:, memcached+unix:, mysql:, mysql+unix:";
const DEFAULT_NAME: &str = "default";
const REDIS_PORT: u16 = 6379;
const SENTINEL_PORT: u16 = 26379;
const MEMCACHED_PORT: u16 = 11211;
const MYSQL_PORT: u16 = 3306;
const DEFAULT_TABLE: &str = "token_bucket";

/// The store that a DSN's location names.
pub fn parse(location: &str) -> Result<Target> {
    let Some((scheme, rest)) = location.split_once(':') else {
        return Err(Error::configuration(format!(
            "The storage DSN must begin with a scheme, known are {SCHEMES}"
        )));
    };
    match (scheme, rest) {
        ("shm", "") => Ok(Target::SharedMemory { name: DEFAULT_NAME.into() }),
        ("shm", name) if is_table_name(name) => Ok(Target::SharedMemory { name: name.into() }),
        ("shm", name) => Err(Error::configuration(format!(
            "Shared memory name{} must be 1 to 64 letters, digits, \"_\" or \"-\"",
            unless_secret(name)
        ))),
        ("array", "") => Ok(Target::Array),
        ("array", _) => Err(Error::configuration("DSN \"array:\" takes nothing after the colon")),
        ("memcached", rest) => {
            let authority = authority(scheme, rest, "h1[:port],h2[:port]")?;
            if !authority.path.is_empty() || authority.password.is_some() {
                return Err(malformed(scheme, "h1[:port],h2[:port]"));
            }
            Ok(Target::Memcached { servers: addresses(authority.hosts, MEMCACHED_PORT)? })
        }
        ("memcached+unix", rest) => {
            let authority = authority(scheme, rest, "/path/to/socket")?;
            Ok(Target::Memcached { servers: vec![socket(scheme, &authority)?] })
        }
        ("redis" | "rediss" | "redis+unix", rest) => single(scheme, rest),
        ("redis+cluster" | "rediss+cluster" | "redis+sentinel" | "rediss+sentinel", rest) => {
            many(scheme, rest)
        }
        ("mysql" | "mysql+unix", rest) => mysql(scheme, rest),
        (scheme, _) => Err(Error::configuration(format!(
            "Unknown scheme{} in the storage DSN, known are {SCHEMES}",
            unless_secret(&format!("{scheme}:"))
        ))),
    }
}

/// What a message shows of some text: with an "@" it may be a password, before which the scheme was
/// left out or is another's.
fn unless_secret(text: &str) -> String {
    match text.contains('@') {
        true => String::new(),
        false => format!(" \"{}\"", sanitize(text)),
    }
}

fn single(scheme: &str, rest: &str) -> Result<Target> {
    let form = match scheme {
        "redis+unix" => "[user:password@]/path/to/socket",
        _ => "[user:password@]host[:port][/database]",
    };
    let authority = authority(scheme, rest, form)?;
    let (address, database) = match scheme {
        "redis+unix" => (socket(scheme, &authority)?, 0),
        _ => match addresses(authority.hosts, REDIS_PORT)?.as_slice() {
            [one] => (one.clone(), number(authority.path)?),
            _ => return Err(malformed(scheme, form)),
        },
    };
    let tls = (scheme == "rediss").then(Tls::default);
    Ok(redis(Topology::Single(address), authority, database, tls))
}

fn many(scheme: &str, rest: &str) -> Result<Target> {
    let tls = scheme.starts_with("rediss").then(Tls::default);
    if scheme.ends_with("cluster") {
        let form = "[user:password@]h1[:port],h2[:port]";
        let authority = authority(scheme, rest, form)?;
        if !authority.path.is_empty() {
            // A cluster has no databases.
            return Err(malformed(scheme, form));
        }
        let nodes = addresses(authority.hosts, REDIS_PORT)?;
        return Ok(redis(Topology::Cluster(nodes), authority, 0, tls));
    }
    let form = "[user:password@]h1[:port],h2[:port]/master_name[/database]";
    let authority = authority(scheme, rest, form)?;
    let (master, database) = authority.path.split_once('/').unwrap_or((authority.path, ""));
    if master.is_empty() {
        return Err(malformed(scheme, form));
    }
    let topology = Topology::Sentinel {
        sentinels: addresses(authority.hosts, SENTINEL_PORT)?,
        master: decoded(master),
        password: None,
    };
    let database = number(database)?;
    Ok(redis(topology, authority, database, tls))
}

fn redis(topology: Topology, who: Authority<'_>, database: u32, tls: Option<Tls>) -> Target {
    Target::Redis(Redis { topology, user: who.user, password: who.password, database, tls })
}

/// The database of `mysql+unix:` is a parameter, for the path is the socket's.
fn mysql(scheme: &str, rest: &str) -> Result<Target> {
    let form = match scheme {
        "mysql" => "user:password@host[:port]/database",
        _ => "user:password@/path/to/socket?db=database",
    };
    let authority = authority_of(scheme, rest, form, true)?;
    let (address, database) = match scheme {
        "mysql" => match addresses(authority.hosts, MYSQL_PORT)?.as_slice() {
            [one] => (one.clone(), decoded(authority.path)),
            _ => return Err(malformed(scheme, form)),
        },
        _ => (socket(scheme, &authority)?, String::new()),
    };
    let Some(user) = authority.user else { return Err(malformed(scheme, form)) };
    Ok(Target::Mysql(Mysql {
        address,
        user,
        password: authority.password.unwrap_or_else(|| Secret(String::new())),
        database,
        table: DEFAULT_TABLE.into(),
        tls: None,
    }))
}

/// What stands behind the two slashes.
struct Authority<'a> {
    user: Option<String>,
    password: Option<Secret>,
    hosts: &'a str,
    /// Without its leading slash.
    path: &'a str,
}

fn authority<'a>(scheme: &str, rest: &'a str, form: &str) -> Result<Authority<'a>> {
    authority_of(scheme, rest, form, false)
}

/// As [`authority`]; `empty` tells whether a user may have no password.
fn authority_of<'a>(scheme: &str, rest: &'a str, form: &str, empty: bool) -> Result<Authority<'a>> {
    let rest = rest.strip_prefix("//").ok_or_else(|| malformed(scheme, form))?;
    let (who, where_) = match rest.rsplit_once('@') {
        Some((who, where_)) => (Some(who), where_),
        None => (None, rest),
    };
    let (hosts, path) = where_.split_once('/').unwrap_or((where_, ""));
    let (user, password) = match who.map(|who| who.split_once(':').unwrap_or((who, ""))) {
        None => (None, None),
        Some((user, "")) if empty => (Some(decoded(user)), None),
        // A user without a password is what `redis://secret@host` means to nobody.
        Some((_, "")) => {
            return Err(Error::configuration(
                "The storage DSN has a user but no password: write \"user:password@\" or \
                 \":password@\"",
            ));
        }
        Some((user, password)) => {
            ((!user.is_empty()).then(|| decoded(user)), Some(Secret(decoded(password))))
        }
    };
    Ok(Authority { user, password, hosts, path })
}

fn socket(scheme: &str, authority: &Authority<'_>) -> Result<Address> {
    if !authority.hosts.is_empty() || authority.path.is_empty() {
        return Err(malformed(scheme, "/path/to/socket"));
    }
    let bytes: Vec<u8> = percent_decode_str(authority.path).collect();
    let path = PathBuf::from("/").join(OsString::from_vec(bytes));
    // What the kernel's address of a socket has room for, less the NUL.
    if path.as_os_str().len() > 103 {
        return Err(Error::configuration("The socket's path must be at most 103 bytes"));
    }
    Ok(Address::Unix(path))
}

fn addresses(hosts: &str, default_port: u16) -> Result<Vec<Address>> {
    hosts.split(',').map(|host| address(host, default_port)).collect()
}

fn address(text: &str, default_port: u16) -> Result<Address> {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (host, port) = match bracketed {
        Some((host, "")) => (host, None),
        Some((host, port)) => (host, Some(port.strip_prefix(':').unwrap_or("x"))),
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let port = match port {
        None => default_port,
        Some(port) => port.parse().ok().filter(|port| *port > 0).ok_or_else(|| {
            Error::configuration(match port.contains(':') {
                true => {
                    "The port in the storage DSN must be between 1 and 65535; an IPv6 address \
                     stands in brackets"
                }
                false => "The port in the storage DSN must be between 1 and 65535",
            })
        })?,
    };
    let host = decoded(host);
    Address::tcp(&host, port).ok_or_else(|| {
        Error::configuration(match host.is_empty() {
            true => "The storage DSN must name a host",
            false => {
                "The storage DSN must name a host by letters, digits, \"-\", \".\", \"_\" and \":\" alone; \
                 look for a space or the end of a line in it"
            }
        })
    })
}

fn number(text: &str) -> Result<u32> {
    match text {
        "" => Ok(0),
        text => text.parse().map_err(|_| {
            Error::configuration("The database in the storage DSN must be a number, such as \"/1\"")
        }),
    }
}

fn malformed(scheme: &str, form: &str) -> Error {
    Error::configuration(format!("The storage DSN must have the form {scheme}://{form}"))
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn is_table_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}
