//! The stores of a worker.

use super::host::Host;
use super::host_files::HostFiles;
use crate::dsn::Target;
use crate::mapped::{FileSettings, Location, Purpose};
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
    /// What stores on servers keep on this host, for each `token_bucket.shm_path`.
    host_files: RefCell<Vec<(FileSettings, Rc<HostFiles>)>>,
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
        }
        let store = self.open(target, files);
        opened.push((target.clone(), files.clone(), store.clone()));
        store
    }

    fn open(&self, target: &Target, files: &FileSettings) -> OpenStore {
        let host_file = || Rc::clone(&self.host_files(files).host);
        let remote: Rc<dyn RemoteStore> = match target {
            Target::SharedMemory { name } => {
                let permits = Location::of_permits(files, name, Purpose::Permits);
                let permits = SharedPermits::in_table(Rc::new(PermitTable::new(permits)), 0);
                let buckets = SharedMemory::new(Location::new(files, name, Purpose::Buckets));
                return OpenStore { store: Rc::new(buckets.with_permits(permits)), remote: None };
            }
            Target::Array => return OpenStore { store: Rc::new(Array::default()), remote: None },
            Target::Redis(target) => Rc::new(Redis::new(target.clone())),
            Target::Memcached { servers } => Rc::new(Memcached::new(servers.clone(), host_file())),
            Target::Mysql(target) => Rc::new(Mysql::new(target.clone(), host_file())),
        };
        let files = self.host_files(files);
        let (name, passwords) = (remote.name(), target.passwords());
        let host = Host::new(&target.identity(), name, passwords, &files);
        OpenStore {
            store: Rc::clone(&remote) as Rc<dyn Store>,
            remote: Some((remote, Rc::new(host))),
        }
    }

    fn host_files(&self, files: &FileSettings) -> Rc<HostFiles> {
        let mut known = self.host_files.borrow_mut();
        if let Some((_, found)) = known.iter().find(|(settings, _)| settings == files) {
            return Rc::clone(found);
        }
        let made = Rc::new(HostFiles::new(files));
        known.push((files.clone(), Rc::clone(&made)));
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shm(name: &str) -> Target {
        Target::SharedMemory { name: name.to_owned() }
    }

    fn is_same(a: &OpenStore, b: &OpenStore) -> bool {
        Rc::ptr_eq(&a.store, &b.store)
    }

    #[test]
    fn limiters_share_the_store_of_one_target_in_one_place() {
        let stores = Stores::default();
        let [here, there] =
            ["/here", "/there"].map(|path| FileSettings { path: path.into(), size: 0 });
        let first = stores.get(&shm("a"), &here);
        assert!(is_same(&first, &stores.get(&shm("a"), &here)));
        assert!(!is_same(&first, &stores.get(&shm("b"), &here)));
        assert!(!is_same(&first, &stores.get(&shm("a"), &there)));
        let files = stores.host_files(&here);
        assert!(Rc::ptr_eq(&files, &stores.host_files(&here)));
        assert!(!Rc::ptr_eq(&files, &stores.host_files(&there)));
    }

    #[test]
    fn worker_with_too_many_stores_drops_all_but_the_buckets_of_its_own_memory() {
        let (stores, files) = (Stores::default(), FileSettings::default());
        let array = stores.get(&Target::Array, &files);
        let first = stores.get(&shm("0"), &files);
        for nth in 1..MAX_STORES - 1 {
            stores.get(&shm(&nth.to_string()), &files);
        }
        assert!(is_same(&first, &stores.get(&shm("0"), &files)));
        stores.get(&shm("one too many"), &files);
        assert!(is_same(&array, &stores.get(&Target::Array, &files)));
        assert!(!is_same(&first, &stores.get(&shm("0"), &files)));
    }
}
