//! The values of settings, and their parsers. A parser that refuses a value returns what the value must be.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// What to answer when the store fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// Enforce the same limit in this host's shared memory.
    #[default]
    Fallback,
    /// Accept every call.
    Open,
    /// Deny every call.
    Closed,
    /// Throw an exception.
    Throw,
}

impl OnError {
    const ALL: [Self; 4] = [Self::Fallback, Self::Open, Self::Closed, Self::Throw];

    /// The name of the policy.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fallback => "fallback",
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Throw => "throw",
        }
    }
}

/// The longest prefix, in bytes.
pub const MAX_PREFIX: usize = 64;

/// The longest time-out: a minute, in milliseconds.
pub const MAX_TIMEOUT_MS: u64 = 60_000;

/// The most tokens that a host may take ahead.
pub const MAX_LEASE: u32 = 4_095;

/// The smallest table of shared memory, in bytes.
pub const MIN_SHM_SIZE: u64 = 64 << 10;

/// The largest table of shared memory, in bytes.
pub const MAX_SHM_SIZE: u64 = 64 << 30;

pub(super) fn parse_prefix(value: &[u8]) -> Result<Vec<u8>, String> {
    match value.len() <= MAX_PREFIX {
        true => Ok(value.to_vec()),
        false => Err(format!("at most {MAX_PREFIX} bytes")),
    }
}

pub(super) fn parse_on_error(value: &[u8]) -> Result<OnError, String> {
    let policy = OnError::ALL.into_iter().find(|policy| policy.name().as_bytes() == value);
    policy.ok_or_else(|| "\"fallback\", \"open\", \"closed\" or \"throw\"".to_owned())
}

pub(super) fn parse_switch(value: &[u8]) -> Result<bool, String> {
    match value.to_ascii_lowercase().as_slice() {
        b"1" | b"on" | b"yes" | b"true" => Ok(true),
        b"0" | b"off" | b"no" | b"false" => Ok(false),
        _ => Err("0, 1, off or on".to_owned()),
    }
}

pub(super) fn parse_lease(value: &[u8]) -> Result<u32, String> {
    let tokens = parse_number(value).filter(|tokens| *tokens <= MAX_LEASE);
    tokens.ok_or_else(|| format!("between 0 and {MAX_LEASE}"))
}

pub(super) fn parse_timeout(value: &[u8]) -> Result<Duration, String> {
    let ms = parse_number(value).filter(|ms| (1..=MAX_TIMEOUT_MS).contains(ms));
    ms.map(Duration::from_millis)
        .ok_or_else(|| format!("milliseconds between 1 and {MAX_TIMEOUT_MS}"))
}

pub(super) fn parse_shm_size(value: &[u8]) -> Result<u64, String> {
    parse_size(value)
        .filter(|size| (MIN_SHM_SIZE..=MAX_SHM_SIZE).contains(size))
        .ok_or_else(|| "a size between 64K and 64G, such as 8M".to_owned())
}

pub(super) fn parse_file(value: &[u8]) -> Result<PathBuf, String> {
    parse_path(value, "file")
}

pub(super) fn parse_directory(value: &[u8]) -> Result<PathBuf, String> {
    parse_path(value, "directory")
}

/// Parses the absolute path of a file or directory, or nothing.
fn parse_path(value: &[u8], of: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(OsStr::from_bytes(value));
    match value.is_empty() || path.is_absolute() {
        true => Ok(path),
        false => Err(format!("the absolute path of a {of}, or empty")),
    }
}

fn parse_number<T: FromStr>(value: &[u8]) -> Option<T> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// Parses a size as php.ini writes it: digits, then K, M or G for a power of 1024, or nothing for bytes.
fn parse_size(value: &[u8]) -> Option<u64> {
    let value = value.trim_ascii();
    let (digits, shift) = match value {
        [digits @ .., b'k' | b'K'] => (digits, 10),
        [digits @ .., b'm' | b'M'] => (digits, 20),
        [digits @ .., b'g' | b'G'] => (digits, 30),
        _ => (value, 0),
    };
    parse_number::<u64>(digits)?.checked_mul(1 << shift)
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
    fn switch_without_a_value_is_refused() {
        assert_eq!(parse_switch(b"Off"), Ok(false));
        assert_eq!(parse_switch(b"1"), Ok(true));
        assert_eq!(parse_switch(b""), Err("0, 1, off or on".to_owned()));
    }
}
