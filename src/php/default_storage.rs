//! `token_bucket.storage`: the storage of `new TokenBucket(null, ...)`.
//!
//! Where php.ini or a pool says something that is no DSN there is no default storage: another one would
//! enforce other limits, unnoticed.

use crate::dsn::Dsn;
use crate::error::Error;
use std::cell::{Cell, RefCell};
use std::sync::OnceLock;

/// What is wrong with php.ini's value. The engine tells one thread of it, and the others the default.
static PHP_INI_ERROR: OnceLock<String> = OnceLock::new();

/// The directive's value, and what is wrong with those that were refused.
#[derive(Default)]
pub struct DefaultStorage {
    dsn: RefCell<String>,
    /// Of the pool's value.
    pool_error: RefCell<Option<String>>,
    /// Of the value that the web server gave with the request that is running.
    request_error: RefCell<Option<String>>,
    /// Whether a valid value has taken the place of php.ini's and the pool's.
    is_overridden: Cell<bool>,
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// php.ini, or the default in the place of what it says.
    PhpIni,
    /// The pool, before the first request.
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
        let request_error = self.request_error.borrow();
        let pool_error = self.pool_error.borrow();
        let permanent = || pool_error.as_ref().or_else(|| PHP_INI_ERROR.get());
        match request_error.as_ref().or_else(|| permanent().filter(|_| !self.is_overridden.get())) {
            Some(message) => Err(Error::configuration(message.clone())),
            None => Ok(self.dsn.borrow().clone()),
        }
    }

    /// Takes a value over, or says what it must be.
    pub fn set(&self, value: &str, source: Source) -> Result<(), String> {
        Dsn::parse(value).map_err(|error| format!("must be a storage DSN ({error})"))?;
        self.dsn.replace(value.to_owned());
        self.request_error.take();
        match source {
            // At startup the default comes after a value that was refused.
            Source::PhpIni => {}
            Source::Restored => self.is_overridden.set(false),
            Source::Pool | Source::Request | Source::Script => self.is_overridden.set(true),
        }
        Ok(())
    }

    /// Notes that a value was refused.
    pub fn refuse(&self, message: String, source: Source) {
        match source {
            Source::PhpIni => drop(PHP_INI_ERROR.set(message)),
            Source::Pool => drop(self.pool_error.replace(Some(message))),
            Source::Request => drop(self.request_error.replace(Some(message))),
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
