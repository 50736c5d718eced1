//! A file that workers look at again and again: its version, and its text.

use crate::clock::unix_nanoseconds;
use crate::regular_file;
use std::fmt;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// How long a file must have been left alone before it is read.
const REST: Duration = Duration::from_millis(500);

/// Identifies a version of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    device: u64,
    inode: u64,
    size: u64,
    /// When the file was changed last, in seconds and nanoseconds since 1970. A program can set the time of the
    /// last write, but not this one.
    changed_at: (i64, i64),
}

impl Version {
    fn of(file: &Metadata) -> Self {
        let changed_at = (file.ctime(), file.ctime_nsec());
        Self { device: file.dev(), inode: file.ino(), size: file.size(), changed_at }
    }

    /// How long the file has to be left alone still.
    pub fn rest(&self) -> Duration {
        let (seconds, ns) = self.changed_at;
        let changed_at = Duration::new(seconds.max(0) as u64, ns.max(0) as u32);
        let now = Duration::from_nanos(unix_nanoseconds());
        // A file from the future does not wait for its time.
        now.checked_sub(changed_at).map_or(Duration::ZERO, |age| REST.saturating_sub(age))
    }
}

/// Why a file has no text.
pub enum NoText {
    /// It was changed while it was read.
    Changed,
    /// For this reason.
    Because(String),
}

impl fmt::Display for NoText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Changed => "was changed while it was read",
            Self::Because(reason) => reason,
        })
    }
}

/// Opens a file, or says why it cannot be read.
pub fn open(path: &Path) -> Result<(File, Version), String> {
    let (file, metadata) = regular_file::open(path)?;
    Ok((file, Version::of(&metadata)))
}

/// Reads the text of a file of this version, of so many MiB at most.
pub fn read_text(mut file: File, version: Version, mib: u64) -> Result<Vec<u8>, NoText> {
    let text = regular_file::read(&mut file, mib).map_err(NoText::Because)?;
    match file.metadata().is_ok_and(|metadata| Version::of(&metadata) == version) {
        true => Ok(text),
        false => Err(NoText::Changed),
    }
}
