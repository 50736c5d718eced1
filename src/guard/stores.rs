//! The stores of a worker.

use super::host::Host;
use crate::dsn::Target;
use crate::mapped::{FileSettings, Location, MappedFile, Purpose};
use crate::store::array::Array;
use crate::store::shm::SharedMemory;
use crate::store::shm::permits::{PermitTable, SharedPermits};
use crate::store::{Memcached, Mysql, Redis, RemoteStore, Store};
use std::cell::RefCell;
use std::rc::Rc;

/// The most stores that a worker keeps. A worker that has opened more drops them all, for a program may
/// make up DSNs without end. The buckets of `array:` are in the store, so that one stays.
const MAX_STORES: usize = 256;

/// The stores of a worker: one for each target, whichever limiters use it.
///
/// Connections, TLS sessions, scripts and mapped files belong to a store; prefixes, time-outs and policies
/// belong to a limiter. So limiters that differ in these alone share one connection.
#[derive(Default)]
pub struct Stores {
    opened: RefCell<Vec<(Target, FileSettings, OpenStore)>>,
    /// The files with what this host knows about servers, one for each `token_bucket.shm_path`.
    host_files: RefCell<Vec<(FileSettings, Rc<MappedFile>)>>,
    /// The files of leases, one for each `token_bucket.shm_path`.
    lease_files: RefCell<Vec<(FileSettings, Rc<MappedFile>)>>,
    /// The tables of permits for when a server fails, one for each `token_bucket.shm_path`.
    host_permits: RefCell<Vec<(FileSettings, Rc<PermitTable>)>>,
}

/// A store that limiters share.
#[derive(Clone)]
pub struct OpenStore {
    /// The store.
    pub store: Rc<dyn Store>,
    /// The store, if it is on servers, and what this host knows about them.
    pub remote: Option<(Rc<dyn RemoteStore>, Rc<Host>)>,
}

impl Stores {
    /// Returns the store at `target`. Files and connections are opened by its first decision.
    pub fn get(&self, target: &Target, files: &FileSettings) -> OpenStore {
        let mut opened = self.opened.borrow_mut();
        if let Some((_, _, store)) = opened.iter().find(|(t, f, _)| t == target && f == files) {
            return store.clone();
        }
        if opened.len() >= MAX_STORES {
            opened.retain(|(target, _, _)| matches!(target, Target::Array));
            self.host_files.borrow_mut().clear();
            self.host_permits.borrow_mut().clear();
            self.lease_files.borrow_mut().clear();
        }
        let store = self.open(target, files);
        opened.push((target.clone(), files.clone(), store.clone()));
        store
    }

    fn open(&self, target: &Target, files: &FileSettings) -> OpenStore {
        let remote: Rc<dyn RemoteStore> = match target {
            Target::SharedMemory { name } => {
                let permits = Location::of_permits(files, name, Purpose::Permits);
                let permits = SharedPermits::in_table(Rc::new(PermitTable::new(permits)), 0);
                let buckets = SharedMemory::new(Location::new(files, name, Purpose::Buckets));
                return OpenStore { store: Rc::new(buckets.with_permits(permits)), remote: None };
            }
            Target::Array => return OpenStore { store: Rc::new(Array::default()), remote: None },
            Target::Redis(target) => Rc::new(Redis::new(target.clone())),
            Target::Memcached { servers } => {
                Rc::new(Memcached::new(servers.clone(), self.host_file(files)))
            }
            Target::Mysql(target) => Rc::new(Mysql::new(target.clone(), self.host_file(files))),
        };
        // It holds no passwords.
        let description = format!("{target:?}");
        let (name, breakers, file) = (remote.name(), remote.breakers(), self.host_file(files));
        let host = Host::new(&description, name, breakers, target.passwords(), file)
            .with_permits(self.host_permits(files))
            .with_leases(self.lease_file(files));
        OpenStore {
            store: Rc::clone(&remote) as Rc<dyn Store>,
            remote: Some((remote, Rc::new(host))),
        }
    }

    fn host_file(&self, files: &FileSettings) -> Rc<MappedFile> {
        find_or_make(&self.host_files, files, Host::file)
    }

    fn lease_file(&self, files: &FileSettings) -> Rc<MappedFile> {
        find_or_make(&self.lease_files, files, Host::lease_file)
    }

    fn host_permits(&self, files: &FileSettings) -> Rc<PermitTable> {
        find_or_make(&self.host_permits, files, Host::permit_table)
    }
}

/// Finds what belongs to these files, or makes it.
fn find_or_make<T>(
    known: &RefCell<Vec<(FileSettings, Rc<T>)>>,
    files: &FileSettings,
    make: impl FnOnce(&FileSettings) -> T,
) -> Rc<T> {
    let mut known = known.borrow_mut();
    if let Some((_, found)) = known.iter().find(|(settings, _)| settings == files) {
        return Rc::clone(found);
    }
    let made = Rc::new(make(files));
    known.push((files.clone(), Rc::clone(&made)));
    made
}
