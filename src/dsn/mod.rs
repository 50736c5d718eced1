//! Parses the DSN of a storage: which store, and with what parameters.
//!
//! * [`schemes`]: the table of schemes, and the store that each names
//! * [`location`]: the user, hosts and path before the question mark
//! * [`parameters`]: what stands after it; those that every store has are [settings](crate::settings)
//! * [`address`], [`servers`]: what a DSN says of servers
//! * [`cut`]: notices one that an ini file has cut
//! * [`identity`]: what identifies a store to a host's processes
//!
//! No message of this module shows what may be a password: it never quotes a value, and a name only if it
//! looks like one.

mod address;
mod cut;
mod identity;
mod location;
mod parameter;
mod parameters;
mod sanitize;
mod schemes;
mod servers;

use crate::error::{Error, Result};
use crate::settings::Overrides;
pub use address::Address;
pub use cut::parse_in_ini;
pub use location::quote_unless_secret;
pub use sanitize::{printable_path, sanitize};
pub use schemes::{Target, is_table_name, looks_like_dsn};
pub use servers::{MysqlTarget, RedisTarget, Secret, Tls, Topology};

/// A parsed DSN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dsn {
    /// The store.
    pub target: Target,
    /// The settings that its parameters set.
    pub overrides: Overrides,
}

impl Dsn {
    /// Parses a DSN.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Configuration`](crate::error::ErrorKind::Configuration), naming the scheme, parameter or value that is not accepted, and listing
    /// those that are.
    ///
    /// # Example
    ///
    /// ```
    /// use token_bucket::dsn::{Dsn, Target};
    ///
    /// let dsn = Dsn::parse("shm:logins?prefix=shop:")?;
    /// assert_eq!(dsn.target, Target::SharedMemory { name: "logins".into() });
    /// assert_eq!(dsn.overrides.prefix.as_deref(), Some(&b"shop:"[..]));
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
        let mut target = schemes::parse(location)?;
        let overrides = parameters::parse(query, &mut target)?;
        Ok(Self { target, overrides })
    }

    /// Replaces user and passwords by asterisks.
    ///
    /// # Example
    ///
    /// ```
    /// use token_bucket::dsn::Dsn;
    ///
    /// assert_eq!(Dsn::redact("redis://joe:secret@db/1?timeout_ms=5"), "redis://***@db/1?timeout_ms=5");
    /// ```
    pub fn redact(dsn: &str) -> String {
        // Parameters first: a password among them may hold an "@", which ends the one before the host.
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

#[cfg(test)]
mod tests;
