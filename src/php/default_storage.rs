//! `token_bucket.storage`: the storage of `new TokenBucket(null, ...)`.
//!
//! Where php.ini or a pool says something that is no DSN there is no default storage: another one would
//! enforce other limits, unnoticed.

use crate::dsn::Dsn;
use crate::error::Error;
use std::cell::{Cell, RefCell};
use std::sync::{PoisonError, RwLock};

/// What is wrong with php.ini's value. In a thread-safe PHP the first thread alone is given that value; the
/// others are given the default.
static PHP_INI_ERROR: RwLock<Option<String>> = RwLock::new(None);

/// The directive's value, and what is wrong with those that were refused.
#[derive(Default)]
pub struct DefaultStorage {
    dsn: RefCell<String>,
    /// Of the pool's value.
    pool_error: RefCell<Option<String>>,
    /// Of the value that the web server gave with the request that is running.
    request_error: RefCell<Option<String>>,
    /// Whether the pool has a value that is valid.
    has_pool: Cell<bool>,
    /// Whether a request or a script has.
    is_overridden: Cell<bool>,
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// php.ini, or the default in the place of what it says.
    PhpIni,
    /// The pool, when a worker starts.
    Pool,
    /// The web server, for a request.
    Request,
    /// `ini_set()`.
    Script,
    /// The end of a request, or `ini_restore()`: the value from before it was set.
    Restored,
}

impl DefaultStorage {
    /// The DSN.
    ///
    /// # Errors
    ///
    /// [`Error::Configuration`] with what is wrong in php.ini, in the pool or in what the web server says.
    pub fn dsn(&self) -> Result<String, Error> {
        match self.error() {
            Some(message) => Err(Error::configuration(message)),
            None => Ok(self.dsn.borrow().clone()),
        }
    }

    /// What is wrong with the value that counts: the request's, then the pool's, then php.ini's.
    fn error(&self) -> Option<String> {
        if let Some(message) = &*self.request_error.borrow() {
            return Some(message.clone());
        }
        if self.is_overridden.get() || self.has_pool.get() {
            return None;
        }
        let of_pool = self.pool_error.borrow().clone();
        of_pool.or_else(|| PHP_INI_ERROR.read().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Forgets what was wrong with php.ini: it is read anew.
    pub fn begin() {
        PHP_INI_ERROR.write().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Takes a value over, or says what it must be.
    pub fn set(&self, value: &str, source: Source) -> Result<(), String> {
        Dsn::parse(value).map_err(|error| format!("must be a storage DSN ({error})"))?;
        self.dsn.replace(value.to_owned());
        self.request_error.take();
        match source {
            // At startup the default comes after a value that was refused.
            Source::PhpIni => {}
            Source::Pool => self.has_pool.set(true),
            Source::Request | Source::Script => self.is_overridden.set(true),
            Source::Restored => self.is_overridden.set(false),
        }
        Ok(())
    }

    /// Notes that a value was refused.
    pub fn refuse(&self, message: String, source: Source) {
        match source {
            Source::PhpIni => {
                *PHP_INI_ERROR.write().unwrap_or_else(PoisonError::into_inner) = Some(message);
            }
            Source::Pool => {
                self.has_pool.set(false);
                self.pool_error.replace(Some(message));
            }
            Source::Request => {
                self.request_error.replace(Some(message));
            }
            // The value from before stays.
            Source::Script | Source::Restored => {}
        }
    }

    /// Forgets what was wrong with the request that ends; whether anything was.
    pub fn end_request(&self) -> bool {
        self.request_error.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(storage: &DefaultStorage, value: &str, source: Source) -> bool {
        let wrong = storage.set(value, source);
        wrong.is_err_and(|message| {
            storage.refuse(message, source);
            true
        })
    }

    #[test]
    fn pools_error_outlasts_what_a_script_or_request_sets() {
        let storage = DefaultStorage::default();
        storage.set("shm:", Source::PhpIni).unwrap();
        assert!(is_refused(&storage, "reddis:", Source::Pool));
        assert!(storage.dsn().is_err());
        storage.set("array:", Source::Script).unwrap();
        assert_eq!(storage.dsn().unwrap(), "array:");
        storage.set("shm:", Source::Restored).unwrap();
        assert!(storage.dsn().is_err(), "the script is over");
        assert!(is_refused(&storage, "nowhere:", Source::Request));
        assert!(storage.end_request());
        assert!(storage.dsn().unwrap_err().to_string().contains("reddis"));
        storage.set("shm:pool", Source::Pool).unwrap();
        assert_eq!(storage.dsn().unwrap(), "shm:pool");
    }

    #[test]
    fn valid_value_of_a_pool_outlasts_a_script() {
        let storage = DefaultStorage::default();
        assert!(is_refused(&storage, "reddis:", Source::Pool));
        storage.set("shm:pool", Source::Pool).unwrap();
        storage.set("array:", Source::Script).unwrap();
        storage.set("shm:pool", Source::Restored).unwrap();
        assert_eq!(storage.dsn().unwrap(), "shm:pool");
    }

    #[test]
    fn requests_error_ends_with_it() {
        let storage = DefaultStorage::default();
        storage.set("shm:", Source::PhpIni).unwrap();
        assert!(is_refused(&storage, "nowhere:", Source::Request));
        assert!(storage.dsn().is_err());
        assert!(!is_refused(&storage, "array:", Source::Script));
        assert!(storage.dsn().is_ok());
        assert!(is_refused(&storage, "nowhere:", Source::Script));
        assert_eq!(storage.dsn().unwrap(), "array:", "what a script sets wrongly changes nothing");
    }
}
