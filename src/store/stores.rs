//! The stores of a worker.

use super::array::Array;
use super::file::{FileSettings, Location, MappedFile, Purpose};
use super::host::Host;
use super::memcached::Memcached;
use super::mysql::Mysql;
use super::redis::Redis;
use super::request::Store;
use super::shm::SharedMemory;
use crate::dsn::Target;
use std::cell::RefCell;
use std::rc::Rc;

/// The most stores that a worker keeps. A worker that has opened more drops them all, for a program may
/// make up DSNs without end.
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
}

/// A store that limiters share.
#[derive(Clone)]
pub struct OpenStore {
    /// The store.
    pub store: Rc<dyn Store>,
    /// What this host knows about the servers; none for a store on this host.
    pub host: Option<Rc<Host>>,
}

impl Stores {
    /// Returns the store at `target`. Files and connections are opened by its first decision.
    pub fn get(&self, target: &Target, files: &FileSettings) -> OpenStore {
        let mut opened = self.opened.borrow_mut();
        if let Some((_, _, store)) = opened.iter().find(|(t, f, _)| t == target && f == files) {
            return store.clone();
        }
        if opened.len() >= MAX_STORES {
            opened.clear();
            self.host_files.borrow_mut().clear();
        }
        let store = self.open(target, files);
        opened.push((target.clone(), files.clone(), store.clone()));
        store
    }

    fn open(&self, target: &Target, files: &FileSettings) -> OpenStore {
        let host_file = || self.host_file(files);
        let store: Rc<dyn Store> = match target {
            Target::SharedMemory { name } => {
                Rc::new(SharedMemory::new(Location::new(files, name, Purpose::Buckets)))
            }
            Target::Array => Rc::new(Array::default()),
            Target::Redis(target) => Rc::new(Redis::new(target.clone())),
            Target::Memcached { servers } => Rc::new(Memcached::new(servers.clone(), host_file())),
            Target::Mysql(target) => Rc::new(Mysql::new(target.clone(), host_file())),
        };
        // The description holds no passwords.
        let host = || Rc::new(Host::new(&format!("{target:?}"), target.passwords(), host_file()));
        OpenStore { store, host: target.is_remote().then(host) }
    }

    fn host_file(&self, files: &FileSettings) -> Rc<MappedFile> {
        let mut known = self.host_files.borrow_mut();
        if let Some((_, file)) = known.iter().find(|(settings, _)| settings == files) {
            return Rc::clone(file);
        }
        let file = Rc::new(Host::file(files));
        known.push((files.clone(), Rc::clone(&file)));
        file
    }
}
