//! The files of stores on servers.

use crate::mapped::{FileSettings, HOST, LEASES, Location, MappedFile, Purpose};
use crate::store::shm::permits::PermitTable;
use std::rc::Rc;

/// What stores on servers keep on this host. Each file is opened by the first call that needs it.
pub struct HostFiles {
    /// What the host knows about servers.
    pub host: Rc<MappedFile>,
    pub(super) leases: Rc<MappedFile>,
    /// The permits for when a server fails.
    pub(super) permits: Rc<PermitTable>,
}

impl HostFiles {
    /// The files that these settings place.
    pub fn new(files: &FileSettings) -> Self {
        let file = |name, purpose| Rc::new(MappedFile::new(Location::new(files, name, purpose)));
        let permits = Location::of_permits(files, HOST, Purpose::HostPermits);
        Self {
            host: file(HOST, Purpose::Host),
            leases: file(LEASES, Purpose::Leases),
            permits: Rc::new(PermitTable::new(permits)),
        }
    }
}
