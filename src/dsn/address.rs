//! The address of a server.

use super::sanitize::printable_path;
use std::fmt;
use std::path::PathBuf;

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
    /// The address of a port of a host. None if no host can have that name, or no server that port.
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
            Self::Unix(path) => f.write_str(&printable_path(path)),
        }
    }
}
