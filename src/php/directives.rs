//! The directives: one table of their names, defaults, scopes and parsers, and their values in this worker.
//!
//! The engine calls the setters through `ini.rs`; the rest of the extension reads the fields of
//! [`Directives`] and never asks the engine.

use super::default_storage::{DefaultStorage, parse_storage};
use super::engine::directive_cell::{DirectiveCell, DirectiveValue, ValueSource};
use crate::dsn::{MAX_LEASE, MAX_PREFIX, MAX_TIMEOUT_MS, OnError, parse_lease, parse_timeout_ms};
use crate::limiter::{
    FileSettings, MAX_SHM_SIZE, MIN_SHM_SIZE, Policy, Settings, StoreSettings, Timeouts,
};
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

/// One row of the table of directives.
pub struct Directive {
    /// The full name, with `token_bucket.` in front.
    pub name: &'static CStr,
    /// The default, as php.ini would write it.
    pub default: &'static CStr,
    pub scope: Scope,
    /// Whether the text of the value may hold a password, which no message may show.
    pub is_secret: bool,
    /// Parses and stores a value, or returns what the value must be.
    pub set: fn(&Directives, &[u8], ValueSource) -> Result<(), String>,
    /// Notes a refused value and its error message. Returns whether the previous value stays in force.
    pub refuse: fn(&Directives, &str, ValueSource) -> bool,
}

/// Where a directive may be set.
pub enum Scope {
    /// In php.ini, for a pool, by the web server and by `ini_set()`.
    Anywhere,
    /// In php.ini and for a pool.
    PhpIniOrPool,
}

