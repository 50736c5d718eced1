//! A limit on a store: from a caller's words to a decision.

use crate::dsn::Dsn;
use crate::error::Result;
use crate::limit::{Decision, Op, TokenBucket};
use crate::store::{self, Key, Place, Settings, Store};
use std::cell::Cell;

/// The longest identifier, in bytes.
pub const MAX_IDENTIFIER: usize = 4096;

/// Whose bucket it is.
#[derive(Clone, Copy)]
pub enum Subject<'a> {
    /// An identifier, as the application made it.
    Identifier(&'a [u8]),
    /// A client of an application: `login` and `192.0.2.1`.
    Client {
        /// The application's name.
        name: &'a [u8],
        /// The client's.
        id: &'a [u8],
    },
}

/// A store, and what stands before all keys in it.
pub struct Limiter {
    store: Box<dyn Store>,
    prefix: Vec<u8>,
}

impl Limiter {
    /// The limiter on the store of `dsn`; the DSN's own prefix goes before `prefix`.
    ///
    /// Opens nothing yet: the first decision does, in the process that makes it.
    pub fn new(dsn: &Dsn, prefix: &[u8], settings: &Settings) -> Self {
        Self {
            store: store::open(&dsn.target, settings),
            prefix: dsn.prefix.clone().unwrap_or_else(|| prefix.to_vec()),
        }
    }

    /// Decides on one call.
    ///
    /// `place` must be new for each subject and limiter, or be kept with both. `now` is the
    /// frozen time of a test.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::error::Error::Storage) if the store cannot be reached.
    pub fn decide(
        &self,
        subject: Subject<'_>,
        place: &Cell<Place>,
        limit: &TokenBucket,
        op: Op,
        now: Option<u64>,
    ) -> Result<Decision> {
        self.with_key(subject, place, |key| self.store.decide(key, limit, op, now))
    }

    /// As [`decide`](Self::decide), where nobody asks for more than yes or no.
    ///
    /// # Errors
    ///
    /// As [`decide`](Self::decide).
    #[inline(always)]
    pub fn admits(
        &self,
        subject: Subject<'_>,
        place: &Cell<Place>,
        limit: &TokenBucket,
        op: Op,
        now: Option<u64>,
    ) -> Result<bool> {
        self.with_key(subject, place, |key| self.store.admits(key, limit, op, now))
    }

    #[inline(always)]
    fn with_key<R>(
        &self,
        subject: Subject<'_>,
        place: &Cell<Place>,
        decide: impl Fn(&Key<'_>) -> R,
    ) -> R {
        let prefix = self.prefix.as_slice();
        let escaped;
        let parts = match subject {
            Subject::Identifier(identifier) => [prefix, identifier, b"", b""],
            Subject::Client { name, id } if needs_escape(name) => {
                escaped = client_key(name, id);
                [prefix, &escaped, b"", b""]
            }
            Subject::Client { name, id } => [prefix, name, b":", id],
        };
        decide(&Key { parts, place })
    }

    /// The store.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }
}

/// The identifier of a client of an application: `name:id`.
///
/// A colon in the name, and what stands for one, is escaped: no two pairs of a name and an
/// id make the same identifier.
///
/// # Example
///
/// ```
/// use token_bucket::limiter::client_key;
///
/// assert_eq!(client_key(b"login", b"2001:db8::1"), b"login:2001:db8::1");
/// assert_eq!(client_key(b"a:b", b"c"), b"a%3Ab:c");
/// ```
pub fn client_key(name: &[u8], id: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 1 + id.len());
    for byte in name {
        match byte {
            b':' => key.extend(b"%3A"),
            b'%' => key.extend(b"%25"),
            other => key.push(*other),
        }
    }
    key.push(b':');
    key.extend(id);
    key
}

fn needs_escape(name: &[u8]) -> bool {
    name.iter().any(|byte| matches!(byte, b':' | b'%'))
}
