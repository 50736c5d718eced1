//! The settings: one table of their names, types, defaults, scopes and parsers.
//!
//! Each is a directive; some can be set in a DSN or in a section of the file of limits, too. All of these use the row's
//! parser, and [`Settings::override_with`] puts what they set in place of what counts less: a section overrides the
//! directives, and a DSN overrides both.

mod value;

use std::ffi::CStr;
use std::path::PathBuf;
use std::time::Duration;
pub use value::{MAX_LEASE, MAX_PREFIX, MAX_SHM_SIZE, MAX_TIMEOUT_MS, MIN_SHM_SIZE, OnError};
use value::{
    parse_directory, parse_file, parse_lease, parse_on_error, parse_prefix, parse_shm_size,
    parse_switch, parse_timeout,
};

/// One row of the table of settings.
pub struct Setting {
    /// The name in a DSN and in a section.
    pub name: &'static str,
    /// The name of the directive, with `token_bucket.` in front.
    pub directive: &'static CStr,
    /// The default, as php.ini would write it.
    pub default: &'static CStr,
    /// Where it may be set.
    pub scope: Scope,
    /// Parses a value, or returns what the value must be.
    pub set: fn(&mut Overrides, &[u8]) -> Result<(), String>,
}

/// Where a setting may be set. Each scope includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// In php.ini and for a pool.
    PhpIniOrPool,
    /// By the web server and by `ini_set()`.
    Script,
    /// In a DSN.
    Dsn,
    /// In a section of the file of limits.
    Section,
}

impl Setting {
    /// The settings that can be set in this scope.
    pub fn in_scope(scope: Scope) -> impl Iterator<Item = &'static Self> {
        SETTINGS.iter().filter(move |setting| setting.scope >= scope)
    }

    /// The setting of this name, if it can be set in this scope.
    pub fn find(name: &str, scope: Scope) -> Option<&'static Self> {
        Self::in_scope(scope).find(|setting| setting.name == name)
    }
}

/// Declares the table and the structs that hold the values, from rows of `name: type = default, scope, parser;`.
macro_rules! settings {
    ($(
        $(#[$doc:meta])+
        $name:ident: $type:ty = $default:literal, $scope:ident, $parse:path;
    )+) => {
        /// The values of all settings.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Settings {
            $($(#[$doc])+ pub $name: $type,)+
        }

        /// The values of the settings that a directive, a DSN or a section sets.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct Overrides {
            $($(#[$doc])+ pub $name: Option<$type>,)+
        }

        /// The table of settings, in the order in which phpinfo() shows them.
        pub static SETTINGS: [Setting; [$($default),+].len()] = [$(Setting {
            name: stringify!($name),
            directive: c_str(concat!("token_bucket.", stringify!($name), "\0")),
            default: $default,
            scope: Scope::$scope,
            set: |overrides, value| {
                overrides.$name = Some($parse(value)?);
                Ok(())
            },
        }),+];

        impl Default for Settings {
            fn default() -> Self {
                Self { $($name: $parse($default.to_bytes()).unwrap_or_default(),)+ }
            }
        }

        impl Settings {
            /// Puts the values that `overrides` has in place of these.
            pub fn override_with(&mut self, overrides: &Overrides) {
                $(if let Some(value) = &overrides.$name {
                    self.$name.clone_from(value);
                })+
            }
        }
    };
}

// A new setting is one row here, and the code that reads its field. `php-tests/03_ini/defaults.phpt` then asks for its
// line in `token_bucket.ini` and in `docs/configuration.md`, and `bad_values_each.phpt` for an invalid value.
settings! {
    /// The bytes before every identifier.
    prefix: Vec<u8> = c"tb:", Dsn, parse_prefix;
    /// What answers a call when a store on servers fails.
    on_error: OnError = c"fallback", Section, parse_on_error;
    /// Whether a denial denies. In a dry run it is only counted.
    enforce: bool = c"1", Section, parse_switch;
    /// How many tokens of a busy bucket or window on servers this host takes ahead at most; 0: none.
    lease: u32 = c"0", Dsn, parse_lease;
    /// How long a call on a server may take.
    timeout_ms: Duration = c"50", Dsn, parse_timeout;
    /// How much longer a call may take that has to connect first.
    connect_timeout_ms: Duration = c"100", Dsn, parse_timeout;
    /// Whether this host remembers the denials of stores on servers.
    deny_cache: bool = c"1", Script, parse_switch;
    /// Whether `statistics()`, `denials()` and `status()` name the identifiers that are denied or blocked.
    track_identifiers: bool = c"1", Script, parse_switch;
    /// Whether likely mistakes give a warning: two limits on one identifier, root's own tables.
    warn_of_mistakes: bool = c"1", Script, parse_switch;
    /// The size of a new shared-memory table, in bytes.
    shm_size: u64 = c"8M", PhpIniOrPool, parse_shm_size;
    /// The directory below which each user has a directory for tables; empty for `/dev/shm`.
    shm_path: PathBuf = c"", PhpIniOrPool, parse_directory;
    /// The file of the limits that `TokenBucket\limiter()` finds by name; empty for none.
    limits: PathBuf = c"", PhpIniOrPool, parse_file;
    /// Whether scripts may use `TokenBucket\TestClock`.
    test_clock: bool = c"0", PhpIniOrPool, parse_switch;
}

const fn c_str(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => c"",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_of_every_setting_is_accepted() {
        let mut defaults = Overrides::default();
        for setting in &SETTINGS {
            let set = (setting.set)(&mut defaults, setting.default.to_bytes());
            assert_eq!(set, Ok(()), "{}", setting.name);
        }
        let settings = Settings::default();
        assert_eq!(defaults.shm_size, Some(settings.shm_size));
        assert_eq!((settings.shm_size, settings.prefix.as_slice()), (8 << 20, &b"tb:"[..]));
        assert!(settings.enforce);
    }

    #[test]
    fn directive_has_the_name_of_its_setting() {
        for Setting { name, directive, .. } in &SETTINGS {
            assert_eq!(directive.to_str().unwrap(), format!("token_bucket.{name}"));
        }
    }

    #[test]
    fn scope_includes_those_before_it() {
        let is_found = |name, scope| Setting::find(name, scope).is_some();
        assert!(is_found("on_error", Scope::Section) && is_found("on_error", Scope::Dsn));
        assert!(!is_found("lease", Scope::Section) && is_found("lease", Scope::Dsn));
        assert!(!is_found("deny_cache", Scope::Dsn) && !is_found("shm_size", Scope::Script));
        assert!(!is_found("leases", Scope::PhpIniOrPool));
    }

    #[test]
    fn overrides_replace_what_they_set_and_nothing_else() {
        let before =
            Settings { lease: 5, timeout_ms: Duration::from_secs(3), ..Settings::default() };
        let mut settings = before.clone();
        settings.override_with(&Overrides::default());
        assert_eq!(settings, before);
        settings.override_with(&Overrides {
            prefix: Some(vec![]),
            enforce: Some(false),
            lease: Some(7),
            ..Overrides::default()
        });
        assert_eq!(settings, Settings { prefix: vec![], enforce: false, lease: 7, ..before });
    }
}
