//! `token_bucket.storage`: the storage of `new TokenBucket(null, ...)`.
//!
//! While the value of php.ini, the pool or the request is invalid there is no default storage: any other
//! store would enforce other limits, and the application would not notice.

use super::engine::directive_cell::{DirectiveValue, ValueSource};
use crate::dsn::Dsn;
use crate::error::Error;
use parking_lot::RwLock;
use std::cell::{Cell, RefCell};

/// The error of php.ini's value. Shared by all threads: in a thread-safe PHP only the first one is given
/// that value, the others are given the default.
static PHP_INI_ERROR: RwLock<Option<String>> = RwLock::new(None);

/// The value of the directive, and the errors of the values that were refused.
#[derive(Default)]
pub struct DefaultStorage {
    dsn: RefCell<String>,
    /// The error of the pool's value.
    pool_error: RefCell<Option<String>>,
    /// The error of the value that the web server gave with the current request.
    request_error: RefCell<Option<String>>,
    /// Whether the pool has a valid value.
    has_pool_value: Cell<bool>,
    /// Whether the request or the script has a valid value.
    is_overridden: Cell<bool>,
}

impl DefaultStorage {
    /// The DSN.
    ///
    /// # Errors
    ///
    /// [`Error::Configuration`] if the value of php.ini, the pool or the request is invalid.
    pub fn dsn(&self) -> Result<String, Error> {
        match self.error() {
            Some(message) => Err(Error::configuration(message)),
            None => Ok(self.dsn.borrow().clone()),
        }
    }

    /// The error of the value that counts: the request's, else the pool's, else php.ini's.
    fn error(&self) -> Option<String> {
        if let Some(message) = &*self.request_error.borrow() {
            return Some(message.clone());
        }
        if self.is_overridden.get() || self.has_pool_value.get() {
            return None;
        }
        let pool_error = self.pool_error.borrow().clone();
        pool_error.or_else(|| PHP_INI_ERROR.read().clone())
    }

    /// Forgets the error of php.ini's value, before php.ini is read.
    pub fn forget_php_ini_error() {
        PHP_INI_ERROR.write().take();
    }

    /// Forgets the error of the request that ends. Returns whether there was one.
    pub fn end_request(&self) -> bool {
        self.request_error.take().is_some()
    }
}

impl DirectiveValue for DefaultStorage {
    /// A valid DSN.
    type Value = String;

    const IS_SECRET: bool = true;

    fn assign(&self, dsn: String, source: ValueSource) {
        self.dsn.replace(dsn);
        self.request_error.take();
        match source {
            // At startup the engine sets the default after it refused php.ini's value: the error stays.
            ValueSource::PhpIni => {}
            ValueSource::Pool => self.has_pool_value.set(true),
            ValueSource::Request | ValueSource::Script => self.is_overridden.set(true),
            ValueSource::Restored => self.is_overridden.set(false),
        }
    }

    fn refuse(&self, message: &str, source: ValueSource) -> bool {
        let message = Some(message.to_owned());
        match source {
            ValueSource::PhpIni => *PHP_INI_ERROR.write() = message,
            ValueSource::Pool => {
                self.has_pool_value.set(false);
                self.pool_error.replace(message);
            }
            ValueSource::Request => {
                self.request_error.replace(message);
            }
            ValueSource::Script | ValueSource::Restored => {}
        }
        source == ValueSource::Script
    }
}

/// Checks that a value is a DSN.
pub fn parse_storage(value: &[u8]) -> Result<String, String> {
    let dsn = String::from_utf8_lossy(value).into_owned();
    match Dsn::parse(&dsn) {
        Ok(_) => Ok(dsn),
        Err(error) => Err(format!("must be a storage DSN ({error})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets a value as the engine does. Returns whether it is accepted.
    fn set(storage: &DefaultStorage, value: &str, source: ValueSource) -> bool {
        match parse_storage(value.as_bytes()) {
            Ok(dsn) => storage.assign(dsn, source),
            Err(message) => {
                storage.refuse(&message, source);
                return false;
            }
        }
        true
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
