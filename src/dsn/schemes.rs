//! The table of schemes, and the store that each names.
//!
//! A new store adds a variant to [`Target`], and its schemes and parameters here.

use super::address::Address;
use super::identity::Identity;
use super::location::{Authority, Form, decode, malformed, parse_database, quote_unless_secret};
use super::parameter::{DsnParameter, must_be};
use super::servers::{MysqlTarget, RedisTarget, Secret, Tls, Topology};
use crate::error::{Error, Result};

/// A scheme: its name and form, and how to parse what follows the colon.
struct Scheme {
    form: Form,
    parse: fn(&Form, &str) -> Result<Target>,
}

const fn scheme(
    scheme: &'static str,
    form: &'static str,
    port: u16,
    parse: fn(&Form, &str) -> Result<Target>,
) -> Scheme {
    Scheme { form: Form { scheme, form, port }, parse }
}

const ONE_HOST: &str = "[user:password@]host[:port][/database]";
const NODES: &str = "[user:password@]h1[:port],h2[:port]";
const SENTINELS: &str = "[user:password@]h1[:port],h2[:port]/master_name[/database]";

/// All schemes. Messages list them in this order.
const SCHEMES: [Scheme; 13] = [
    scheme("shm", "", 0, shared_memory),
    scheme("array", "", 0, array),
    scheme("redis", ONE_HOST, 6379, redis),
    scheme("rediss", ONE_HOST, 6379, redis),
    scheme("redis+unix", "[user:password@]/path/to/socket", 0, redis_socket),
    scheme("redis+cluster", NODES, 6379, redis_cluster),
    scheme("rediss+cluster", NODES, 6379, redis_cluster),
    scheme("redis+sentinel", SENTINELS, 26379, redis_sentinel),
    scheme("rediss+sentinel", SENTINELS, 26379, redis_sentinel),
    scheme("memcached", "h1[:port],h2[:port]", 11211, memcached),
    scheme("memcached+unix", "/path/to/socket", 0, memcached_socket),
    scheme("mysql", "user:password@host[:port]/database", 3306, mysql),
    scheme("mysql+unix", "user:password@/path/to/socket?db=database", 0, mysql_socket),
];

/// The store a DSN names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// `shm:` or `shm:NAME`: this host's shared memory.
    SharedMemory {
        /// The table's name.
        name: String,
    },
    /// `array:`: the memory of this process.
    Array,
    /// `redis:` and the other schemes of Redis.
    Redis(RedisTarget),
    /// `memcached:` and `memcached+unix:`, one server or several.
    Memcached {
        /// The servers. Their order does not matter.
        servers: Vec<Address>,
    },
    /// `mysql:` and `mysql+unix:`: MariaDB or MySQL.
    Mysql(MysqlTarget),
}

impl Target {
    /// Whether `token_bucket.prefix` stands before the identifiers. A table of MySQL or MariaDB is a space
    /// of its own, and rows of the legacy schema have no prefix.
    pub const fn needs_prefix(&self) -> bool {
        !matches!(self, Self::Mysql(_))
    }

    /// The passwords, one after the other. A server may refuse other processes with other passwords.
    pub fn passwords(&self) -> Secret {
        let all = match self {
            Self::Redis(RedisTarget { password, topology, .. }) => match topology {
                Topology::Sentinel { password: of_sentinels, .. } => [password, of_sentinels],
                _ => [password, &None],
            }
            .map(|one| one.as_ref().map_or("", |Secret(password)| password))
            .join("\0"),
            Self::Mysql(MysqlTarget { password: Secret(password), .. }) => password.clone(),
            _ => String::new(),
        };
        Secret(all)
    }

    /// What identifies the store to the processes of a host, whichever version of this extension they run. Holds no password.
    pub fn identity(&self) -> Vec<u8> {
        let identity = match self {
            Self::SharedMemory { name } => Identity::new("shm").with("name", name.as_bytes()),
            Self::Array => Identity::new("array"),
            Self::Redis(redis) => redis.identity(),
            Self::Memcached { servers } => {
                Identity::new("memcached").with_addresses("servers", servers)
            }
            Self::Mysql(mysql) => mysql.identity(),
        };
        identity.into_bytes()
    }

    /// How connections to the servers are encrypted; none if they are not.
    pub const fn tls_mut(&mut self) -> Option<&mut Tls> {
        match self {
            Self::Redis(RedisTarget { tls, .. }) | Self::Mysql(MysqlTarget { tls, .. }) => {
                tls.as_mut()
            }
            _ => None,
        }
    }

