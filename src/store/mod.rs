//! Where the state of the buckets lives.

pub mod array;
pub mod counters;
pub mod file;
pub mod host;
mod memcached;
mod mysql;
mod name;
mod net;
mod opcode;
mod record;
mod redis;
pub mod shm;
mod stores;
mod swap;

use crate::error::Result;
use crate::limit::{Decision, Limit, Op};
use std::cell::Cell;

pub use file::FileSettings;
/// How servers know a bucket: fuzzing looks for two that go by one name.
#[cfg(fuzzing)]
pub use name::{of as name_of, of_row as row_name_of};
pub use net::Timeouts;
/// Where Redis says that its nodes are: fuzzing looks for addresses that are none.
#[cfg(fuzzing)]
pub use redis::{map_of, master_of, redirection_of};
pub use stores::{OpenStore, Stores, is_remote, needs_prefix};

/// What a call asks of a store.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Names the bucket.
    pub key: &'a Key<'a>,
    /// The limit.
    pub limit: &'a Limit,
    /// The operation. Not by value: a copy would wait for the store of what was just written (`make bench`,
    /// `consume()`).
    pub op: &'a Op,
    /// The time of a test's clock; without it the store's own clock counts.
    pub frozen: Option<u64>,
    /// How long a store on servers may take.
    pub timeouts: &'a Timeouts,
}

/// A place that remembers buckets and decides on them, each decision in one atomic step.
pub trait Store {
    /// Applies an operation to a bucket under a limit.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::error::Error::Storage) if the store cannot be reached.
    fn decide(&self, request: &Request<'_>) -> Result<Decision>;

    /// As [`decide`](Self::decide), for a caller that asks for no more than yes or no.
    ///
    /// # Errors
    ///
    /// As [`decide`](Self::decide).
    fn admits(&self, request: &Request<'_>) -> Result<bool> {
        Ok(self.decide(request)?.accepted)
    }

    /// Makes the store ready for use, which otherwise the first decision does.
    ///
    /// # Errors
    ///
    /// As [`decide`](Self::decide).
    fn prepare(&self, timeouts: &Timeouts) -> Result<()>;

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

/// What is kept of a decision: all of it, or yes and no. Keeping less is a third faster.
trait FromDecision: From<Decision> {}

impl FromDecision for Decision {}
impl FromDecision for bool {}

impl From<Decision> for bool {
    #[inline(always)]
    fn from(decision: Decision) -> Self {
        decision.accepted
    }
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
    pub key_hash: &'a Cell<KeyHash>,
    /// Set where another bucket in use had to go for this one.
    pub evicted: Cell<bool>,
}

/// What a store wants to remember of a key between two calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyHash {
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
