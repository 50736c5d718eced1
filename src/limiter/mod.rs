//! A limit on a store: from a caller's words to a decision.
//!
//! A store on this host is asked, and that is that. Before a store on servers stands the
//! [`guard`], which knows what to do while it fails.

mod guard;

use crate::dsn::Dsn;
use crate::error::Result;
use crate::limit::{Decision, Limit, Op};
use crate::store::{self, Key, Place, Settings, Store};
use guard::Guard;
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
    /// Of a store on servers.
    guard: Option<Box<Guard>>,
}

/// A decision, and who made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What was decided.
    pub decision: Decision,
    /// Whether the store failed, and the on-error policy answered.
    pub degraded: bool,
}

impl Limiter {
    /// The limiter on the store of `dsn`; what the DSN says goes before `prefix` and `settings`.
    ///
    /// Opens nothing yet: the first decision does, in the process that makes it.
    pub fn new(dsn: &Dsn, prefix: &[u8], settings: &Settings) -> Self {
        let settings = settings.overridden_by(dsn);
        let guard =
            store::is_remote(&dsn.target).then(|| Box::new(Guard::new(&dsn.target, &settings)));
        let prefix = if store::needs_prefix(&dsn.target) { prefix } else { b"" };
        Self {
            store: store::open(&dsn.target, &settings),
            prefix: dsn.options.prefix.clone().unwrap_or_else(|| prefix.to_vec()),
            guard,
        }
    }

    /// Decides on one call.
    ///
    /// `place` must be new for each subject and limiter, or be kept with both. `now` is the
    /// frozen time of a test.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::error::Error::Storage) if the store cannot be reached, and the
    /// on-error policy leaves it at that.
    pub fn decide(
        &self,
        subject: Subject<'_>,
        place: &Cell<Place>,
        limit: &Limit,
        op: Op,
        now: Option<u64>,
    ) -> Result<Answer> {
        self.with_key(subject, place, limit, |key| match &self.guard {
            None => {
                let decision = self.store.decide(key, limit, op, now)?;
                Ok(Answer { decision, degraded: false })
            }
            Some(guard) => guard.decide(&*self.store, key, limit, op, now),
        })
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
        limit: &Limit,
        op: Op,
        now: Option<u64>,
    ) -> Result<bool> {
        self.with_key(subject, place, limit, |key| match &self.guard {
            None => self.store.admits(key, limit, op, now),
            Some(guard) => guard.admits(&*self.store, key, limit, op, now),
        })
    }

    /// What a caller has to be warned of, once: an outage that this host has just noticed.
    #[inline(always)]
    pub fn take_warning(&self) -> Option<String> {
        match &self.guard {
            None => None,
            Some(guard) => guard.take_warning(),
        }
    }

    /// Whether the store is on servers.
    pub fn is_remote(&self) -> bool {
        self.guard.is_some()
    }

    #[inline(always)]
    fn with_key<R>(
        &self,
        subject: Subject<'_>,
        place: &Cell<Place>,
        limit: &Limit,
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
        decide(&Key { parts, place, window: matches!(limit, Limit::FixedWindow(_)) })
    }

    /// Makes the store ready for use.
    ///
    /// # Errors
    ///
    /// As [`Store::prepare`]; no policy stands in for that.
    pub fn prepare(&self) -> Result<()> {
        self.store.prepare()
    }

    /// What an operator wants to see of it.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let mut rows = self.store.describe();
        rows.extend(self.guard.iter().flat_map(|guard| guard.describe()));
        rows
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
