//! Buckets in shared memory: every worker of one user on this host sees the same.
//!
//! * [`word`]: the 128-bit atomic word, and its stand-in for model checking
//! * [`slot`]: how a bucket fits into one word
//! * [`set`]: the slots among which a key may be
//! * [`bucket_change`]: an operation under a limit, as a change to a slot
//! * [`hits`]: a sliding window, which has many slots
//! * [`table`]: finding, claiming and reusing slots, lock-free
//!
//! The file behind the table is the subject of `file`.

mod bucket_change;
pub mod hits;
pub mod set;
pub mod slot;
pub mod table;
pub mod word;

use super::file::{Area, EVICTIONS_AT, Location, MappedFile, Region};
use super::kind::with_algorithm;
use super::{FromDecision, Key, KeyHash, LimitKind, Request, Store, Timeouts};
use crate::clock::boot_time;
use crate::error::{Error, Result};
use crate::limit::{Algorithm, Decision, Op, SlidingWindow};
use bucket_change::BucketChange;
use hits::WindowInTable;
use portable_atomic::{AtomicU64, Ordering};
use set::{Places, Set, WAYS, locate};
use siphasher::sip::SipHasher13;
use slot::Slot;
use std::cell::Cell;
use std::hash::Hasher;
use std::rc::Rc;

/// Buckets in shared memory.
pub struct SharedMemory {
    file: Rc<MappedFile>,
    /// Keeps the buckets of different servers apart.
    domain: u64,
    hash_keys: Cell<HashKeys>,
}

/// The keys of the hashes that place the keys of a table.
#[derive(Clone, Copy, Default)]
struct HashKeys {
    /// The file that they were made for, as [`MappedFile::generation`] counts; 0 before the first.
    generation: u32,
    by_kind: [[u64; 2]; LimitKind::ALL.len()],
}

/// A hash key for the domain and the kind. Two of them place no key alike.
fn hash_key([low, high]: [u64; 2], domain: u64, kind: LimitKind) -> [u64; 2] {
    [0, 1].map(|half| {
        let mut hasher = SipHasher13::new_with_keys(low, high);
        hasher.write_u64(domain);
        hasher.write_u8(kind as u8);
        hasher.write_u8(half);
        hasher.finish()
    })
}

impl SharedMemory {
    /// The table at `location`. Nothing is opened yet.
    pub fn new(location: Location) -> Self {
        Self::in_file(Rc::new(MappedFile::new(location)), 0)
    }

    /// The table in `file`, whose keys are apart from those of other domains.
    pub(super) fn in_file(file: Rc<MappedFile>, domain: u64) -> Self {
        Self { file, domain, hash_keys: Cell::default() }
    }

    /// The file that the table is in.
    pub(super) fn file(&self) -> &MappedFile {
        &self.file
    }

    /// What keeps its buckets apart from others in the file.
    pub(super) fn domain(&self) -> u64 {
        self.domain
    }

    /// The hash that places a key in the file that is open. The key remembers it.
    #[inline(always)]
    pub(super) fn hash(&self, key: &Key<'_>, region: &Region) -> u64 {
        let key_hash = key.key_hash.get();
        if key_hash.generation == self.file.generation() {
            return key_hash.hash;
        }
        self.hash_and_remember(key, region.secret())
    }

    #[cold]
    fn hash_and_remember(&self, key: &Key<'_>, secret: [u64; 2]) -> u64 {
        let generation = self.file.generation();
        let mut keys = self.hash_keys.get();
        if keys.generation != generation {
            let by_kind = LimitKind::ALL.map(|kind| hash_key(secret, self.domain, kind));
            keys = HashKeys { generation, by_kind };
            self.hash_keys.set(keys);
        }
        let [low, high] = keys.by_kind.get(key.kind as usize).copied().unwrap_or_default();
        let mut hasher = SipHasher13::new_with_keys(low, high);
        for part in key.parts.iter().filter(|part| !part.is_empty()) {
            hasher.write(part);
        }
        let hash = hasher.finish();
        key.key_hash.set(KeyHash { hash, generation });
        hash
    }

