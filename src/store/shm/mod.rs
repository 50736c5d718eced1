//! Buckets in shared memory: every worker of one user on this host sees the same.
//!
//! * [`slot`]: how a bucket fits into one word
//! * [`bucket_change`]: an operation under a limit, as a change to a slot
//! * [`hits`]: a sliding window, which has many slots
//! * [`table`]: finding, claiming and reusing slots, lock-free; [`claim_number`] tells claims apart
//! * [`keys`]: the hashes of keys
//! * [`statistics`]: what did not fit into a table; [`usage`]: how full it is
//! * [`permits`]: how many run at once; [`held`] is a permit in its set, [`holder`] the process that has it
//!
//! The file behind the table is the subject of [`mapped`].

mod bucket_change;
mod claim_number;
pub mod held;
pub mod hits;
mod holder;
pub mod keys;
pub mod permits;
pub mod slot;
pub mod statistics;
pub mod table;
pub mod usage;

use super::kind::with_algorithm;
use super::{Answer, Key, Permits, Request, Store};
use crate::dsn::printable_path;
use crate::error::{Error, Result};
use crate::limit::{Kept, SlidingWindow, WordAlgorithm};
use crate::mapped::set::{Places, Set, locate};
use crate::mapped::{self, Area, Location, MappedFile, Region, not_open};
use crate::net::Timeouts;
use bucket_change::BucketChange;
use hits::WindowInTable;
use keys::Keys;
use permits::SharedPermits;
use statistics::TableStatistics;
use std::cell::Cell;
use std::rc::Rc;
use usage::TableUsage;

/// Buckets in shared memory.
pub struct SharedMemory {
    file: Rc<MappedFile>,
    keys: Keys,
    /// None where other permits belong to the store.
    permits: Option<Box<SharedPermits>>,
}

impl SharedMemory {
    /// The table at `location`. Nothing is opened yet.
    pub fn new(location: Location) -> Self {
        Self::in_file(Rc::new(MappedFile::new(location)), 0)
    }

    /// The table, with permits beside it.
    #[must_use]
    pub fn with_permits(self, permits: SharedPermits) -> Self {
        Self { permits: Some(Box::new(permits)), ..self }
    }

    /// The table in `file`, whose keys are apart from those of other domains.
    pub fn in_file(file: Rc<MappedFile>, domain: u64) -> Self {
        Self { file, keys: Keys::new(domain), permits: None }
    }

    /// The file that the table is in.
    pub fn file(&self) -> &MappedFile {
        &self.file
    }

    /// The hash that places a key in the file that is open. The key remembers it.
    #[inline(always)]
    pub fn hash(&self, key: &Key<'_>, region: &Region) -> u64 {
        self.keys.hash(key, region, self.file.number())
    }

    #[inline(always)]
    fn answer<R: Kept>(&self, request: &Request<'_>) -> Result<Answer<R>> {
        with_algorithm!(
            request,
            limit, timed => self.answer_under(limit, timed),
            window => self.answer_in_window(window, request)
        )
    }

    #[inline(always)]
    fn answer_under<R: Kept>(
        &self,
        limit: &impl WordAlgorithm,
        request: &Request<'_>,
    ) -> Result<Answer<R>> {
        self.with_table(request, |region, hash, now| {
            let Some((set, tag)) = locate(region.area::<Set>(Area::Buckets), hash) else {
                return Err(not_open());
            };
            let (op, statistics) = (request.op, TableStatistics::in_file(region));
            let change =
                BucketChange { limit, op, now, statistics, lacked_room: false, kept: None };
            let change = table::update(&set.0, tag, now, change);
            let decision = change.kept.ok_or_else(not_open)?;
            Ok(Answer { decision, lacked_room: change.lacked_room })
        })
    }

    /// Not inlined: it would lengthen the path of the other limits (`make bench`, `consume()`).
    #[inline(never)]
    fn answer_in_window<R: Kept>(
        &self,
        window: &SlidingWindow,
        request: &Request<'_>,
    ) -> Result<Answer<R>> {
        self.with_table(request, |region, hash, now| {
            let places = Places::new(region.area::<Set>(Area::Buckets), hash);
            let window = WindowInTable {
                limit: window,
                places: places.ok_or_else(not_open)?,
                now: Cell::new(now),
                statistics: TableStatistics::in_file(region),
                lacked_room: Cell::new(false),
            };
            let undecided = || {
                Error::refused(match window.lacked_room.get() {
                    true => "Shared memory: no room for the hits; raise token_bucket.shm_size",
                    false => "Shared memory: the sliding window is too busy",
                })
            };
            let decision = hits::decide(&window, *request.op).ok_or_else(undecided)?;
            Ok(Answer { decision, lacked_room: window.lacked_room.get() })
        })
    }

    /// Runs `work` on the file, with the hash of the request's key and the time to decide at.
    #[inline(always)]
    fn with_table<R>(
        &self,
        request: &Request<'_>,
        work: impl FnOnce(&Region, u64, u64) -> Result<R>,
    ) -> Result<R> {
        self.file.open_if_due(request.now)?;
        let region = self.file.region();
        let Some(region) = &*region else { return Err(not_open()) };
        work(region, self.hash(request.key, region), request.time())
    }
}

impl Store for SharedMemory {
    fn decide(&self, request: &Request<'_>) -> Result<Answer> {
        self.answer(request)
    }

    fn accepts(&self, request: &Request<'_>) -> Result<Answer<bool>> {
        self.answer(request)
    }

    fn other_users(&self) -> Option<Vec<u32>> {
        Some(self.file.location().other_users())
    }

    fn prepare(&self, _: &[u8], _: &Timeouts) -> Result<()> {
        self.file.open()
    }

    fn check_memory(&self) -> Result<()> {
        mapped::check(self.file.location())
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let location = self.file.location();
        let mut rows = vec![("Shared memory", printable_path(&location.path()))];
        match self.file.open_existing() {
            Err(error) => rows.push(("State", error.to_string())),
            Ok(()) if self.file.region().is_none() => {
                rows.push(("State", "not made yet: the first call makes it".to_owned()));
            }
            Ok(()) => {}
        }
        let others: Vec<String> = location.other_users().iter().map(u32::to_string).collect();
        if !others.is_empty() {
            rows.push(("Users that have such a table, too", others.join(" ")));
        }
        if let Some(region) = &*self.file.region() {
            let usage = TableUsage::of_buckets(region);
            rows.push(("Size in bytes", region.size().to_string()));
            if region.size() != location.size {
                let set = location.size;
                let remedy = "the file keeps its size; remove it to have this one";
                rows.push(("Size set by token_bucket.shm_size", format!("{set} ({remedy})")));
            }
            rows.extend([
                ("Buckets it can hold", usage.slots.to_string()),
                ("Buckets in use", usage.used.to_string()),
                ("Evicted while in use", usage.evictions.to_string()),
                ("Newcomers denied because the table was full", usage.denied_newcomers.to_string()),
            ]);
        }
        rows.extend(self.permits.iter().flat_map(|permits| permits.describe()));
        rows
    }

    fn permits(&self) -> Option<&dyn Permits> {
        self.permits.as_deref().map(|permits| permits as &dyn Permits)
    }
}

#[cfg(test)]
mod tests;
