//! The parameters of a DSN that override directives.

use std::time::Duration;

/// The parameters of a DSN that override directives; absent where the directive counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DsnOverrides {
    /// `prefix`: stands before every identifier.
    pub prefix: Option<Vec<u8>>,
    /// `on_error`: what to answer when the store fails.
    pub on_error: Option<OnError>,
    /// `enforce`: whether a denial denies, or is only counted.
    pub enforce: Option<bool>,
    /// `lease`: how many tokens of a busy bucket a host takes ahead at most.
    pub lease: Option<u32>,
    /// `timeout_ms`: the time-out of a call.
    pub timeout: Option<Duration>,
    /// `connect_timeout_ms`: the time-out of a connection.
    pub connect_timeout: Option<Duration>,
}

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
    /// The accepted values, for messages.
    pub const VALUES: &'static str = "\"fallback\", \"open\", \"closed\" or \"throw\"";

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

    /// The policy of this name.
    pub fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.name().as_bytes() == name)
    }
}

/// The longest prefix, in bytes.
pub const MAX_PREFIX: usize = 64;

/// The longest time-out: a minute, in milliseconds.
pub const MAX_TIMEOUT_MS: u64 = 60_000;

/// The most tokens that a host may take ahead.
pub const MAX_LEASE: u32 = 4_095;

/// Parses how many tokens a host takes ahead, which must be within 0 and [`MAX_LEASE`].
pub fn parse_lease(value: &[u8]) -> Option<u32> {
    let tokens: u32 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (tokens <= MAX_LEASE).then_some(tokens)
}

/// Parses a time-out in milliseconds, which must be within 1 and [`MAX_TIMEOUT_MS`].
pub fn parse_timeout_ms(value: &[u8]) -> Option<Duration> {
    let ms: u64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (1..=MAX_TIMEOUT_MS).contains(&ms).then(|| Duration::from_millis(ms))
}
