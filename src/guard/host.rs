//! What the processes of a host share about the servers they ask: breakers, denials, leases,
//! and buckets for when a server fails.

use super::breakers::{Access, Breakers, FailureMeaning};
use super::denials;
use super::denials::KnownDenial;
use super::distance::FarServers;
use super::gates::{GateEntry, GatePlace, Gates};
use super::host_files::HostFiles;
use super::leases::LeaseKey;
use super::local_failures::LocalFailures;
use super::rediscovery::Rediscovery;
use super::refusal_warnings::RefusalWarnings;
use super::servers::{Servers, StoreOnServers};
use crate::clock::boot_time;
use crate::dsn::Secret;
use crate::error::Result;
use crate::limit::{Limit, SECOND};
use crate::mapped::{self, Area, MappedFile, Region};
use crate::net::Timeouts;
use crate::store::shm::SharedMemory;
use crate::store::shm::keys::Keys;
use crate::store::shm::permits::SharedPermits;
use crate::store::shm::set::{Set, locate};
use crate::store::{Answer, Key, Permits, Request, Store};
use siphasher::sip::SipHasher13;
use std::cell::Cell;
use std::hash::Hasher;
use std::rc::Rc;
use std::time::Duration;

/// What the processes of this host know of a server, or of several that are one store.
///
/// It is in a file of its own. If no file can be had, the process uses memory of its own: calls to a
/// server must not fail because this host's shared memory is full.
pub struct Host {
    /// The kind of store and its servers.
    name: String,
    /// How many breakers the store has.
    breakers: u64,
    /// What keeps the store's keys apart from others in the files.
    domain: u64,
    memory: SharedMemory,
    /// This host's permits, for when a server fails.
    permits: SharedPermits,
    /// The file of the tokens that this host has taken ahead.
    leases: Rc<MappedFile>,
    /// The keys of the leases.
    lease_keys: Keys,
    /// The breakers depend on the passwords: a process with an old password, which the server
    /// refuses, must not keep processes with the new one from it.
    passwords: Secret,
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
    note_call_at: Cell<u64>,
    /// When this process next notes that the servers answer it.
    note_use_at: Cell<u64>,
}

impl Host {
    /// What is known of the store of this identity, which has so many breakers, to callers with these passwords.
    /// Messages call it `name`.
    pub fn new(
        identity: &[u8],
        name: String,
        breakers: u64,
        passwords: Secret,
        files: &HostFiles,
    ) -> Self {
        let mut hasher = SipHasher13::new();
        hasher.write(identity);
        let domain = hasher.finish().max(1);
        Self {
            name,
            breakers,
            domain,
            memory: SharedMemory::in_file(Rc::clone(&files.host), domain),
            permits: SharedPermits::in_table(Rc::clone(&files.permits), domain),
            leases: Rc::clone(&files.leases),
            lease_keys: Keys::new(domain),
            passwords,
            local: LocalFailures::default(),
            rediscovery: Rediscovery::default(),
            far: FarServers::default(),
            refusal_warnings: RefusalWarnings::default(),
            has_warned_of_prefix: Cell::new(false),
            note_call_at: Cell::new(0),
            note_use_at: Cell::new(0),
        }
    }

