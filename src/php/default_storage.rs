//! `token_bucket.storage`: the storage of `new TokenBucket(null, ...)`.
//!
//! While the value of php.ini, the pool or the request is invalid there is no default storage: any other
//! store would enforce other limits, and the application would not notice.

use crate::dsn::parse_in_ini;
use crate::error::Error;
use parking_lot::RwLock;
use std::cell::RefCell;
use std::ffi::CStr;

/// The name of the directive.
pub const DIRECTIVE: &CStr = c"token_bucket.storage";

/// Where a directive's value comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ValueSource {
    /// php.ini, or the default that takes the place of an invalid value in php.ini.
    PhpIni,
    /// The FPM pool, when a worker starts.
    Pool,
    /// The web server, for one request.
    Request,
    /// `ini_set()`.
    Script,
    /// The value from before it was set: at the end of a request, or by `ini_restore()`.
    Restored,
}

/// The error of php.ini's value. Shared by all threads: in a thread-safe PHP only the first one is given
/// that value, the others are given the default.
static PHP_INI_ERROR: RwLock<Option<String>> = RwLock::new(None);

/// The value of the directive, and what the pool and the request or script made of it.
#[derive(Default)]
pub struct DefaultStorage {
    dsn: RefCell<String>,
    pool: RefCell<Given>,
    /// That of the request or the script, which counts before the pool's.
    request: RefCell<Given>,
}

/// What a pool or a request has set.
#[derive(Default)]
enum Given {
    #[default]
    None,
    Valid,
    /// With the error.
    Invalid(String),
}

impl DefaultStorage {
    /// The DSN.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Configuration`](crate::error::ErrorKind::Configuration) if the value of php.ini, the pool or the request is invalid.
    pub fn dsn(&self) -> Result<String, Error> {
        match self.error() {
            Some(message) => Err(Error::configuration(message)),
            None => Ok(self.dsn.borrow().clone()),
        }
    }

    /// The error of the value that counts: the request's, else the pool's, else php.ini's.
    fn error(&self) -> Option<String> {
        for setting in [&self.request, &self.pool] {
            match &*setting.borrow() {
                Given::None => {}
                Given::Valid => return None,
                Given::Invalid(message) => return Some(message.clone()),
            }
        }
        PHP_INI_ERROR.read().clone()
    }

    /// Whether the DSN is the request's or the script's.
    pub fn is_set_by_request(&self) -> bool {
        matches!(*self.request.borrow(), Given::Valid)
    }

    /// Forgets the error of php.ini's value, before php.ini is read.
    pub fn forget_php_ini_error() {
        PHP_INI_ERROR.write().take();
    }

    /// Forgets the error of the request that ends. Returns whether there was one.
    pub fn end_request(&self) -> bool {
        matches!(self.request.take(), Given::Invalid(_))
    }

    /// Replaces the DSN by a valid one.
    fn assign(&self, dsn: String, source: ValueSource) {
        self.dsn.replace(dsn);
        match source {
            // At startup the engine sets the default after it refused php.ini's value: the error stays.
            ValueSource::PhpIni => {}
            ValueSource::Pool => drop(self.pool.replace(Given::Valid)),
            ValueSource::Request | ValueSource::Script => {
                self.request.replace(Given::Valid);
            }
            ValueSource::Restored => drop(self.request.take()),
        }
    }

    /// Notes that a value was refused for the reason in `message`. Returns whether the value before it stays in force.
    pub fn refuse(&self, message: &str, source: ValueSource) -> bool {
        let invalid = || Given::Invalid(message.to_owned());
        match source {
            ValueSource::PhpIni => *PHP_INI_ERROR.write() = Some(message.to_owned()),
            ValueSource::Pool => drop(self.pool.replace(invalid())),
            ValueSource::Request => drop(self.request.replace(invalid())),
            ValueSource::Script | ValueSource::Restored => {}
        }
        source == ValueSource::Script
    }

    /// Sets the DSN, or returns what the value must be.
    pub fn set(&self, value: &[u8], source: ValueSource) -> Result<(), String> {
        let dsn = String::from_utf8_lossy(value).into_owned();
        parse_in_ini(&dsn).map_err(|error| format!("a storage DSN ({error})"))?;
        self.assign(dsn, source);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets a value as the engine does. Returns whether it is accepted.
    fn set(storage: &DefaultStorage, value: &str, source: ValueSource) -> bool {
        storage
            .set(value.as_bytes(), source)
            .inspect_err(|message| {
                storage.refuse(message, source);
            })
            .is_ok()
    }

    #[test]
    fn error_of_the_pool_outlasts_what_a_script_or_a_request_sets() {
        let storage = DefaultStorage::default();
        assert!(set(&storage, "shm:", ValueSource::PhpIni));
        assert!(!set(&storage, "reddis:", ValueSource::Pool));
        assert!(storage.dsn().is_err());
        assert!(set(&storage, "array:", ValueSource::Script));
        assert_eq!(storage.dsn().unwrap(), "array:");
        assert!(set(&storage, "shm:", ValueSource::Restored));
        assert!(storage.dsn().is_err(), "the script has ended");
        assert!(!set(&storage, "nowhere:", ValueSource::Request));
        assert!(storage.end_request());
        assert!(storage.dsn().unwrap_err().to_string().contains("reddis"));
        assert!(set(&storage, "shm:pool", ValueSource::Pool));
        assert_eq!(storage.dsn().unwrap(), "shm:pool");
    }

    #[test]
    fn valid_value_of_the_pool_outlasts_a_script() {
        let storage = DefaultStorage::default();
        assert!(!set(&storage, "reddis:", ValueSource::Pool));
        assert!(set(&storage, "shm:pool", ValueSource::Pool));
        assert!(set(&storage, "array:", ValueSource::Script));
        assert!(set(&storage, "shm:pool", ValueSource::Restored));
        assert_eq!(storage.dsn().unwrap(), "shm:pool");
    }

    #[test]
    fn error_of_a_request_ends_with_the_next_valid_value() {
        let storage = DefaultStorage::default();
        assert!(set(&storage, "shm:", ValueSource::PhpIni));
        assert!(!set(&storage, "nowhere:", ValueSource::Request));
        assert!(storage.dsn().is_err());
        assert!(set(&storage, "array:", ValueSource::Script));
        assert!(storage.dsn().is_ok());
    }

    #[test]
    fn invalid_value_of_a_script_changes_nothing() {
        let storage = DefaultStorage::default();
        assert!(set(&storage, "array:", ValueSource::Script));
        assert!(!set(&storage, "nowhere:", ValueSource::Script));
        assert_eq!(storage.dsn().unwrap(), "array:");
    }
}
