//! What the directives set, and what a DSN sets in their place.

use crate::dsn::DsnOverrides;
use crate::guard::Policy;
use crate::mapped::FileSettings;
use crate::net::Timeouts;

/// What the directives set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// What a store needs to know.
    pub store: StoreSettings,
    /// What the limiter does around the store's decisions.
    pub policy: Policy,
}

/// What a store needs to know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreSettings {
    /// Where shared memory's files are.
    pub files: FileSettings,
    /// How long a server may take.
    pub timeouts: Timeouts,
}

impl StoreSettings {
    /// The time-outs, with those that a DSN sets in their place.
    pub fn timeouts_overridden_by(&self, options: &DsnOverrides) -> Timeouts {
        Timeouts {
            call: options.timeout.unwrap_or(self.timeouts.call),
            connect: options.connect_timeout.unwrap_or(self.timeouts.connect),
        }
    }
}
