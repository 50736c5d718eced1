//! Reading a DSN: which store, and with what parameters.

use crate::error::{Error, Result};
use percent_encoding::percent_decode_str;

/// Where the buckets live, as a DSN says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dsn {
    /// The store.
    pub target: Target,
    /// `prefix`: what stands before every key, instead of the ini's.
    pub prefix: Option<Vec<u8>>,
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
}

const SCHEMES: &str = "shm:, array:";
const PARAMETERS: &str = "prefix";
const DEFAULT_NAME: &str = "default";

/// The longest prefix, in bytes.
pub const MAX_PREFIX: usize = 64;

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
    /// assert_eq!(dsn.prefix.as_deref(), Some(&b"shop:"[..]));
    /// # Ok::<(), token_bucket::error::Error>(())
    /// ```
    pub fn parse(dsn: &str) -> Result<Self> {
        let (location, query) = dsn.split_once('?').unwrap_or((dsn, ""));
        let target = match location.split_once(':') {
            Some(("shm", "")) => Target::SharedMemory { name: DEFAULT_NAME.into() },
            Some(("shm", name)) if is_table_name(name) => {
                Target::SharedMemory { name: name.into() }
            }
            Some(("shm", name)) => {
                return Err(Error::configuration(format!(
                    "Shared memory name \"{}\" must be 1 to 64 letters, digits, \"_\" or \"-\"",
                    printable(name)
                )));
            }
            Some(("array", "")) => Target::Array,
            Some(("array", _)) => {
                return Err(Error::configuration("DSN \"array:\" takes nothing after the colon"));
            }
            Some((scheme, _)) => {
                return Err(Error::configuration(format!(
                    "Unknown scheme \"{}:\" in the storage DSN, known are {SCHEMES}",
                    printable(scheme)
                )));
            }
            None => {
                return Err(Error::configuration(format!(
                    "The storage DSN must begin with a scheme, known are {SCHEMES}"
                )));
            }
        };
        let mut parsed = Self { target, prefix: None };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value: Vec<u8> = percent_decode_str(value).collect();
            match name {
                "prefix" if value.len() <= MAX_PREFIX => parsed.prefix = Some(value),
                "prefix" => {
                    return Err(Error::configuration(format!(
                        "DSN parameter \"prefix\" must be at most {MAX_PREFIX} bytes"
                    )));
                }
                _ => {
                    return Err(Error::configuration(format!(
                        "Unknown parameter \"{}\" in the storage DSN, known are: {PARAMETERS}",
                        printable(name)
                    )));
                }
            }
        }
        Ok(parsed)
    }
}

fn is_table_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// What a message may show of a caller's text: short, and without control characters.
pub fn printable(text: &str) -> String {
    const LONGEST: usize = 64;
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_default).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(dsn: &str) -> String {
        Dsn::parse(dsn).unwrap_err().to_string()
    }

    #[test]
    fn known_stores() {
        let shm = |name: &str| Target::SharedMemory { name: name.into() };
        assert_eq!(Dsn::parse("shm:").unwrap().target, shm("default"));
        assert_eq!(Dsn::parse("shm:a-B_9").unwrap().target, shm("a-B_9"));
        assert_eq!(Dsn::parse("array:").unwrap(), Dsn { target: Target::Array, prefix: None });
        assert_eq!(Dsn::parse("array:?").unwrap().prefix, None);
        assert_eq!(Dsn::parse("array:?prefix=").unwrap().prefix, Some(vec![]));
        assert_eq!(Dsn::parse("array:?prefix=a%00%26b").unwrap().prefix, Some(b"a\0&b".to_vec()));
    }

    #[test]
    fn what_is_not_known_is_named() {
        assert_eq!(
            refused("reddis://localhost"),
            "Unknown scheme \"reddis:\" in the storage DSN, known are shm:, array:"
        );
        assert_eq!(refused(""), "The storage DSN must begin with a scheme, known are shm:, array:");
        assert_eq!(
            refused("shm:?prefx=a"),
            "Unknown parameter \"prefx\" in the storage DSN, known are: prefix"
        );
        assert!(refused("shm:../etc").contains("must be 1 to 64 letters"));
        assert!(refused(&format!("shm:{}", "a".repeat(65))).contains("..."));
        assert!(refused("array:x").contains("nothing after the colon"));
        assert!(refused(&format!("array:?prefix={}", "x".repeat(65))).contains("at most 64 bytes"));
        assert_eq!(printable("a\0\u{e9}"), "a\\u{0}\\u{e9}");
    }
}
