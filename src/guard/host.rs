//! What the processes of a host share about the servers they ask: breakers, denials, leases,
//! and buckets for when a server fails.

use super::denials;
use super::denials::KnownDenial;
use super::distance::FarServers;
use super::host_files::HostFiles;
use super::leases::LeaseKey;
use super::local_failures::LocalFailures;
use super::once_a_second::OnceASecond;
use super::rediscovery::Rediscovery;
use super::refusal_warnings::RefusalWarnings;
use super::store_record::{StoreRecord, count_down, find_or_claim, records};
use crate::clock::boot_time;
use crate::dsn::Secret;
use crate::error::Result;
use crate::hash;
use crate::limit::Limit;
use crate::mapped::claimed;
use crate::mapped::set::{Set, locate};
use crate::mapped::{self, Area, MappedFile, Region};
use crate::store::shm::SharedMemory;
use crate::store::shm::keys::Keys;
use crate::store::shm::permits::SharedPermits;
use crate::store::{Answer, Key, Permits, Request, Store};
use std::cell::Cell;
use std::rc::Rc;

/// What the processes of this host know of a server, or of several that are one store.
///
/// It is in a file of its own. If no file can be had, the process uses memory of its own: calls to a
/// server must not fail because this host's shared memory is full.
pub struct Host {
    /// The kind of store and its servers.
    name: String,
    /// What keeps the store's keys apart from others in the files.
    domain: u64,
    memory: SharedMemory,
    /// This host's permits, for when a server fails.
    permits: SharedPermits,
    /// The file of the tokens that this host has taken ahead.
    leases: Rc<MappedFile>,
    /// The keys of the leases.
    lease_keys: Keys,
    /// The record depends on the passwords: a process with an old password, which the server
    /// refuses, must not keep processes with the new one from it.
    passwords: Secret,
    /// Where the store's record was last, in the file of this number.
    record: Cell<KnownRecord>,
    /// The servers that this process alone cannot ask.
    pub local: LocalFailures,
    /// When this process looks anew for a server that can be written to.
    pub rediscovery: Rediscovery,
    /// The servers that are too far for calls of this process.
    pub far: FarServers,
    /// The refusals that this process has warned of.
    pub refusal_warnings: RefusalWarnings,
    /// Whether this process has warned of a prefix that has no effect.
    pub has_warned_of_prefix: Cell<bool>,
    /// When this process next notes that it calls the servers.
    call_noted: OnceASecond,
    /// When this process next notes that the servers answer it.
    use_noted: OnceASecond,
}

/// Where the record of a store is.
#[derive(Clone, Copy, Default)]
struct KnownRecord {
    /// The number of the file, as [`MappedFile::number`] counts; 0 before the first.
    file: u32,
    id: u64,
    index: usize,
}

impl Host {
    /// What is known of the store of this identity to callers with these passwords. Messages call it `name`.
    pub fn new(identity: &[u8], name: String, passwords: Secret, files: &HostFiles) -> Self {
        let domain = hash::plain(&[identity]).max(1);
        Self {
            name,
            domain,
            memory: SharedMemory::in_file(Rc::clone(&files.host), domain),
            permits: SharedPermits::in_table(Rc::clone(&files.permits), domain),
            leases: Rc::clone(&files.leases),
            lease_keys: Keys::new(domain),
            passwords,
            record: Cell::default(),
            local: LocalFailures::default(),
            rediscovery: Rediscovery::default(),
            far: FarServers::default(),
            refusal_warnings: RefusalWarnings::default(),
            has_warned_of_prefix: Cell::new(false),
            call_noted: OnceASecond::default(),
            use_noted: OnceASecond::default(),
        }
    }