    /// Runs `work` on the lease of a bucket, of at most `max` tokens. None if no file can be had, or the limit is no
    /// token bucket.
    pub fn with_lease<R>(
        &self,
        key: &Key<'_>,
        limit: &Limit,
        max: u32,
        now: u64,
        work: impl FnOnce(&LeaseKey<'_>) -> R,
    ) -> Option<R> {
        let Limit::TokenBucket(bucket) = limit else { return None };
        self.leases.open_if_due(now).ok()?;
        let region = self.leases.region();
        let region = region.as_ref()?;
        let hash = self.lease_keys.hash(key, region, self.leases.number());
        let (set, tag) = locate(region.area(Area::Leases), hash)?;
        Some(work(&LeaseKey { set, tag, limit: LeaseKey::limit_hash(bucket), max }))
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
        self.memory.decide(request)
    }

    /// Whether a call with these time-outs may ask the server that answers for this breaker.
    pub fn access(&self, breaker: u64, timeouts: Timeouts) -> Access {
        self.with_breaker(breaker, |breakers, id| {
            breakers.access(id, boot_time(), timeouts.longest())
        })
        .unwrap_or(Access::Granted)
    }

    /// Whether a process may ask the server on a connection that the server has not closed, although this breaker is open.
    pub fn may_try_connection(&self, breaker: u64) -> bool {
        let may_try = |breakers: &Breakers, id| breakers.may_try_connection(id, boot_time());
        self.with_breaker(breaker, may_try).unwrap_or(false)
    }

    /// Notes that a call with this access, sent at `sent`, failed at the server behind this breaker, and why. Returns what that means.
    pub fn note_failure(
        &self,
        breaker: u64,
        access: Access,
        reason: &str,
        sent: u64,
    ) -> FailureMeaning {
        let now = boot_time();
        let note = |breakers: &Breakers, id| breakers.note_failure(id, access, sent, now);
        let meaning = self.with_breaker(breaker, note).unwrap_or(FailureMeaning::OutageBegins);
        self.note_reason(meaning, reason, now);
        meaning
    }

    /// Notes that a write with this access, sent at `sent`, waited for a lock, as `reason` says. Returns what that means.
    pub fn note_waiting_write(
        &self,
        breaker: u64,
        access: Access,
        reason: &str,
        sent: u64,
    ) -> FailureMeaning {
        let now = boot_time();
        let note = |breakers: &Breakers, id| breakers.note_waiting_write(id, access, sent, now);
        let meaning = self.with_breaker(breaker, note).unwrap_or(FailureMeaning::CallAlone);
        self.note_reason(meaning, reason, now);
        meaning
    }

    /// Notes that the server answered the process that had this access, which asked at `sent`. If the answer came in time, the
    /// server answers now, even if other processes have found it down meanwhile.
    pub fn note_success(&self, breaker: u64, access: Access, sent: u64, timeouts: Timeouts) {
        let now = boot_time();
        let in_time = now.saturating_sub(sent) <= timeouts.call.as_nanos() as u64;
        let access = if in_time && access == Access::Granted { Access::Connected } else { access };
        self.with_breaker(breaker, |breakers, id| breakers.note_success(id, access, now));
    }

    /// Notes that the process that had this access could not ask the server.
    pub fn give_back(&self, breaker: u64, access: Access) {
        self.with_breaker(breaker, |breakers, id| breakers.give_back(id, access, boot_time()));
    }

    /// Whether this process may connect to the store's servers now, with these time-outs.
    pub fn enter_gate(&self, timeouts: Timeouts) -> GateEntry {
        self.with_gates(|gates, id| gates.enter(id, boot_time(), timeouts.longest()))
            .unwrap_or(GateEntry::WithoutGate)
    }

    /// Notes that this process has connected to a server, or failed to.
    pub fn leave_gate(&self, place: GatePlace, has_connected: bool) {
        self.with_gates(|gates, id| gates.leave(id, place, has_connected));
    }

    fn with_gates<R>(&self, work: impl FnOnce(&Gates, u64) -> R) -> Option<R> {
        self.with_region(|region| work(Gates::in_file(region), self.breaker_id(0, region)))
    }

    /// Runs `work` on the breakers, with the id of this breaker.
    pub(super) fn with_breaker<R>(
        &self,
        breaker: u64,
        work: impl FnOnce(&Breakers, u64) -> R,
    ) -> Option<R> {
        self.with_region(|region| work(Breakers::in_file(region), self.breaker_id(breaker, region)))
    }

    fn breaker_id(&self, breaker: u64, region: &Region) -> u64 {
        let Secret(passwords) = &self.passwords;
        let login = match passwords.is_empty() {
            true => 0,
            // Hashed with the file's secret: a user that can see the id must not be able to test
            // passwords on it.
            false => {
                let [low, high] = region.secret();
                let mut hasher = SipHasher13::new_with_keys(low, high);
                hasher.write(passwords.as_bytes());
                hasher.finish()
            }
        };
        Breakers::id(self.domain.wrapping_add(login), breaker)
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

    /// Notes the reason of an outage for operators.
    fn note_reason(&self, meaning: FailureMeaning, reason: &str, now: u64) {
        if matches!(meaning, FailureMeaning::OutageBegins | FailureMeaning::OutageContinues) {
            // Each time: the process that began the outage may have died before it noted that.
            self.with_server_record(|servers, store, _| servers.note_down(&store, reason, now));
        }
    }

    /// Notes about once a second that this process calls the store, whether the store is asked or not.
    #[inline]
    pub fn note_call(&self, now: u64) {
        if now < self.note_call_at.get() {
            return;
        }
        self.note_call_at.set(now + SECOND);
        self.with_region(|region| self.note_call_in(region, now));
    }

    /// Notes in the file of a host that a process calls the store.
    #[cold]
    pub(super) fn note_call_in(&self, file: &Region, now: u64) {
        if let Some(servers) = Servers::in_file(file) {
            servers.note_call(self.breaker_id(0, file), now);
        }
    }

    /// Whether this process has to note, about once a second, that the store has answered it.
    #[inline]
    pub fn is_use_due(&self, now: u64) -> bool {
        let is_due = now >= self.note_use_at.get();
        if is_due {
            self.note_use_at.set(now + SECOND);
        }
        is_due
    }

    /// Notes that the store has answered this process. Returns how long the servers did not answer, to the one process
    /// that finds that an outage has ended.
    pub fn note_use(&self, now: u64) -> Option<u64> {
        self.with_server_record(|servers, store, breakers| {
            servers.note_answer(&store, breakers, now)
        })?
    }

    /// Notes how long a round trip to the store takes.
    pub fn note_round_trip(&self, took: Duration) {
        let now = boot_time();
        self.with_server_record(|servers, store, _| servers.note_round_trip(&store, took, now));
    }

    /// Notes that this host's clock is so far behind that of another host. Returns whether no process of this host has noted
    /// that for an hour.
    pub fn note_clock_behind(&self, behind: Duration) -> bool {
        self.with_server_record(|servers, store, _| {
            servers.note_clock_behind(&store, behind, boot_time())
        })
        .unwrap_or(true)
    }

    /// Notes at `now` that this process could not ask the store, for a reason of its own.
    pub fn note_unable(&self, reason: &str, now: u64) {
        self.with_server_record(|servers, store, _| servers.note_unable(&store, reason, now));
    }

    /// Notes that a server let this process write in a call that began at `now`.
    #[inline]
    pub fn note_write(&self, now: u64) {
        if self.rediscovery.note_write(now) {
            self.with_server_record(|servers, store, _| servers.note_write(&store, now));
        }
    }

    /// Notes at `now` that this process finds only servers that must not be written to. Returns whether that begins an outage.
    pub fn note_unwritable(&self, reason: &str, now: u64) -> bool {
        self.with_server_record(|servers, store, _| servers.note_unwritable(&store, reason, now))
            .unwrap_or(false)
    }

    /// Whether the servers say at `now` that they must not be written to.
    pub fn is_unwritable(&self, now: u64) -> bool {
        self.rediscovery.is_refused(now)
            || self.with_server_record(|servers, store, _| servers.is_unwritable(&store, now))
                == Some(true)
    }

    /// Ends an outage if the servers have answered since. Returns how long they did not, to the one process that
    /// finds it. Called before a failure is noted, too: else an outage that ended while no process asked would go on.
    pub fn end_outage(&self, now: u64) -> Option<u64> {
        self.with_server_record(|servers, store, breakers| {
            servers.end_outage(&store, breakers, now)
        })?
    }

    /// Runs `work` on the records of servers.
    #[cold]
    fn with_server_record<R>(
        &self,
        work: impl FnOnce(&Servers, StoreOnServers, &Breakers) -> R,
    ) -> Option<R> {
        self.with_region(|region| {
            let (id, breakers) = (self.breaker_id(0, region), self.breakers);
            let store = StoreOnServers { id, breakers, name: self.name.clone() };
            Some(work(Servers::in_file(region)?, store, Breakers::in_file(region)))
        })?
    }

    /// The rows on this host's servers in phpinfo().
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let count = |region: &Region| Breakers::in_file(region).count_open(boot_time());
        // For information no file is made; without one there is memory of this process, if a call has needed it.
        let file = self.memory.file();
        let _ = file.open_existing();
        let open = file.region().as_ref().map(count).unwrap_or_default();
        let local = self.local.count(boot_time());
        vec![
            ("Servers that do not answer, of all storage DSNs", open.to_string()),
            ("Servers that this process alone cannot ask, of this storage DSN", local.to_string()),
        ]
    }
}

#[cfg(test)]
mod tests;
