//! What a DSN says of servers.

use super::address::Address;
use super::identity::Identity;
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

impl RedisTarget {
    /// What identifies it, without its passwords.
    pub fn identity(&self) -> Identity {
        let Self { topology, user, password: _, database, tls } = self;
        let store = Identity::new("redis");
        let mut identity = match topology {
            Topology::Single(address) => store.with_address(address),
            Topology::Cluster(nodes) => store.with_addresses("nodes", nodes),
            Topology::Sentinel { sentinels, master, password: _ } => {
                store.with_addresses("sentinels", sentinels).with("master", master.as_bytes())
            }
        };
        if let Some(user) = user {
            identity = identity.with("user", user.as_bytes());
        }
        with_tls(identity.with("database", database.to_string().as_bytes()), tls.as_ref())
    }
}

impl MysqlTarget {
    /// What identifies it, without its password.
    pub fn identity(&self) -> Identity {
        let Self { address, user, password: _, database, table, tls } = self;
        let identity = Identity::new("mysql")
            .with_address(address)
            .with("user", user.as_bytes())
            .with("database", database.as_bytes())
            .with("table", table.as_bytes());
        with_tls(identity, tls.as_ref())
    }
}

/// The identity of a server to which connections are encrypted, if they are.
fn with_tls(identity: Identity, tls: Option<&Tls>) -> Identity {
    let Some(Tls { ca, cert, key, .. }) = tls else { return identity };
    let identity = identity.with("tls", b"1").with_file("ca", ca.as_ref());
    identity.with_file("cert", cert.as_ref()).with_file("key", key.as_ref())
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
    /// Whether their paths have no links, and none is followed. Not a parameter: a script that `open_basedir` binds names them.
    pub refuses_links: bool,
}

/// A password, which no `{:?}` shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
