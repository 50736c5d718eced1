//! What the directives and a DSN set about the decisions of a store.

use crate::dsn::{DsnOverrides, OnError};

/// What the limiter does around the store's decisions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Policy {
    /// What to answer when a store fails.
    pub on_error: OnError,
    /// Whether this host remembers a server's denials.
    pub deny_cache: bool,
    /// Whether a denial denies. In a dry run it is only counted.
    pub enforce: bool,
    /// How many tokens of a busy bucket on servers this host takes ahead at most; 0: none.
    pub lease: u32,
    /// Whether the identifiers that are denied most often are counted.
    pub track_identifiers: bool,
    /// Whether likely mistakes give a warning: two limits on one identifier, root's own tables.
    pub warn_of_mistakes: bool,
}

impl Policy {
    /// The policy, with what a DSN sets in its place.
    #[must_use]
    pub fn overridden_by(self, options: &DsnOverrides) -> Self {
        Self {
            on_error: options.on_error.unwrap_or(self.on_error),
            enforce: options.enforce.unwrap_or(self.enforce),
            lease: options.lease.unwrap_or(self.lease),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dsn_sets_its_own_in_place_of_the_directives() {
        let directives = Policy { lease: 5, deny_cache: true, ..Policy::default() };
        let none = DsnOverrides::default();
        assert_eq!(directives.overridden_by(&none), directives);
        let all = DsnOverrides {
            on_error: Some(OnError::Open),
            enforce: Some(true),
            lease: Some(7),
            ..none
        };
        let set = Policy { on_error: OnError::Open, enforce: true, lease: 7, ..directives };
        assert_eq!(directives.overridden_by(&all), set);
    }
}