    /// Runs `work` on the lease of a bucket or window, of at most `max` tokens. None if no file can be had, or the limit has no
    /// leases.
    pub fn with_lease<R>(
        &self,
        key: &Key<'_>,
        limit: &Limit,
        max: u32,
        now: u64,
        work: impl FnOnce(&LeaseKey<'_>) -> R,
    ) -> Option<R> {
        let limit = LeaseKey::limit_hash(limit)?;
        self.leases.open_if_due(now).ok()?;
        let region = self.leases.region();
        let region = region.as_ref()?;
        let hash = self.lease_keys.hash(key, region, self.leases.number());
        let (set, tag) = locate(region.area(Area::Leases), hash)?;
        Some(work(&LeaseKey { set, tag, limit, max }))
    }

    /// This host's own permits, for a server that fails.
    pub fn permits(&self) -> &dyn Permits {
        &self.permits
    }

    /// Runs `work` on the host's file; returns nothing if no file can be had.
    fn with_region<R>(&self, work: impl FnOnce(&Region) -> R) -> Option<R> {
        let file = self.memory.file();
        file.open_if_due(boot_time()).ok()?;
        file.region().as_ref().map(work)
    }

    /// Whether other processes of the host see the same. If not, no file can be had.
    pub fn is_shared(&self) -> bool {
        self.with_region(Region::has_file).unwrap_or(false)
    }

    /// Checks that the file can be had.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Storage`](crate::error::ErrorKind::Storage) if it cannot.
    pub fn check_memory(&self) -> Result<()> {
        mapped::check(self.memory.file().location())
    }

    /// Decides on the host's own buckets, for a server that fails.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Storage`](crate::error::ErrorKind::Storage) if no memory can be had.
    pub fn decide(&self, request: &Request<'_>) -> Result<Answer> {
        self.memory.decide(&Request { now: boot_time(), ..*request })
    }

    /// Runs `work` on the record of the store. None if no file can be had, or it has no room.
    pub fn record<R>(&self, work: impl FnOnce(&StoreRecord) -> R) -> Option<R> {
        self.with_region(|region| {
            let (records, file) = (records(region), self.memory.file().number());
            let known = self.record.get();
            if known.file == file
                && let Some(record) = records.get(known.index).and_then(|it| it.get(known.id))
            {
                return Some(work(record));
            }
            let id = self.record_id(region);
            let (index, record) = find_or_claim(records, id, &self.name, boot_time())?;
            self.record.set(KnownRecord { file, id, index });
            Some(work(record))
        })?
    }

    /// The id of the store's record in a file.
    fn record_id(&self, region: &Region) -> u64 {
        let Secret(passwords) = &self.passwords;
        // Hashed with the file's secret: a user that can see the id must not be able to test passwords on it.
        let parts = [&self.domain.to_le_bytes(), passwords.as_bytes()];
        claimed::id(hash::keyed(region.secret(), &parts))
    }

    /// A reason of a failure without the name of the store, which stands before it wherever it is shown.
    pub fn without_name<'a>(&self, reason: &'a str) -> &'a str {
        let rest = reason.strip_prefix(&self.name).unwrap_or(reason);
        rest.strip_prefix(": ").unwrap_or(rest)
    }

    /// The denial that is known of a bucket, by this host's clock.
    pub fn known_denial(&self, key: &Key<'_>, now: u64) -> Option<KnownDenial> {
        self.with_denials(key, |set, tag| denials::find(&set.0, tag, now))?
    }

    /// Notes a denial of a call that was sent at `sent`.
    pub fn note_denial(&self, key: &Key<'_>, denial: KnownDenial, sent: u64) {
        self.with_denials(key, |set, tag| denials::note(&set.0, tag, denial, sent, boot_time()));
    }

    /// Forgets the denials of a bucket that got tokens back.
    pub fn clear_denials(&self, key: &Key<'_>) {
        self.with_denials(key, |set, tag| denials::clear(&set.0, tag, boot_time()));
    }

    /// Runs `work` on the set of denials in which this key is, with its tag.
    fn with_denials<R>(&self, key: &Key<'_>, work: impl FnOnce(&Set, u64) -> R) -> Option<R> {
        self.with_region(|region| {
            let (set, tag) = locate(region.area(Area::Denials), self.memory.hash(key, region))?;
            Some(work(set, tag))
        })?
    }

    /// Notes about once a second that this process calls the store, whether the store is asked or not.
    #[inline]
    pub fn note_call(&self, now: u64) {
        if self.call_noted.is_due(now) {
            self.record(|it| it.note_call(now));
        }
    }

    /// Notes in the file of a host that a process calls the store. A store of which nothing is known there gets no record.
    pub(super) fn note_call_in(&self, file: &Region, now: u64) {
        if let Some((_, record)) = claimed::find(records(file), self.record_id(file)) {
            record.note_call(now);
        }
    }

    /// Whether this process has to note, about once a second, that the store has answered it.
    #[inline]
    pub fn is_use_due(&self, now: u64) -> bool {
        self.use_noted.is_due(now)
    }

    /// Notes that a server let this process write in a call that began at `now`.
    #[inline]
    pub fn note_write(&self, now: u64) {
        if self.rediscovery.note_write(now) {
            self.record(|it| it.note_write(now));
        }
    }

    /// Whether the servers say at `now` that they must not be written to.
    pub fn is_unwritable(&self, now: u64) -> bool {
        self.rediscovery.is_refused(now) || self.record(|it| it.is_unwritable(now)) == Some(true)
    }

    /// The rows on this host's servers in phpinfo().
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let count = |region: &Region| count_down(records(region), boot_time());
        // For information no file is made; without one there is memory of this process, if a call has needed it.
        let file = self.memory.file();
        let _ = file.open_existing();
        let open = file.region().as_ref().map(count).unwrap_or_default();
        let local = self.local.count(boot_time());
        vec![
            ("Servers that do not answer, of all storage DSNs", open.to_string()),
            ("Servers that only this process cannot ask, of this storage DSN", local.to_string()),
        ]
    }
}

#[cfg(test)]
mod tests;
