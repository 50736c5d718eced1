//! Where the files in shared memory are.

use std::path::PathBuf;

/// Where the files in shared memory are, and how large a table is made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileSettings {
    /// The directory for shared memory; the system's if empty.
    pub path: PathBuf,
    /// The size of a table in bytes.
    pub size: u64,
}
