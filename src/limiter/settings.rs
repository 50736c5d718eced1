//! What a limiter does, besides what its limit says.

use crate::dsn::{OnError, Options};
use crate::store::{FileSettings, Timeouts};

/// What the directives say, or a DSN in their place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Where shared memory's files are.
    pub files: FileSettings,
    /// How long a server may take.
    pub timeouts: Timeouts,
    /// What to answer when a store fails.
    pub on_error: OnError,
    /// Whether a server's denials are remembered by this host.
    pub deny_cache: bool,
    /// Whether limits are enforced, or only counted.
    pub enforce: bool,
    /// Whether the identifiers that are denied most are counted.
    pub track_identifiers: bool,
}

impl Settings {
    /// The settings, with what a DSN says instead.
    #[must_use]
    pub fn overridden_by(&self, options: &Options) -> Self {
        Self {
            timeouts: Timeouts {
                call: options.timeout.unwrap_or(self.timeouts.call),
                connect: options.connect_timeout.unwrap_or(self.timeouts.connect),
            },
            on_error: options.on_error.unwrap_or(self.on_error),
            enforce: options.enforce.unwrap_or(self.enforce),
            ..self.clone()
        }
    }
}
