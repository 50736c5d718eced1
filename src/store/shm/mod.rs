//! Buckets in shared memory: every worker of one user on this host sees the same.
//!
//! * [`word`]: the 128-bit atomic word, and its stand-in for model checking
//! * [`slot`]: how a bucket fits into one word
//! * [`table`]: finding, claiming and reusing slots, lock-free
//!
//! The file behind the table is [`file`](super::file).

pub mod slot;
pub mod table;
pub mod word;

use super::file::{Counters, Location, Purpose, Region, Set};
use super::kind::with_algorithm;
use super::{FileSettings, FromDecision, Key, KeyHash, LimitKind, Request, Store, Timeouts};
use crate::clock::boot_time;
use crate::error::{Error, Result};
use crate::limit::{Algorithm, Decision, Op, SECOND, State};
use portable_atomic::Ordering;
use siphasher::sip::SipHasher13;
use slot::{Slot, TAG_BITS};
use std::cell::{Cell, RefCell};
use std::hash::Hasher;
use std::rc::Rc;
use table::{Change, update};

/// A file of shared memory, opened at its first use: all that need it share one mapping.
pub struct MappedFile {
    pub(in crate::store) location: Location,
    pub(in crate::store) region: RefCell<Option<Region>>,
    /// Counts the tables opened, from 1: each has its own secret.
    generation: Cell<u32>,
    /// When to look again whether the file still is the one that others open.
    pub(in crate::store) look_at: Cell<u64>,
}

/// A table in shared memory.
pub struct SharedMemory {
    pub(in crate::store) file: Rc<MappedFile>,
    /// Sets apart the buckets of different servers.
    pub(in crate::store) domain: u64,
    hash_keys: Cell<HashKeys>,
}

impl MappedFile {
    /// The file at `location`. Nothing is opened yet.
    pub fn new(location: Location) -> Self {
        Self {
            location,
            region: RefCell::new(None),
            generation: Cell::new(0),
            look_at: Cell::new(0),
        }
    }

    /// The file in which this host keeps what it knows of servers.
    pub fn of_host(files: &FileSettings) -> Self {
        Self::new(Location::new(files, HOST_FILE, Purpose::Host))
    }

    /// Opens the table, if it is not or no longer the one that others open.
    ///
    /// Should that fail while there still is a table of this user's at hand, it serves on.
    #[cold]
    pub(in crate::store) fn open(&self) -> Result<()> {
        let mut region = self.region.borrow_mut();
        if region.as_ref().is_none_or(Region::is_stale) {
            match Region::open(&self.location) {
                Ok(fresh) => {
                    *region = Some(fresh);
                    self.generation.set(self.generation.get().wrapping_add(1).max(1));
                }
                Err(_) if region.as_ref().is_some_and(Region::is_own) => {}
                Err(_) if self.location.purpose == Purpose::Host => {
                    *region = Some(Region::of_this_process(&self.location)?);
                    self.generation.set(self.generation.get().wrapping_add(1).max(1));
                }
                Err(error) => return Err(error),
            }
        }
        if let Some(region) = &*region {
            region.note_use();
        }
        self.look_at.set(boot_time() + SECOND);
        Ok(())
    }
}

impl SharedMemory {
    /// The table at `location`. Nothing is opened yet.
    pub fn new(location: Location) -> Self {
        Self::in_file(Rc::new(MappedFile::new(location)), 0)
    }

    /// The table in `file`, with keys apart from those of other domains.
    pub(in crate::store) fn in_file(file: Rc<MappedFile>, domain: u64) -> Self {
        Self { file, domain, hash_keys: Cell::default() }
    }

    /// Places a key in the table that is open.
    #[cold]
    fn hash_and_remember(&self, key: &Key<'_>, secret: [u64; 2]) -> u64 {
        let generation = self.file.generation.get();
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
}

/// The keys of the hashes that place the keys of a table.
#[derive(Clone, Copy, Default)]
struct HashKeys {
    /// Of the table that was open then; 0 before the first.
    generation: u32,
    by_kind: [[u64; 2]; LimitKind::ALL.len()],
}

/// A hash key for the domain and the kind: so no two of them place a key alike.
fn hash_key([low, high]: [u64; 2], domain: u64, kind: LimitKind) -> [u64; 2] {
    [0, 1].map(|half| {
        let mut hasher = SipHasher13::new_with_keys(low, high);
        hasher.write_u64(domain);
        hasher.write_u8(kind as u8);
        hasher.write_u8(half);
        hasher.finish()
    })
}

/// The name of a host's file. Not one that a DSN can have.
const HOST_FILE: &str = ".host";

/// An operation on its way to a slot.
struct BucketChange<'a, L, A> {
    limit: &'a L,
    op: &'a Op,
    now: u64,
    /// Whether that is a test's, and stands still.
    frozen: bool,
    counters: &'a Counters,
    evicted: &'a Cell<bool>,
    answer: Option<A>,
}

impl<L: Algorithm, A: FromDecision> BucketChange<'_, L, A> {
    /// The time, after whatever has been read by now was written.
    #[cold]
    fn latest(&self) -> u64 {
        if self.frozen { self.now } else { self.now.max(boot_time()) }
    }
}

