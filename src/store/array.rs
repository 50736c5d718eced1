//! Buckets in this process alone.

use super::kind::with_algorithm;
use super::{FromDecision, Key, KeyHash, LimitKind, Request, Store, Timeouts};
use crate::clock::boot_time;
use crate::error::Result;
use crate::limit::{Algorithm, Decision, State};
use hashbrown::HashTable;
use std::cell::RefCell;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Buckets in plain memory, for tests, command lines and workers that serve alone.
///
/// Holds the buckets that are not full: whenever their number has doubled, those that have expired are
/// dropped.
#[derive(Debug, Default)]
pub struct Array {
    table: RefCell<Table>,
    /// Makes the hashes hard to foresee.
    hashes: RandomState,
}

#[derive(Debug, Default)]
struct Table {
    buckets: HashTable<Bucket>,
    sweep_at: usize,
}

#[derive(Debug)]
struct Bucket {
    hash: u64,
    kind: LimitKind,
    name: Box<[u8]>,
    state: State,
}

/// The table is not swept while it is smaller than this.
const SMALL: usize = 1024;

impl Bucket {
    /// Whether it is the bucket of `key`.
    fn is_of(&self, key: &Key<'_>) -> bool {
        let mut rest = &*self.name;
        // An empty part is skipped: a masked load at its dangling address is slow.
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
        if self.buckets.len() >= self.sweep_at.max(SMALL) {
            self.buckets.retain(|bucket| bucket.state.expires_at() > now);
            self.sweep_at = self.buckets.len() * 2;
        }
        self.buckets.insert_unique(bucket.hash, bucket, |bucket| bucket.hash);
    }
}

impl Array {
    /// The hash of a key, which its caller keeps.
    fn hash(&self, key: &Key<'_>) -> u64 {
        let key_hash = key.key_hash.get();
        if key_hash.generation != 0 {
            return key_hash.hash;
        }
        let mut hasher = self.hashes.build_hasher();
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
        let Request { key, op, frozen, .. } = *request;
        let now = frozen.unwrap_or_else(boot_time);
        let hash = self.hash(key);
        let mut table = self.table.borrow_mut();
        let Some(bucket) = table.buckets.find_mut(hash, |bucket| bucket.is_of(key)) else {
            let (decision, state) = limit.apply(State::FULL, now, *op);
            if state != State::FULL {
                let name = key.to_vec().into_boxed_slice();
                table.insert(Bucket { hash, kind: key.kind, name, state }, now);
            }
            return decision.into();
        };
        let (decision, state) = limit.apply(bucket.state, now, *op);
        bucket.state = state;
        if state == State::FULL
            && let Ok(bucket) = table.buckets.find_entry(hash, |bucket| bucket.is_of(key))
        {
            bucket.remove();
        }
        decision.into()
    }
}

impl Store for Array {
    fn decide(&self, request: &Request<'_>) -> Result<Decision> {
        Ok(self.answer(request))
    }

    fn admits(&self, request: &Request<'_>) -> Result<bool> {
        Ok(self.answer(request))
    }

    fn prepare(&self, _: &Timeouts) -> Result<()> {
        Ok(())
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        vec![("Buckets in this process", self.table.borrow().buckets.len().to_string())]
    }
}
