//! The user, hosts and path of a location, and the errors in them.

use super::address::Address;
use super::sanitize::sanitize;
use super::servers::Secret;
use crate::error::{Error, Result};
use percent_encoding::percent_decode_str;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// The most servers that a DSN names.
const MAX_SERVERS: usize = 100;

/// The form of a scheme, and the port of hosts that name none.
pub struct Form {
    /// The name of the scheme, without the colon.
    pub scheme: &'static str,
    /// What follows the two slashes.
    pub form: &'static str,
    /// The port of a host without one; 0 where hosts have none.
    pub port: u16,
}

/// What follows the two slashes.
pub struct Authority<'a> {
    /// The user, decoded.
    pub user: Option<String>,
    /// The password, decoded.
    pub password: Option<Secret>,
    /// The hosts with their ports, separated by commas.
    hosts: &'a str,
    /// The path without its leading slash, not decoded.
    pub path: &'a str,
}

impl<'a> Authority<'a> {
    /// Parses what follows the scheme's colon. A user must have a password.
    pub fn parse(form: &Form, rest: &'a str) -> Result<Self> {
        Self::parse_login(form, rest, false)
    }

    /// Parses what follows the scheme's colon. A user may have no password.
    pub fn parse_with_optional_password(form: &Form, rest: &'a str) -> Result<Self> {
        Self::parse_login(form, rest, true)
    }

    fn parse_login(form: &Form, rest: &'a str, allows_no_password: bool) -> Result<Self> {
        let rest = rest.strip_prefix("//").ok_or_else(|| malformed(form))?;
        let (login, rest) = match rest.rsplit_once('@') {
            Some((login, rest)) => (Some(login), rest),
            None => (None, rest),
        };
        let (hosts, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, password) = match login.map(|it| it.split_once(':').unwrap_or((it, ""))) {
            None => (None, None),
            Some((user, "")) if allows_no_password => (Some(decode(user)), None),
            // `redis://secret@host` may mean a user or a password.
            Some((_, "")) => {
                return Err(Error::configuration(
                    "The storage DSN has a user but no password: write \"user:password@\" or \
                     \":password@\"",
                ));
            }
            Some((user, password)) => {
                ((!user.is_empty()).then(|| decode(user)), Some(Secret(decode(password))))
            }
        };
        Ok(Self { user, password, hosts, path })
    }

    /// The addresses of all hosts.
    pub fn addresses(&self, form: &Form) -> Result<Vec<Address>> {
        if self.hosts.split(',').count() > MAX_SERVERS {
            let message = format!("The storage DSN must name at most {MAX_SERVERS} servers");
            return Err(Error::configuration(message));
        }
        self.hosts.split(',').map(|host| parse_address(host, form.port)).collect()
    }

    /// The address of the one host that there must be.
    pub fn one_address(&self, form: &Form) -> Result<Address> {
        let mut addresses = self.addresses(form)?;
        match (addresses.pop(), addresses.is_empty()) {
            (Some(address), true) => Ok(address),
            _ => Err(malformed(form)),
        }
    }

    /// The unix socket that the path names.
    pub fn socket(&self, form: &Form) -> Result<Address> {
        /// The room in the kernel's address of a socket, less the NUL.
        const MAX_PATH: usize = 103;
        if !self.hosts.is_empty() || self.path.is_empty() {
            return Err(malformed(&Form { form: "/path/to/socket", ..*form }));
        }
        let bytes: Vec<u8> = percent_decode_str(self.path).collect();
        let path = PathBuf::from("/").join(OsString::from_vec(bytes));
        if path.as_os_str().len() > MAX_PATH {
            return Err(Error::configuration("The socket's path must be at most 103 bytes"));
        }
        Ok(Address::Unix(path))
    }
}

fn parse_address(text: &str, default_port: u16) -> Result<Address> {
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
    // A zone is written "%eth0" or, as in a URI, "%25eth0" (RFC 6874); some names begin with two hexadecimal digits.
    let host = match bracketed {
        Some(_) => host.replace("%25", "%"),
        None => decode(host),
    };
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

/// Parses the number of a database in a path; none is 0.
pub fn parse_database(text: &str) -> Result<u32> {
    match text {
        "" => Ok(0),
        text => text.parse().map_err(|_| {
            Error::configuration("The database in the storage DSN must be a number, such as \"/1\"")
        }),
    }
}

/// The error of a location that does not have the form of its scheme.
pub fn malformed(form: &Form) -> Error {
    let Form { scheme, form, .. } = form;
    Error::configuration(format!("The storage DSN must have the form {scheme}://{form}"))
}

/// Decodes a part of a location.
pub fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Quotes text in a message, unless it has an "@" or the word password: then it may be a secret, from a DSN whose scheme is
/// missing or another one's, or that another directive was meant to have.
pub fn quote_unless_secret(text: &str) -> String {
    match text.contains('@') || text.contains("password") {
        true => String::new(),
        false => format!(" \"{}\"", sanitize(text)),
    }
}
