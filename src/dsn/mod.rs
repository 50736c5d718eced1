//! Reading a DSN: which store, and with what parameters.
//!
//! No message made here shows what may be a password: values are never repeated, and names
//! only where they look like names.

mod location;
mod parameters;

use crate::error::{Error, Result};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Where the buckets live, as a DSN says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dsn {
    /// The store.
    pub target: Target,
    /// What it says besides.
    pub options: Options,
}

/// The store a DSN names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// `shm:` or `shm:NAME`: this host's shared memory.
    SharedMemory {
        /// The table's name.
        name: String,
    },
    /// `array:`: this process.
    Array,
    /// `redis:` and its relatives.
    Redis(Redis),
    /// `memcached:`, one server or several.
    Memcached {
        /// The servers, in the order of the DSN, which decides nothing.
        servers: Vec<Address>,
    },
    /// `mysql:` and `mysql+unix:`: MariaDB or MySQL.
    Mysql(Mysql),
}

impl Target {
    /// Whether the store is on servers, which may fail while this host does not.
    pub const fn is_remote(&self) -> bool {
        matches!(self, Self::Redis(_) | Self::Memcached { .. } | Self::Mysql(_))
    }

    /// Whether `token_bucket.prefix` stands before the identifiers. A table of MySQL or MariaDB is a space
    /// of its own, and rows of the legacy schema have no prefix.
    pub const fn needs_prefix(&self) -> bool {
        !matches!(self, Self::Mysql(_))
    }

    /// The passwords, one after the other: who has others may be refused where these are not.
    pub fn passwords(&self) -> Secret {
        let all = match self {
            Self::Redis(Redis { password, topology, .. }) => match topology {
                Topology::Sentinel { password: of_sentinels, .. } => [password, of_sentinels],
                _ => [password, &None],
            }
            .map(|one| one.as_ref().map_or("", |Secret(password)| password))
            .join("\0"),
            Self::Mysql(Mysql { password: Secret(password), .. }) => password.clone(),
            _ => String::new(),
        };
        Secret(all)
    }
}

/// A Redis or Valkey: where it is and who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redis {
    /// One server, or several that make a whole.
    pub topology: Topology,
    /// The ACL user; the default one if absent.
    pub user: Option<String>,
    /// The password.
    pub password: Option<Secret>,
    /// The database's number.
    pub database: u32,
    /// Whether and how the connection is encrypted.
    pub tls: Option<Tls>,
}

/// A MariaDB or MySQL: where it is, who asks, and which table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mysql {
    /// The server.
    pub address: Address,
    /// The user.
    pub user: String,
    /// The password, which may be empty.
    pub password: Secret,
    /// The database.
    pub database: String,
    /// The table.
    pub table: String,
    /// Whether and how the connection is encrypted.
    pub tls: Option<Tls>,
}

/// How the servers of a Redis are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Topology {
    /// The server at this address.
    Single(Address),
    /// A Redis Cluster, of which these nodes are known.
    Cluster(Vec<Address>),
    /// The master that these sentinels name.
    Sentinel {
        /// The sentinels.
        sentinels: Vec<Address>,
        /// The name under which they watch the master.
        master: String,
        /// The sentinels' own password.
        password: Option<Secret>,
    },
}

/// The address of a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Address {
    /// A host and a port.
    Tcp {
        /// A name or an IP address, without brackets.
        host: String,
        /// The port.
        port: u16,
    },
    /// A unix socket.
    Unix(PathBuf),
}

/// The longest name of a host, in bytes.
const MAX_HOST: usize = 255;

impl Address {
    /// The server at a port of a host, if one may be called so.
    pub fn tcp(host: &str, port: u16) -> Option<Self> {
        let valid = |c: char| c.is_ascii_alphanumeric() || "-._:%".contains(c);
        let named = (1..=MAX_HOST).contains(&host.len()) && host.chars().all(valid);
        (named && port > 0).then(|| Self::Tcp { host: host.to_owned(), port })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

/// How a connection is encrypted. The server is always verified.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tls {
    /// `ca`: who vouches for the server, a PEM file; the system's authorities if absent.
    pub ca: Option<PathBuf>,
    /// `cert`: our certificate, a PEM file.
    pub cert: Option<PathBuf>,
    /// `key`: its private key, a PEM file.
    pub key: Option<PathBuf>,
}

/// A password, which no `{:?}` shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The parameters of a DSN that stand for directives; absent where the directive counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// `prefix`: what stands before every key. In a table of MariaDB's nothing does unless this
    /// says so: the table is a space of its own.
    pub prefix: Option<Vec<u8>>,
    /// `on_error`
    pub on_error: Option<OnError>,
    /// `enforce`
    pub enforce: Option<bool>,
    /// `timeout_ms`
    pub timeout: Option<Duration>,
    /// `connect_timeout_ms`
    pub connect_timeout: Option<Duration>,
}