    #[inline(always)]
    fn answer<A: FromDecision>(&self, request: &Request<'_>) -> Result<A> {
        with_algorithm!(
            request.limit,
            limit => self.answer_under(limit, request),
            window => self.answer_in_window(window, request)
        )
    }

    #[inline(always)]
    fn answer_under<A: FromDecision>(
        &self,
        limit: &impl Algorithm,
        request: &Request<'_>,
    ) -> Result<A> {
        let Request { key, op, time, .. } = *request;
        let clock = time.clock();
        self.file.open_if_due(clock)?;
        let frozen = time.frozen();
        let (is_frozen, now) = (frozen.is_some(), frozen.unwrap_or(clock));
        let region = self.file.region();
        let Some(region) = &*region else { return Err(not_open()) };
        let hash = self.hash(key, region);
        let sets = region.area::<Set>(Area::Buckets);
        let Some((set, tag)) = locate(sets, hash) else { return Err(not_open()) };
        let (evictions, evicted) = (evictions(region), request.evicted);
        let mut change =
            BucketChange { limit, op, now, is_frozen, evictions, evicted, answer: None };
        table::update(&set.0, tag, now, &mut change);
        change.answer.ok_or_else(not_open)
    }
}

impl SharedMemory {
    #[inline(never)]
    fn answer_in_window<A: FromDecision>(
        &self,
        window: &SlidingWindow,
        request: &Request<'_>,
    ) -> Result<A> {
        let Request { key, op, time, .. } = *request;
        let clock = time.clock();
        self.file.open_if_due(clock)?;
        let frozen = time.frozen();
        let region = self.file.region();
        let Some(region) = &*region else { return Err(not_open()) };
        let places = Places::new(region.area::<Set>(Area::Buckets), self.hash(key, region));
        let window = WindowInTable {
            window,
            places: places.ok_or_else(not_open)?,
            now: Cell::new(frozen.unwrap_or(clock)),
            is_frozen: frozen.is_some(),
            evictions: evictions(region),
            evicted: request.evicted,
        };
        match window.decide(*op) {
            Some(answer) => Ok(answer),
            // A denial would not say that nothing was done.
            None if matches!(op, Op::Refund { .. }) => {
                Err(Error::refused("Shared memory: the sliding window is too busy"))
            }
            None => Ok(window.window.full(window.now.get()).into()),
        }
    }
}

/// Counts the buckets in use that the table has evicted.
fn evictions(region: &Region) -> &AtomicU64 {
    region.in_header::<AtomicU64, EVICTIONS_AT>()
}

#[cold]
fn not_open() -> Error {
    Error::storage("Shared memory is not open")
}

impl Store for SharedMemory {
    fn decide(&self, request: &Request<'_>) -> Result<Decision> {
        self.answer(request)
    }

    fn accepts(&self, request: &Request<'_>) -> Result<bool> {
        self.answer(request)
    }

    fn prepare(&self, _: &Timeouts) -> Result<()> {
        self.file.open()
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let location = self.file.location();
        let mut rows = vec![("Shared memory", location.path().display().to_string())];
        if let Err(error) = self.file.open() {
            rows.push(("State", error.to_string()));
        }
        if let Some(region) = &*self.file.region() {
            let now = boot_time();
            let sets = region.area::<Set>(Area::Buckets);
            let slots = sets.iter().flat_map(|set| &set.0);
            let used = slots.filter(|word| Slot(word.load(Ordering::Relaxed)).expires_at() > now);
            rows.push(("Size in bytes", region.size().to_string()));
            if region.size() != location.size {
                let set = location.size;
                let remedy = "the file keeps its size; remove it to have this one";
                rows.push(("Size set by token_bucket.shm_size", format!("{set} ({remedy})")));
            }
            rows.extend([
                ("Buckets it can hold", (sets.len() * WAYS).to_string()),
                ("Buckets in use", used.count().to_string()),
                ("Evicted while in use", evictions(region).load(Ordering::Relaxed).to_string()),
            ]);
        }
        rows
    }
}
