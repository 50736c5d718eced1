//! Buckets in this process alone.

mod permits;

use super::kind::with_algorithm;
use super::{Answer, Key, KeyHash, LimitKind, Permits, Request, Store};
use crate::error::Result;
use crate::limit::{Decision, Kept, State, StoredState, WordAlgorithm};
use crate::net::Timeouts;
use hashbrown::HashTable;
use permits::ArrayPermits;
use std::cell::RefCell;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Buckets in plain memory, for tests, command lines and single workers.
///
/// Expired buckets are dropped whenever the number of buckets has doubled.
#[derive(Debug, Default)]
pub struct Array {
    /// Apart from the windows, so that the state of a bucket is no larger than it must be (`make bench`,
    /// `consume()` on `array:`).
    buckets: RefCell<Table<State>>,
    sliding_windows: RefCell<Table<StoredState>>,
    /// A random hash key: clients must not be able to make identifiers of one hash.
    hash_key: RandomState,
    permits: ArrayPermits,
}

/// What is remembered of one key.
trait Remembered: PartialEq {
    /// What an unknown key has, which need not be remembered.
    const FULL: Self;

    /// The time from which it is expired.
    fn expires_at(&self) -> u64;
}

impl Remembered for State {
    const FULL: Self = Self::FULL;

    fn expires_at(&self) -> u64 {
        Self::expires_at(*self)
    }
}

impl Remembered for StoredState {
    const FULL: Self = Self::FULL;

    fn expires_at(&self) -> u64 {
        Self::expires_at(self)
    }
}

#[derive(Debug)]
struct Table<S> {
    entries: HashTable<Entry<S>>,
    /// The number of entries at which expired ones are dropped next.
    sweep_at: usize,
}

#[derive(Debug)]
struct Entry<S> {
    hash: u64,
    kind: LimitKind,
    name: Box<[u8]>,
    state: S,
}

/// No entry is dropped from a table with fewer.
const MIN_SWEEP: usize = 1024;

impl<S> Entry<S> {
    /// Whether this is the entry of `key`.
    fn has_key(&self, key: &Key<'_>) -> bool {
        // Empty parts are skipped: `b""` is a dangling pointer, and comparing with one is slow on some
        // processors (`make bench`, `consume()` on `array:`).
        let mut parts = key.parts.iter().filter(|part| !part.is_empty());
        let rest = parts.try_fold(&*self.name, |rest, part| rest.strip_prefix(*part));
        rest.is_some_and(<[u8]>::is_empty) && self.kind == key.kind
    }
}

impl<S> Default for Table<S> {
    fn default() -> Self {
        Self { entries: HashTable::new(), sweep_at: 0 }
    }
}

impl<S: Remembered> Table<S> {
    /// Changes what is remembered of a key, and returns the answer of the change.
    #[inline(always)]
    fn update<A>(
        &mut self,
        key: &Key<'_>,
        hash: u64,
        now: u64,
        change: impl FnOnce(&S) -> (A, S),
    ) -> A {
        let Some(entry) = self.entries.find_mut(hash, |entry| entry.has_key(key)) else {
            let (answer, state) = change(&S::FULL);
            if state != S::FULL {
                let name = key.to_vec().into_boxed_slice();
                self.insert(Entry { hash, kind: key.kind, name, state }, now);
            }
            return answer;
        };
        let (answer, state) = change(&entry.state);
        let is_full = state == S::FULL;
        entry.state = state;
        if is_full && let Ok(entry) = self.entries.find_entry(hash, |entry| entry.has_key(key)) {
            entry.remove();
        }
        answer
    }

    fn insert(&mut self, entry: Entry<S>, now: u64) {
        if self.entries.len() >= self.sweep_at.max(MIN_SWEEP) {
            self.entries.retain(|entry| entry.state.expires_at() > now);
            self.sweep_at = self.entries.len() * 2;
        }
        self.entries.insert_unique(entry.hash, entry, |entry| entry.hash);
    }
}

impl Array {
    /// The hash of a key. The key remembers it.
    fn hash(&self, key: &Key<'_>) -> u64 {
        let key_hash = key.key_hash.get();
        if key_hash.file != 0 {
            return key_hash.hash;
        }
        let mut hasher = self.hash_key.build_hasher();
        hasher.write_u8(key.kind as u8);
        key.parts.iter().for_each(|part| hasher.write(part));
        let hash = hasher.finish();
        key.key_hash.set(KeyHash { hash, file: 1 });
        hash
    }

    #[inline(always)]
    fn decide_kept<R: Kept>(&self, request: &Request<'_>) -> R {
        with_algorithm!(
            request,
            limit, timed => self.decide_under(limit, timed),
            window => {
                let Request { key, op, .. } = *request;
                let now = request.time();
                let mut windows = self.sliding_windows.borrow_mut();
                windows.update(key, self.hash(key), now, |state| {
                    let (decision, after) = window.apply(state, now, *op);
                    (R::of(decision), after)
                })
            }
        )
    }

    #[inline(always)]
    fn decide_under<R: Kept>(&self, limit: &impl WordAlgorithm, request: &Request<'_>) -> R {
        let Request { key, op, .. } = *request;
        let now = request.time();
        let mut buckets = self.buckets.borrow_mut();
        buckets.update(key, self.hash(key), now, |state| limit.apply(*state, now, op))
    }
}

impl Store for Array {
    fn decide(&self, request: &Request<'_>) -> Result<Answer> {
        Ok(self.decide_kept::<Decision>(request).into())
    }

    fn accepts(&self, request: &Request<'_>) -> Result<Answer<bool>> {
        Ok(self.decide_kept::<bool>(request).into())
    }

    fn prepare(&self, _: &[u8], _: &Timeouts) -> Result<()> {
        Ok(())
    }

    fn permits(&self) -> Option<&dyn Permits> {
        Some(&self.permits)
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let buckets = self.buckets.borrow().entries.len();
        let windows = self.sliding_windows.borrow().entries.len();
        vec![("Buckets in this process", (buckets + windows).to_string())]
    }
}
