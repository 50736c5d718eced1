//! Where the state of the buckets lives.

pub mod array;
mod memcached;
mod mysql;
mod name;
mod net;
mod port;
mod record;
mod redis;
pub mod shm;
mod swap;

use crate::dsn::{Dsn, OnError, Target};
use crate::error::Result;
use crate::limit::{Decision, Limit, Op};
use std::cell::Cell;
use std::path::PathBuf;

/// How servers know a bucket: fuzzing looks for two that go by one name.
#[cfg(fuzzing)]
pub use name::{of as name_of, of_row as row_name_of};
pub use net::Timeouts;
/// Where Redis says that its nodes are: fuzzing looks for addresses that are none.
#[cfg(fuzzing)]
pub use redis::{map_of, master_of, redirection_of};

/// A place that remembers buckets and decides on them, each decision in one atomic step.
pub trait Store {
    /// Applies `op` to the bucket of `key` under `limit`.
    ///
    /// `now` is the frozen time of a test; without it the store's own clock counts.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::error::Error::Storage) if the store cannot be reached.
    fn decide(&self, key: &Key<'_>, limit: &Limit, op: Op, now: Option<u64>) -> Result<Decision>;

    /// As [`decide`](Self::decide), where nobody asks for more than yes or no.
    ///
    /// # Errors
    ///
    /// As [`decide`](Self::decide).
    fn admits(&self, key: &Key<'_>, limit: &Limit, op: Op, now: Option<u64>) -> Result<bool> {
        Ok(self.decide(key, limit, op, now)?.accepted)
    }

    /// Makes the store ready for use, which otherwise the first decision does.
    ///
    /// # Errors
    ///
    /// As [`decide`](Self::decide).
    fn prepare(&self) -> Result<()>;

    /// Which of its servers answers for `key`: a number of its own choice. What fails there says
    /// nothing of the others.
    fn circuit(&self, _key: &Key<'_>) -> u64 {
        0
    }

    /// What a message calls it: which store, and where.
    fn name(&self) -> String {
        String::new()
    }

    /// What an operator wants to see of it: pairs of a name and a value.
    fn describe(&self) -> Vec<(&'static str, String)>;
}

/// What a store has to know besides its DSN.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The directory for shared memory; the system's if empty.
    pub shm_path: PathBuf,
    /// The size of a table in shared memory, in bytes.
    pub shm_size: u64,
    /// How long a server may take.
    pub timeouts: Timeouts,
    /// What to answer when a store fails.
    pub on_error: OnError,
    /// Whether a server's denials are remembered by this host.
    pub deny_cache: bool,
    /// Whether limits are enforced, or only watched.
    pub enforce: bool,
    /// Whether it is counted who is denied most.
    pub track_identifiers: bool,
}

impl Settings {
    /// The settings, with what a DSN says instead.
    #[must_use]
    pub fn overridden_by(&self, dsn: &Dsn) -> Self {
        let options = &dsn.options;
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

/// The store a DSN names. It is opened by its first decision, not here.
pub fn open(target: &Target, settings: &Settings) -> Box<dyn Store> {
    let timeouts = settings.timeouts;
    match target {
        Target::SharedMemory { name } => Box::new(shm::SharedMemory::new(shm::file::Location {
            base: settings.shm_path.clone(),
            name: name.clone(),
            size: settings.shm_size,
            purpose: shm::file::Purpose::Buckets,
        })),
        Target::Array => Box::new(array::Array::default()),
        Target::Redis(target) => Box::new(redis::Redis::new(target.clone(), timeouts)),
        Target::Memcached { servers } => {
            Box::new(memcached::Memcached::new(servers.clone(), timeouts, settings))
        }
        Target::Mysql(target) => Box::new(mysql::Mysql::new(target.clone(), timeouts, settings)),
    }
}

/// Whether a store is on servers, which may fail while this host does not.
pub fn is_remote(target: &Target) -> bool {
    matches!(target, Target::Redis(_) | Target::Memcached { .. } | Target::Mysql(_))
}

/// Whether a prefix has to keep the buckets of this store from those of others; a table of its own
/// does that by itself, and has rows whose names have none.
pub fn needs_prefix(target: &Target) -> bool {
    !matches!(target, Target::Mysql(_))
}

/// The name of a bucket: the bytes of all parts, one after the other.
///
/// In parts so that nothing has to be copied to put a prefix before it.
pub struct Key<'a> {
    /// What the name is made of.
    pub parts: [&'a [u8]; 4],
    /// Whether it names a window: those have a space of their own.
    pub window: bool,
    /// Where the store found this key last time. Belongs to this key and this store.
    pub place: &'a Cell<Place>,
    /// Set where another bucket in use had to go for this one.
    pub evicted: Cell<bool>,
}

/// What a store wants to remember of a key between two calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// A keyed hash of the key.
    hash: u64,
    /// The secret that the hash was made with, counted from 1.
    generation: u32,
}

impl Key<'_> {
    /// The whole name.
    pub fn to_vec(&self) -> Vec<u8> {
        self.parts.concat()
    }
}
