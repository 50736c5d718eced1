//! The tables that this user has in shared memory, and how full they are.

use crate::error::{Error, Result};
use crate::guard::leases;
use crate::mapped::{self, FileSettings, Location, Purpose};
use crate::store::shm::usage::TableUsage;
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
        let Some(region) = mapped::open_existing(&location)? else { return Ok(None) };
        let (kind, usage) = match location.purpose {
            Purpose::Permits | Purpose::HostPermits => {
                (TableKind::Permits, TableUsage::of_permits(&region)?)
            }
            Purpose::Leases => (TableKind::Leases, leases::usage(&region)),
            Purpose::Buckets | Purpose::Host | Purpose::Statistics => {
                (TableKind::Buckets, TableUsage::of_buckets(&region))
            }
        };
        let name = location.name.strip_suffix(".permits").unwrap_or(&location.name).to_owned();
        let (path, size) = (location.path(), region.size());
        Ok(Some(Self { name, kind, path, size, usage }))
    }
}