/// Declares the table and the struct that holds the values, from rows of
/// `field: holder = name, default, scope, parser;`.
macro_rules! directives {
    ($(
        $(#[$doc:meta])+
        $field:ident: $holder:ty = $name:literal, $default:literal, $scope:ident, $parse:path;
    )+) => {
        /// The values of the directives in this worker.
        #[derive(Default)]
        pub struct Directives {
            $($(#[$doc])+ pub $field: $holder,)+
        }

        /// The table of directives, in the order in which phpinfo() shows them.
        pub static DIRECTIVES: [Directive; [$($name),+].len()] = [$(Directive {
            name: $name,
            default: $default,
            scope: Scope::$scope,
            is_secret: <$holder as DirectiveValue>::IS_SECRET,
            set: |directives, value, source| {
                directives.$field.assign($parse(value)?, source);
                Ok(())
            },
            refuse: |directives, message, source| directives.$field.refuse(message, source),
        }),+];

        #[cfg(test)]
        const FIELDS: [&str; DIRECTIVES.len()] = [$(stringify!($field)),+];
    };
}

// A new directive is one row here, and the code that reads its field. `php-tests/03_ini/defaults.phpt`
// then asks for its line in `token_bucket.ini` and in `docs/configuration.md`, and
// `bad_values_each.phpt` for an invalid value.
directives! {
    /// The DSN of the default storage, for `new TokenBucket(null, ...)`.
    storage: DefaultStorage = c"token_bucket.storage", c"shm:", Anywhere, parse_storage;
    /// The bytes before every key.
    prefix: DirectiveCell<Vec<u8>> = c"token_bucket.prefix", c"tb:", Anywhere, parse_prefix;
    /// What answers a call when a store on servers fails.
    on_error: DirectiveCell<OnError> = c"token_bucket.on_error", c"fallback", Anywhere, parse_on_error;
    /// How long a call on a server may take.
    timeout_ms: DirectiveCell<Duration> = c"token_bucket.timeout_ms", c"50", Anywhere, parse_timeout;
    /// How much longer a call may take that has to connect first.
    connect_timeout_ms: DirectiveCell<Duration> =
        c"token_bucket.connect_timeout_ms", c"100", Anywhere, parse_timeout;
    /// Whether this host remembers the denials of stores on servers.
    deny_cache: DirectiveCell<bool> = c"token_bucket.deny_cache", c"1", Anywhere, parse_switch;
    /// How many tokens of a busy bucket on servers this host takes ahead at most; 0: none.
    lease: DirectiveCell<u32> = c"token_bucket.lease", c"0", Anywhere, parse_lease_size;
    /// Whether denied calls are denied; if not, all limits are a dry run.
    enforce: DirectiveCell<bool> = c"token_bucket.enforce", c"1", Anywhere, parse_switch;
    /// Whether `statistics()`, `denials()` and `status()` name the identifiers that are denied or blocked.
    track_identifiers: DirectiveCell<bool> = c"token_bucket.track_identifiers", c"1", Anywhere, parse_switch;
    /// Whether limits that are probably a mistake give a warning.
    warn_of_mistakes: DirectiveCell<bool> = c"token_bucket.warn_of_mistakes", c"1", Anywhere, parse_switch;
    /// The size of a new shared-memory table, in bytes.
    shm_size: DirectiveCell<u64> = c"token_bucket.shm_size", c"8M", PhpIniOrPool, parse_shm_size;
    /// The directory below which each user has a directory for tables; empty for `/dev/shm`.
    shm_path: DirectiveCell<PathBuf> = c"token_bucket.shm_path", c"", PhpIniOrPool, parse_shm_path;
    /// The file of the limits that `TokenBucket\limiter()` finds by name; empty for none.
    limits: DirectiveCell<PathBuf> = c"token_bucket.limits", c"", PhpIniOrPool, parse_limits;
    /// Whether scripts may use `TokenBucket\TestClock`.
    test_clock: DirectiveCell<bool> = c"token_bucket.test_clock", c"0", PhpIniOrPool, parse_switch;
}

impl Directives {
    /// The values that a limiter depends on.
    pub fn settings(&self) -> Settings {
        let (path, size) = (self.shm_path.get(), self.shm_size.get());
        let (call, connect) = (self.timeout_ms.get(), self.connect_timeout_ms.get());
        Settings {
            store: StoreSettings {
                files: FileSettings { path, size },
                timeouts: Timeouts { call, connect },
            },
            policy: Policy {
                on_error: self.on_error.get(),
                deny_cache: self.deny_cache.get(),
                enforce: self.enforce.get(),
                lease: self.lease.get(),
                track_identifiers: self.track_identifiers.get(),
                warn_of_mistakes: self.warn_of_mistakes.get(),
            },
        }
    }
}

fn parse_prefix(value: &[u8]) -> Result<Vec<u8>, String> {
    match value.len() <= MAX_PREFIX {
        true => Ok(value.to_vec()),
        false => Err(format!("must be at most {MAX_PREFIX} bytes")),
    }
}

fn parse_on_error(value: &[u8]) -> Result<OnError, String> {
    OnError::from_name(value).ok_or_else(|| format!("must be {}", OnError::VALUES))
}

fn parse_timeout(value: &[u8]) -> Result<Duration, String> {
    parse_timeout_ms(value)
        .ok_or_else(|| format!("must be milliseconds between 1 and {MAX_TIMEOUT_MS}"))
}

fn parse_lease_size(value: &[u8]) -> Result<u32, String> {
    parse_lease(value).ok_or_else(|| format!("must be between 0 and {MAX_LEASE}"))
}

fn parse_switch(value: &[u8]) -> Result<bool, String> {
    match value.to_ascii_lowercase().as_slice() {
        b"1" | b"on" | b"yes" | b"true" => Ok(true),
        b"" | b"0" | b"off" | b"no" | b"false" => Ok(false),
        _ => Err("must be 0 or 1".to_owned()),
    }
}

fn parse_shm_size(value: &[u8]) -> Result<u64, String> {
    parse_size(value)
        .filter(|size| (MIN_SHM_SIZE..=MAX_SHM_SIZE).contains(size))
        .ok_or_else(|| "must be a size between 64K and 64G, such as 8M".to_owned())
}

fn parse_limits(value: &[u8]) -> Result<PathBuf, String> {
    parse_path(value, "file")
}

fn parse_shm_path(value: &[u8]) -> Result<PathBuf, String> {
    parse_path(value, "directory")
}

/// Parses the absolute path of a file or directory, or nothing.
fn parse_path(value: &[u8], of: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(OsStr::from_bytes(value));
    match value.is_empty() || path.is_absolute() {
        true => Ok(path),
        false => Err(format!("must be the absolute path of a {of}, or empty")),
    }
}

/// Parses a size as php.ini writes it: digits, then K, M or G for a power of 1024, or nothing for bytes.
fn parse_size(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?.trim();
    let (digits, shift) = match text.as_bytes().last()? {
        b'k' | b'K' => (text.get(..text.len() - 1)?, 10),
        b'm' | b'M' => (text.get(..text.len() - 1)?, 20),
        b'g' | b'G' => (text.get(..text.len() - 1)?, 30),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_is_read_as_php_writes_it() {
        assert_eq!(parse_size(b"8M"), Some(8 << 20));
        assert_eq!(parse_size(b"64k"), Some(64 << 10));
        assert_eq!(parse_size(b" 1G "), Some(1 << 30));
        assert_eq!(parse_size(b"65536"), Some(65536));
        for invalid in [&b""[..], b"M", b"8MB", b"-1M", b"1.5M", b"99999999999999999999", b"x"] {
            assert_eq!(parse_size(invalid), None);
        }
    }

    #[test]
    fn default_of_every_directive_is_accepted() {
        let directives = Directives::default();
        for row in &DIRECTIVES {
            let set = (row.set)(&directives, row.default.to_bytes(), ValueSource::PhpIni);
            assert_eq!(set, Ok(()), "{:?}", row.name);
        }
        assert_eq!(directives.shm_size.get(), 8 << 20);
        assert!(directives.enforce.get());
    }

    #[test]
    fn directive_has_the_name_of_its_field() {
        for (row, field) in DIRECTIVES.iter().zip(FIELDS) {
            assert_eq!(row.name.to_str().unwrap(), format!("token_bucket.{field}"));
        }
    }
}