    /// The names of the parameters that this store has besides those of every store.
    pub fn parameter_names(&self) -> &'static [&'static str] {
        match self {
            Self::SharedMemory { .. } | Self::Array | Self::Memcached { .. } => &[],
            Self::Redis(RedisTarget { topology, tls, .. }) => match (topology, tls) {
                (Topology::Single(_), None) => &["db"],
                (Topology::Single(_), Some(_)) => &["db", "ca", "cert", "key"],
                (Topology::Cluster(_), None) => &[],
                (Topology::Cluster(_), Some(_)) => &["ca", "cert", "key"],
                (Topology::Sentinel { .. }, None) => &["sentinel_password"],
                (Topology::Sentinel { .. }, Some(_)) => &["sentinel_password", "ca", "cert", "key"],
            },
            Self::Mysql(MysqlTarget { address: Address::Tcp { .. }, .. }) => {
                &["table", "tls", "ca", "cert", "key"]
            }
            Self::Mysql(MysqlTarget { address: Address::Unix(_), .. }) => &["db", "table"],
        }
    }

    /// Sets a parameter that is among [`parameter_names`](Self::parameter_names).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Configuration`](crate::error::ErrorKind::Configuration) if the value is not accepted.
    pub fn set_parameter(&mut self, parameter: &DsnParameter<'_>) -> Result<()> {
        match self {
            Self::Redis(RedisTarget { database, topology, tls, .. }) => {
                match (parameter.name, topology) {
                    ("db", _) => *database = parameter.database_number()?,
                    ("sentinel_password", Topology::Sentinel { password, .. }) => {
                        *password = Some(Secret(parameter.text()));
                    }
                    _ => parameter.set_tls(tls.get_or_insert_default())?,
                }
            }
            Self::Mysql(MysqlTarget { database, table, tls, .. }) => match parameter.name {
                "db" => *database = parameter.text(),
                "table" => *table = parameter.table_name()?,
                // Each of the other parameters asks for encryption.
                "tls" if parameter.value == b"1" => {
                    tls.get_or_insert_default();
                }
                "tls" => return Err(must_be(parameter.name, "1")),
                _ => parameter.set_tls(tls.get_or_insert_default())?,
            },
            Self::SharedMemory { .. } | Self::Array | Self::Memcached { .. } => {}
        }
        Ok(())
    }

    /// Checks the parameters together, once all are set.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Configuration`](crate::error::ErrorKind::Configuration) if one is missing.
    pub fn check_parameters(&self) -> Result<()> {
        if let Self::Redis(RedisTarget { tls: Some(tls), .. })
        | Self::Mysql(MysqlTarget { tls: Some(tls), .. }) = self
            && tls.cert.is_some() != tls.key.is_some()
        {
            return Err(Error::configuration(
                "DSN parameters \"cert\" and \"key\" must be given together",
            ));
        }
        match self {
            Self::Mysql(MysqlTarget { database, address, .. }) if database.is_empty() => {
                Err(Error::configuration(match address {
                    Address::Tcp { .. } => {
                        "The storage DSN must name a database: mysql://host/database"
                    }
                    Address::Unix(_) => "The storage DSN must name a database: \"?db=database\"",
                }))
            }
            _ => Ok(()),
        }
    }
}

/// Parses the location of a DSN: all that stands before the question mark.
///
/// # Errors
///
/// [`ErrorKind::Configuration`](crate::error::ErrorKind::Configuration) listing the schemes, or naming the form that the scheme asks for.
pub fn parse(location: &str) -> Result<Target> {
    let known = || SCHEMES.map(|scheme| format!("{}:", scheme.form.scheme)).join(", ");
    let Some((name, rest)) = location.split_once(':') else {
        return Err(Error::configuration(format!(
            "The storage DSN must begin with a scheme, known are {}",
            known()
        )));
    };
    match find(name) {
        Some(Scheme { form, parse }) => {
            parse(form, rest).map_err(|error| name_socket(name, rest).unwrap_or(error))
        }
        None => Err(Error::configuration(format!(
            "Unknown scheme{} in the storage DSN{}, known are {}",
            quote_unless_secret(&format!("{name}:")),
            hint(name),
            known()
        ))),
    }
}

/// Whether a text is meant to be a DSN, with a mistake or without one.
pub fn looks_like_dsn(text: &str) -> bool {
    let name = text.split(':').next().unwrap_or_default();
    text.is_empty() || text.contains("://") || find(&normalize(name)).is_some()
}

fn find(name: &str) -> Option<&'static Scheme> {
    SCHEMES.iter().find(|scheme| scheme.form.scheme == name)
}

/// A scheme's name as it may have been meant.
fn normalize(name: &str) -> String {
    name.trim().to_ascii_lowercase()
}

/// What was probably meant by an unknown scheme.
fn hint(name: &str) -> String {
    let hint = match normalize(name).as_str() {
        "mariadb" => "mysql: is for MariaDB, too",
        "valkey" | "valkeys" => "redis: is for Valkey, too",
        "localhost" => "redis://localhost is a Redis there",
        "unix" => "the socket of a Redis is redis+unix:///path/to/socket",
        scheme if find(scheme).is_some() => return format!(" (write \"{scheme}:\")"),
        address if address.parse::<std::net::Ipv4Addr>().is_ok() => {
            "redis://ADDRESS:PORT is a Redis there"
        }
        _ => return String::new(),
    };
    format!(" ({hint})")
}

