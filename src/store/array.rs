//! Buckets in this process alone.

mod permits;

use super::kind::with_algorithm;
use super::{FromDecision, Key, KeyHash, LimitKind, Permits, Request, Store, Timeouts};
use crate::error::Result;
use crate::limit::{Algorithm, Decision, State};
use hashbrown::HashTable;
use permits::ArrayPermits;
use std::cell::RefCell;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Buckets in plain memory, for tests, command lines and single workers.
///
/// Expired buckets are dropped whenever the number of buckets has doubled.
#[derive(Debug, Default)]
pub struct Array {
    table: RefCell<Table>,
    /// A random hash key: clients must not be able to make identifiers of one hash.
    hash_key: RandomState,
    permits: ArrayPermits,
}

#[derive(Debug, Default)]
struct Table {
    buckets: HashTable<Bucket>,
    /// The number of buckets at which expired ones are dropped next.
    sweep_at: usize,
}

#[derive(Debug)]
struct Bucket {
    hash: u64,
    kind: LimitKind,
    name: Box<[u8]>,
    state: State,
}

/// No bucket is dropped from a table with fewer.
const MIN_SWEEP: usize = 1024;

impl Bucket {
    /// Whether this is the bucket of `key`.
    fn has_key(&self, key: &Key<'_>) -> bool {
        let mut rest = &*self.name;
        // Empty parts are skipped: `b""` is a dangling pointer, and comparing with one is slow on some
        // processors (`make bench`, `consume()` on `array:`).
        let mut parts = key.parts.iter().filter(|part| !part.is_empty());
        let fits = parts.all(|part| match rest.strip_prefix(*part) {
            Some(left) => {
                rest = left;
                true
            }
            None => false,
        });
        fits && rest.is_empty() && self.kind == key.kind
    }
}

impl Table {
    fn insert(&mut self, bucket: Bucket, now: u64) {
        if self.buckets.len() >= self.sweep_at.max(MIN_SWEEP) {
            self.buckets.retain(|bucket| bucket.state.expires_at() > now);
            self.sweep_at = self.buckets.len() * 2;
        }
        self.buckets.insert_unique(bucket.hash, bucket, |bucket| bucket.hash);
    }
}

impl Array {
    /// The hash of a key. The key remembers it.
    fn hash(&self, key: &Key<'_>) -> u64 {
        let key_hash = key.key_hash.get();
        if key_hash.generation != 0 {
            return key_hash.hash;
        }
        let mut hasher = self.hash_key.build_hasher();
        hasher.write_u8(key.kind as u8);
        key.parts.iter().for_each(|part| hasher.write(part));
        let hash = hasher.finish();
        key.key_hash.set(KeyHash { hash, generation: 1 });
        hash
    }

    #[inline(always)]
    fn answer<A: FromDecision>(&self, request: &Request<'_>) -> A {
        with_algorithm!(request.limit, limit => self.answer_under(limit, request))
    }

    #[inline(always)]
    fn answer_under<A: FromDecision>(&self, limit: &impl Algorithm, request: &Request<'_>) -> A {
        let Request { key, op, time, .. } = *request;
        let now = time.frozen().unwrap_or_else(|| time.clock());
        let hash = self.hash(key);
        let mut table = self.table.borrow_mut();
        let Some(bucket) = table.buckets.find_mut(hash, |bucket| bucket.has_key(key)) else {
            let (answer, state) = limit.apply(State::FULL, now, op);
            if state != State::FULL {
                let name = key.to_vec().into_boxed_slice();
                table.insert(Bucket { hash, kind: key.kind, name, state }, now);
            }
            return answer;
        };
        let (answer, state) = limit.apply(bucket.state, now, op);
        bucket.state = state;
        if state == State::FULL
            && let Ok(bucket) = table.buckets.find_entry(hash, |bucket| bucket.has_key(key))
        {
            bucket.remove();
        }
        answer
    }
}

impl Store for Array {
    fn decide(&self, request: &Request<'_>) -> Result<Decision> {
        Ok(self.answer(request))
    }

    fn accepts(&self, request: &Request<'_>) -> Result<bool> {
        Ok(self.answer(request))
    }

    fn prepare(&self, _: &Timeouts) -> Result<()> {
        Ok(())
    }

    fn permits(&self) -> Option<&dyn Permits> {
        Some(&self.permits)
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        vec![("Buckets in this process", self.table.borrow().buckets.len().to_string())]
    }
}
