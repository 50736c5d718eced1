//! What the processes of a host share of a server they ask.

pub mod circuits;
pub mod denials;
mod local_failures;
pub mod queue;
mod refusal_warnings;

use super::file::Region;
use super::shm::{MappedFile, SharedMemory, locate};
use crate::clock::boot_time;
use crate::dsn::Secret;
use crate::error::Result;
use crate::limit::Decision;
use crate::store::{Key, Request, Store, Timeouts};
use circuits::Permit;
use local_failures::LocalFailures;
use queue::Ticket;
use refusal_warnings::RefusalWarnings;
use siphasher::sip::SipHasher13;
use std::cell::Cell;
use std::hash::Hasher;
use std::rc::Rc;

/// What the processes of this host know of a server, or of several that are one store.
///
/// In a file of its own. Where that cannot be had the process makes do with memory of its own:
/// a server does not stop answering because this host's shared memory is full.
pub struct Host {
    memory: SharedMemory,
    /// Who asks with an old password does not keep others from a server that lets them in.
    passwords: Secret,
    /// What this process alone cannot ask.
    pub local: LocalFailures,
    /// What this process has warned of.
    pub refusal_warnings: RefusalWarnings,
    /// Whether this process has warned of a prefix that has no effect.
    pub has_warned_of_prefix: Cell<bool>,
}

impl Host {
    /// What is known of the store of this description, by callers that have these passwords.
    pub fn new(store: &str, passwords: Secret, file: Rc<MappedFile>) -> Self {
        let mut hasher = SipHasher13::new();
        hasher.write(store.as_bytes());
        let memory = SharedMemory::in_file(file, hasher.finish().max(1));
        let (local, refusal_warnings) = (LocalFailures::default(), RefusalWarnings::default());
        let has_warned_of_prefix = Cell::new(false);
        Self { memory, passwords, local, refusal_warnings, has_warned_of_prefix }
    }

    fn with<R>(&self, look: impl FnOnce(&Region) -> R) -> Option<R> {
        let file = &self.memory.file;
        if boot_time() >= file.look_at.get() {
            file.open().ok()?;
        }
        file.region.borrow().as_ref().map(look)
    }

    /// Decides as the host's own shared memory does, for a server that fails.
    ///
    /// # Errors
    ///
    /// As [`Store::decide`].
    pub fn decide(&self, request: &Request<'_>) -> Result<Decision> {
        self.memory.decide(request)
    }

    /// Whether the server that answers for this circuit may be asked, by a call with these time-outs.
    pub fn permit(&self, circuit: u64, timeouts: Timeouts) -> Permit {
        let longest = (timeouts.call + timeouts.connect).as_nanos() as u64;
        self.with(|region| region.circuits().permit(self.id(circuit, region), boot_time(), longest))
            .unwrap_or(Permit::Granted)
    }

    /// Notes that it failed; whether that is news to this host.
    pub fn failed(&self, circuit: u64) -> bool {
        self.with(|region| region.circuits().failed(self.id(circuit, region), boot_time()))
            .unwrap_or(true)
    }

    /// Notes that it answered who had this permit.
    pub fn succeeded(&self, circuit: u64, permit: Permit) {
        self.with(|region| {
            let id = self.id(circuit, region);
            region.circuits().succeeded(id, permit, boot_time());
        });
    }

    /// Notes that the server was not asked by the process that had this permit.
    pub fn give_back(&self, circuit: u64, permit: Permit) {
        self.with(|region| {
            let id = self.id(circuit, region);
            region.circuits().give_back(id, permit, boot_time());
        });
    }

    fn id(&self, circuit: u64, region: &Region) -> u64 {
        let Secret(passwords) = &self.passwords;
        let of_login = match passwords.is_empty() {
            true => 0,
            // By the table's secret, so that nobody can try passwords on what he sees there.
            false => {
                let [a, b] = region.secret();
                let mut hasher = SipHasher13::new_with_keys(a, b);
                hasher.write(passwords.as_bytes());
                hasher.finish()
            }
        };
        let of_circuit = circuit.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.memory.domain.wrapping_add(of_circuit).wrapping_add(of_login).max(1)
    }

    /// When the bucket is full at the earliest, by this host's clock, if a denial is known.
    pub fn denied(&self, key: &Key<'_>, now: u64) -> Option<u64> {
        self.with(|region| {
            let (set, tag) = locate(region.denials(), self.memory.hash(key, region))?;
            denials::look(&set.0, tag, now)
        })?
    }

    /// Notes a denial of a call that was sent at `sent`.
    pub fn note_denial(&self, key: &Key<'_>, full_at: u64, sent: u64) {
        self.with(|region| {
            let (set, tag) = locate(region.denials(), self.memory.hash(key, region))?;
            denials::note(&set.0, tag, full_at, sent, boot_time());
            Some(())
        });
    }

    /// Forgets the denials of a bucket that was given something.
    pub fn clear_denials(&self, key: &Key<'_>) {
        self.with(|region| {
            let (set, tag) = locate(region.denials(), self.memory.hash(key, region))?;
            denials::clear(&set.0, tag, boot_time());
            Some(())
        });
    }

    /// Queues for a hot key, at most for `timeout` nanoseconds, and does `work` with a ticket that is
    /// valid for `lifetime`; without one where the queue cannot be had.
    pub fn in_queue<R>(
        &self,
        key: &Key<'_>,
        lifetime: u64,
        timeout: u64,
        work: impl FnOnce(Option<&Ticket<'_>>) -> R,
    ) -> R {
        let file = &self.memory.file;
        if boot_time() >= file.look_at.get() && file.open().is_err() {
            return work(None);
        }
        let region = file.region.borrow();
        let Some(region) = region.as_ref() else { return work(None) };
        let hash = self.memory.hash(key, region);
        match locate(region.queue(), hash) {
            Some((set, _)) => {
                work(Some(&Ticket::wait(set, hash, region.secret(), lifetime, timeout)))
            }
            None => work(None),
        }
    }

    /// What an operator wants to see of it.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let open = self.with(|region| region.circuits().open(boot_time())).unwrap_or_default();
        let local = self.local.count(boot_time());
        vec![
            ("Servers that do not answer, of all storage DSNs", open.to_string()),
            ("Servers that this process alone cannot ask, of this storage DSN", local.to_string()),
        ]
    }
}