/// What to answer when the store fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// Enforce the same limit in this host's shared memory.
    #[default]
    Fallback,
    /// Let everyone in.
    Open,
    /// Let no one in.
    Closed,
    /// Throw.
    Throw,
}

impl OnError {
    /// What a message says of the values it may have.
    pub const VALUES: &'static str = "\"fallback\", \"open\", \"closed\" or \"throw\"";

    /// The policy of that name.
    pub fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"fallback" => Some(Self::Fallback),
            b"open" => Some(Self::Open),
            b"closed" => Some(Self::Closed),
            b"throw" => Some(Self::Throw),
            _ => None,
        }
    }
}

/// The longest prefix, in bytes.
pub const MAX_PREFIX: usize = 64;

/// The longest time-out: a minute, in milliseconds.
pub const MAX_TIMEOUT_MS: u64 = 60_000;

/// A time-out in milliseconds, if it is within 1 and [`MAX_TIMEOUT_MS`].
pub fn timeout_ms(value: &[u8]) -> Option<Duration> {
    let ms: u64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (1..=MAX_TIMEOUT_MS).contains(&ms).then(|| Duration::from_millis(ms))
}

impl Dsn {
    /// Reads a DSN.
    ///
    /// # Errors
    ///
    /// [`Error::Configuration`], naming the scheme, parameter or value that is not known
    /// and listing those that are.
    ///
    /// # Example
    ///
    /// ```
    /// use token_bucket::dsn::{Dsn, Target};
    ///
    /// let dsn = Dsn::parse("shm:logins?prefix=shop:")?;
    /// assert_eq!(dsn.target, Target::SharedMemory { name: "logins".into() });
    /// assert_eq!(dsn.options.prefix.as_deref(), Some(&b"shop:"[..]));
    /// # Ok::<(), token_bucket::error::Error>(())
    /// ```
    pub fn parse(dsn: &str) -> Result<Self> {
        let (location, query) = dsn.split_once('?').unwrap_or((dsn, ""));
        if query.contains('@') && !location.contains('@') {
            return Err(Error::configuration(
                "The user, password and parameters in the storage DSN must be percent-encoded: \"?\" is %3F, \
                 \"@\" is %40",
            ));
        }
        let mut target = location::parse(location)?;
        let options = parameters::parse(query, &mut target)?;
        Ok(Self { target, options })
    }

    /// The DSN as it may be shown: without user and passwords.
    ///
    /// # Example
    ///
    /// ```
    /// use token_bucket::dsn::Dsn;
    ///
    /// assert_eq!(Dsn::shown("redis://joe:secret@db/1?timeout_ms=5"), "redis://***@db/1?timeout_ms=5");
    /// ```
    pub fn shown(dsn: &str) -> String {
        // Passwords among the parameters first: they may hold what ends the one before the host.
        let (location, query) = dsn.split_at(dsn.find('?').unwrap_or(dsn.len()));
        let mut parts = query.split("password=");
        let first = location.to_owned() + parts.next().unwrap_or_default();
        let hidden = parts.fold(first, |shown, part| {
            let rest = part.find('&').and_then(|end| part.get(end..)).unwrap_or_default();
            format!("{shown}password=***{rest}")
        });
        if let Some((scheme, rest)) = hidden.split_once("://")
            && let Some((_, after)) = rest.rsplit_once('@')
        {
            return format!("{scheme}://***@{after}");
        }
        hidden
    }
}

/// What a message may show of a caller's text: short, and without control characters.
pub fn sanitize(text: &str) -> String {
    const LONGEST: usize = 64;
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_default).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests;