/// The error of a scheme with a path where its hosts should be, if there is another one for sockets.
fn name_socket(name: &str, rest: &str) -> Option<Error> {
    let behind_login = rest.strip_prefix("//")?.rsplit('@').next()?;
    let is_of_sockets = |scheme: &&Scheme| scheme.form.scheme.strip_suffix("+unix") == Some(name);
    let Form { scheme, form, .. } = &SCHEMES.iter().find(is_of_sockets)?.form;
    behind_login.starts_with('/').then(|| {
        Error::configuration(format!(
            "The storage DSN must name a host; a unix socket is {scheme}://{form}"
        ))
    })
}

/// Whether `shm:` may be followed by this name of a table.
pub fn is_table_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(is_allowed)
}

fn shared_memory(_: &Form, name: &str) -> Result<Target> {
    const DEFAULT_NAME: &str = "default";
    match name {
        "" => Ok(Target::SharedMemory { name: DEFAULT_NAME.into() }),
        name if is_table_name(name) => Ok(Target::SharedMemory { name: name.into() }),
        name => Err(Error::configuration(format!(
            "Shared memory name{} must be 1 to 64 letters, digits, \"_\" or \"-\"",
            quote_unless_secret(name)
        ))),
    }
}

fn array(_: &Form, rest: &str) -> Result<Target> {
    match rest {
        "" => Ok(Target::Array),
        _ => Err(Error::configuration("DSN \"array:\" takes nothing after the colon")),
    }
}

fn redis(form: &Form, rest: &str) -> Result<Target> {
    let authority = Authority::parse(form, rest)?;
    let address = authority.one_address(form)?;
    let database = parse_database(authority.path)?;
    Ok(redis_target(form, Topology::Single(address), authority, database))
}

fn redis_socket(form: &Form, rest: &str) -> Result<Target> {
    let authority = Authority::parse(form, rest)?;
    let address = authority.socket(form)?;
    Ok(redis_target(form, Topology::Single(address), authority, 0))
}

fn redis_cluster(form: &Form, rest: &str) -> Result<Target> {
    let authority = Authority::parse(form, rest)?;
    // A cluster has no databases.
    if !authority.path.is_empty() {
        return Err(malformed(form));
    }
    let nodes = authority.addresses(form)?;
    Ok(redis_target(form, Topology::Cluster(nodes), authority, 0))
}

fn redis_sentinel(form: &Form, rest: &str) -> Result<Target> {
    let authority = Authority::parse(form, rest)?;
    let (master, database) = authority.path.split_once('/').unwrap_or((authority.path, ""));
    if master.is_empty() {
        return Err(malformed(form));
    }
    let sentinels = authority.addresses(form)?;
    let topology = Topology::Sentinel { sentinels, master: decode(master), password: None };
    let database = parse_database(database)?;
    Ok(redis_target(form, topology, authority, database))
}

fn redis_target(
    form: &Form,
    topology: Topology,
    authority: Authority<'_>,
    database: u32,
) -> Target {
    let tls = form.scheme.starts_with("rediss").then(Tls::default);
    let Authority { user, password, .. } = authority;
    Target::Redis(RedisTarget { topology, user, password, database, tls })
}

fn memcached(form: &Form, rest: &str) -> Result<Target> {
    let authority = Authority::parse(form, rest)?;
    if !authority.path.is_empty() || authority.password.is_some() {
        return Err(malformed(form));
    }
    Ok(Target::Memcached { servers: authority.addresses(form)? })
}

fn memcached_socket(form: &Form, rest: &str) -> Result<Target> {
    let authority = Authority::parse(form, rest)?;
    if authority.password.is_some() {
        return Err(malformed(form));
    }
    Ok(Target::Memcached { servers: vec![authority.socket(form)?] })
}

fn mysql(form: &Form, rest: &str) -> Result<Target> {
    let authority = Authority::parse_with_optional_password(form, rest)?;
    let (address, database) = (authority.one_address(form)?, decode(authority.path));
    mysql_target(form, address, authority, database)
}

/// The path is the socket's, so the database is a parameter.
fn mysql_socket(form: &Form, rest: &str) -> Result<Target> {
    let authority = Authority::parse_with_optional_password(form, rest)?;
    let address = authority.socket(form)?;
    mysql_target(form, address, authority, String::new())
}

fn mysql_target(
    form: &Form,
    address: Address,
    authority: Authority<'_>,
    database: String,
) -> Result<Target> {
    const DEFAULT_TABLE: &str = "token_bucket";
    let Some(user) = authority.user else { return Err(malformed(form)) };
    let password = authority.password.unwrap_or_else(|| Secret(String::new()));
    let table = DEFAULT_TABLE.into();
    Ok(Target::Mysql(MysqlTarget { address, user, password, database, table, tls: None }))
}
