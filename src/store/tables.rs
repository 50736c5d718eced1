//! What this user has in shared memory: the tables, how full they are, and the servers that this host uses.

use super::Host;
use super::host::{leases, servers::ServerStatus};
use super::shm::usage::TableUsage;
use crate::clock::boot_time;
use crate::error::{Error, Result};
use crate::mapped::{FileSettings, HOST, Location, Purpose, Region};
use std::path::PathBuf;

/// A table in shared memory.
#[derive(Debug, Clone)]
pub struct TableStatus {
    /// Its name, as in `shm:NAME`. `.host` is the table for when servers fail, `.leases` that of leases.
    pub name: String,
    /// What it holds.
    pub kind: TableKind,
    /// Its file.
    pub path: PathBuf,
    /// The size of the file, in bytes.
    pub size: u64,
    /// How full it is.
    pub usage: TableUsage,
}

/// What a table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    /// Buckets, windows and hits.
    Buckets,
    /// Permits.
    Permits,
    /// Tokens that this host has taken from servers ahead.
    Leases,
}

impl TableKind {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Buckets => "buckets",
            Self::Permits => "permits",
            Self::Leases => "leases",
        }
    }
}

impl TableStatus {
    /// The tables of this user, in the order of their names, and the errors of files that cannot be opened.
    pub fn list(files: &FileSettings) -> (Vec<Self>, Vec<Error>) {
        let (mut tables, mut errors) = (Vec::new(), Vec::new());
        for location in Location::list(files) {
            match Self::at(location) {
                Ok(table) => tables.extend(table),
                Err(error) => errors.push(error),
            }
        }
        (tables, errors)
    }

    fn at(location: Location) -> Result<Option<Self>> {
        let Some(region) = Region::open_existing(&location)? else { return Ok(None) };
        let (kind, usage) = match location.purpose {
            Purpose::Permits | Purpose::HostPermits => {
                (TableKind::Permits, TableUsage::of_permits(&region)?)
            }
            Purpose::Leases => (TableKind::Leases, leases::usage(&region)),
            Purpose::Buckets | Purpose::Host | Purpose::Counts => {
                (TableKind::Buckets, TableUsage::of_buckets(&region))
            }
        };
        let name = location.name.strip_suffix(".permits").unwrap_or(&location.name).to_owned();
        let (path, size) = (location.path(), region.size());
        Ok(Some(Self { name, kind, path, size, usage }))
    }
}

impl ServerStatus {
    /// The stores on servers that processes of this user use, among them those that are `configured`.
    pub fn list<'a>(files: &FileSettings, configured: impl Iterator<Item = &'a Host>) -> Vec<Self> {
        let Some(region) = host_file(files) else { return Vec::new() };
        configured.for_each(|host| host.note_call_in(&region, boot_time()));
        Host::list_servers(&region)
    }

    /// Leaves the stores of this name out of that list until a process calls them. Returns whether there is one.
    pub fn forget(files: &FileSettings, name: &str) -> bool {
        host_file(files).is_some_and(|region| Host::forget_server(&region, name))
    }
}

/// The file of what this host knows of servers. None if there is none, or it cannot be opened, which
/// [`TableStatus::list`] tells.
fn host_file(files: &FileSettings) -> Option<Region> {
    Region::open_existing(&Location::new(files, HOST, Purpose::Host)).ok().flatten()
}
