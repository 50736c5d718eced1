//! What a DSN says of servers.

use super::address::Address;
use std::fmt;
use std::path::PathBuf;

/// A Redis or Valkey: its servers, the login, and the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedisTarget {
    /// One server, or several that form one store.
    pub topology: Topology,
    /// The ACL user; the default one if absent.
    pub user: Option<String>,
    /// The password.
    pub password: Option<Secret>,
    /// The number of the database.
    pub database: u32,
    /// Whether and how the connection is encrypted.
    pub tls: Option<Tls>,
}

/// A MariaDB or MySQL: its server, the login, and the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MysqlTarget {
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

/// How a connection is encrypted. The server is always verified.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tls {
    /// `ca`: the authorities that may sign the server's certificate, a PEM file; the system's if absent.
    pub ca: Option<PathBuf>,
    /// `cert`: the certificate of this client, a PEM file.
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
