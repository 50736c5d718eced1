//! A folder in memory for the files of this process's stores.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The folder, in the one that scripts/fuzz.sh makes and removes. A target that runs without the script leaves its
/// folder in /dev/shm.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let id = std::process::id();
        let base = std::env::var_os("TOKEN_BUCKET_FUZZ").map_or("/dev/shm".into(), PathBuf::from);
        let folder = base.join(format!("token_bucket-fuzz-{id}"));
        std::fs::create_dir_all(&folder).expect("a folder in memory");
        folder
    })
}
