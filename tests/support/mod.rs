//! What several test programs share.

use std::path::PathBuf;

/// A folder in memory, removed when the test ends.
pub struct Folder(pub PathBuf);

impl Folder {
    /// Makes the folder; `name` is unique among the tests of a program.
    pub fn new(name: &str) -> Self {
        let folder =
            PathBuf::from(format!("/dev/shm/token_bucket-test-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