impl<L: Algorithm, A: FromDecision> Change for BucketChange<'_, L, A> {
    #[inline(always)]
    fn apply(&mut self, state: State) -> Option<State> {
        // Who had to wait for a processor since he looked at the clock shall not take what others have
        // written meanwhile for a time that no clock could have written, and shorten it.
        if self.limit.is_from_future(state, self.now) {
            self.now = self.latest();
        }
        let (decision, after) = self.limit.apply(state, self.now, *self.op);
        self.answer = Some(decision.into());
        // Only what is denied is likely to stay, and worth the look.
        (decision.accepted || after != state).then_some(after)
    }

    fn inherited_state(&self, expires_at: u64) -> State {
        self.limit.inherited_state(expires_at, self.latest())
    }

    fn takes(&self) -> bool {
        self.limit.takes(*self.op)
    }

    fn note_eviction(&mut self) {
        self.counters.evictions.fetch_add(1, Ordering::Relaxed);
        self.evicted.set(true);
    }
}

/// Where a hash leads: the upper 30 bits choose the set, the lower 34 are the tag.
#[inline(always)]
pub(in crate::store) fn locate(sets: &[Set], hash: u64) -> Option<(&Set, u64)> {
    // Never wraps: 30 bits times at most 30.
    let index = ((hash >> TAG_BITS) * sets.len() as u64) >> (64 - TAG_BITS);
    let tag = (hash & ((1 << TAG_BITS) - 1)).max(1);
    Some((sets.get(index as usize)?, tag))
}

impl SharedMemory {
    #[inline(always)]
    pub(in crate::store) fn hash(&self, key: &Key<'_>, region: &Region) -> u64 {
        let key_hash = key.key_hash.get();
        if key_hash.generation == self.file.generation.get() {
            return key_hash.hash;
        }
        self.hash_and_remember(key, region.secret())
    }

    #[inline(always)]
    fn answer<A: FromDecision>(&self, request: &Request<'_>) -> Result<A> {
        with_algorithm!(request.limit, limit => self.answer_under(limit, request))
    }

    #[inline(always)]
    fn answer_under<A: FromDecision>(
        &self,
        limit: &impl Algorithm,
        request: &Request<'_>,
    ) -> Result<A> {
        let Request { key, op, frozen, evicted, .. } = *request;
        let clock = boot_time();
        if clock >= self.file.look_at.get() {
            self.file.open()?;
        }
        let (frozen, now) = (frozen.is_some(), frozen.unwrap_or(clock));
        let region = self.file.region.borrow();
        let Some(region) = &*region else { return Err(not_open()) };
        let hash = self.hash(key, region);
        let Some((set, tag)) = locate(region.sets(), hash) else { return Err(not_open()) };
        let counters = region.counters();
        let mut call = BucketChange { limit, op, now, frozen, counters, evicted, answer: None };
        update(&set.0, tag, now, &mut call);
        call.answer.ok_or_else(not_open)
    }
}

#[cold]
fn not_open() -> Error {
    Error::storage("Shared memory is not open")
}

impl Store for SharedMemory {
    fn decide(&self, request: &Request<'_>) -> Result<Decision> {
        self.answer(request)
    }

    fn admits(&self, request: &Request<'_>) -> Result<bool> {
        self.answer(request)
    }

    fn prepare(&self, _: &Timeouts) -> Result<()> {
        self.file.open()
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let mut rows = vec![("Shared memory", self.file.location.path().display().to_string())];
        if let Err(error) = self.file.open() {
            rows.push(("State", error.to_string()));
        }
        if let Some(region) = &*self.file.region.borrow() {
            let now = boot_time();
            let slots = region.sets().iter().flat_map(|set| &set.0);
            let used = slots.filter(|word| Slot(word.load(Ordering::Relaxed)).expires_at() > now);
            let evictions = region.counters().evictions.load(Ordering::Relaxed);
            rows.push(("Size in bytes", region.size().to_string()));
            if region.size() != self.file.location.size {
                let set = self.file.location.size;
                let remedy = "the file keeps its size; remove it to have this one";
                rows.push(("Size set by token_bucket.shm_size", format!("{set} ({remedy})")));
            }
            rows.extend([
                ("Buckets it can hold", (region.sets().len() * table::WAYS).to_string()),
                ("Buckets in use", used.count().to_string()),
                ("Evicted while in use", evictions.to_string()),
            ]);
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::{FixedWindow, Span, TokenBucket};

    /// What a call that read the clock `late` ns ago makes of a state that was written just now.
    fn after(limit: &impl Algorithm, op: Op, late: u64, state: State) -> Option<State> {
        let region = Region::of_this_process(&Location {
            base: "".into(),
            name: "test".to_owned(),
            size: 1 << 20,
            purpose: Purpose::Buckets,
        });
        let (counters, evicted) = (region.as_ref().unwrap().counters(), &Cell::new(false));
        let now = boot_time() - late;
        let mut call: BucketChange<'_, _, Decision> =
            BucketChange { limit, op: &op, now, frozen: false, counters, evicted, answer: None };
        call.apply(state)
    }

    #[test]
    fn who_comes_late_forgives_nothing() {
        let bucket = TokenBucket::per_second(10, 10.0).unwrap();
        let empty = State::Filling { full_at: Span::from_ns(boot_time() + SECOND) };
        let window = FixedWindow::new(5, 1.0).unwrap();
        let ends_at = boot_time() + SECOND;
        for late in [1, 60_000_000, 3 * SECOND] {
            assert_eq!(after(&bucket, Op::Take { cost: 1 }, late, empty), None);
            let hit =
                after(&window, Op::Take { cost: 1 }, late, State::Window { ends_at, hits: 1 });
            assert_eq!(hit, Some(State::Window { ends_at, hits: 2 }));
        }
    }
}
