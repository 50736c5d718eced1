//! A folder for the files of a test.

use super::FileSettings;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder in memory, removed when the test ends.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (process, nth) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = PathBuf::from(format!("/dev/shm/token_bucket-files-{process}-{nth}"));
        // Others may not write to it, whatever the umask.
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).unwrap();
        Self(folder)
    }

    pub fn files(&self) -> FileSettings {
        FileSettings { path: self.0.clone(), size: 1 << 20 }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
