//! Where a file is, and how large it is made.

use super::layout::{LAYOUT, LEASES_SIZE, PERMITS_SIZE, Purpose};
use crate::dsn::is_table_name;
use crate::settings::Settings;
use std::path::PathBuf;

/// The name of the file with what this host knows of servers. No DSN can name it.
pub const HOST: &str = ".host";

/// The start of the name of a user's directory; the user's id follows.
const DIRECTORY: &str = "token_bucket-";

/// The name of the file of leases. No DSN can name it.
pub const LEASES: &str = ".leases";

/// Where shared memory's files are, and how large a table is made: what the directives say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileSettings {
    /// The directory for shared memory; the system's if empty.
    pub path: PathBuf,
    /// The size of a table in bytes.
    pub size: u64,
}

impl From<&Settings> for FileSettings {
    fn from(settings: &Settings) -> Self {
        Self { path: settings.shm_path.clone(), size: settings.shm_size }
    }
}

/// Which file, what it is for, and how large it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The directory that holds the users' directories; `/dev/shm` if empty.
    pub base: PathBuf,
    /// The file's name, without the version.
    pub name: String,
    /// Bytes, within [`MIN_SIZE`](super::MIN_SIZE) and [`MAX_SIZE`](super::MAX_SIZE).
    pub size: u64,
    /// What the file is for.
    pub purpose: Purpose,
}

impl Location {
    /// The file of this name, for this purpose.
    pub fn new(files: &FileSettings, name: &str, purpose: Purpose) -> Self {
        let size = match purpose {
            Purpose::Permits | Purpose::HostPermits => PERMITS_SIZE,
            Purpose::Leases => LEASES_SIZE,
            Purpose::Buckets | Purpose::Host | Purpose::Statistics => files.size,
        };
        Self { base: files.path.clone(), name: name.to_owned(), size, purpose }
    }

    /// The file of permits beside the file of this name.
    pub fn of_permits(files: &FileSettings, name: &str, purpose: Purpose) -> Self {
        Self::new(files, &format!("{name}.permits"), purpose)
    }

    /// All files of the user that are named like tables, [`HOST`] or [`LEASES`], with their permits.
    pub fn list(files: &FileSettings) -> Vec<Self> {
        let host = Self::new(files, HOST, Purpose::Host);
        let directory = host.base().join(host.directory());
        let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let end = format!(".v{LAYOUT}");
        let mut list: Vec<Self> = names
            .filter_map(|file| {
                let name = file.strip_suffix(&end)?;
                match name.strip_suffix(".permits") {
                    Some(HOST) => Some(Self::of_permits(files, HOST, Purpose::HostPermits)),
                    Some(table) => is_table_name(table)
                        .then(|| Self::of_permits(files, table, Purpose::Permits)),
                    None if name == HOST => Some(Self::new(files, HOST, Purpose::Host)),
                    None if name == LEASES => Some(Self::new(files, LEASES, Purpose::Leases)),
                    None => is_table_name(name).then(|| Self::new(files, name, Purpose::Buckets)),
                }
            })
            .collect();
        list.sort_by(|a, b| a.name.cmp(&b.name));
        list
    }

    /// The ids of other users that have a file of this name, in their order. An empty list if this process is not root's,
    /// for no other may look.
    pub fn other_users(&self) -> Vec<u32> {
        let own = rustix::process::geteuid();
        if !own.is_root() {
            return Vec::new();
        }
        let Ok(entries) = std::fs::read_dir(self.base()) else { return Vec::new() };
        let mut users: Vec<u32> = entries
            .flatten()
            .filter(|entry| entry.path().join(self.file()).is_file())
            .filter_map(|entry| entry.file_name().to_str()?.strip_prefix(DIRECTORY)?.parse().ok())
            .filter(|user| *user != own.as_raw())
            .collect();
        users.sort_unstable();
        users
    }

    /// The directory that holds the users' directories.
    pub(super) fn base(&self) -> PathBuf {
        if !self.base.as_os_str().is_empty() {
            return self.base.clone();
        }
        if cfg!(target_os = "linux") { "/dev/shm".into() } else { std::env::temp_dir() }
    }

    /// The path of the file.
    pub fn path(&self) -> PathBuf {
        self.base().join(self.directory()).join(self.file())
    }

    /// The name of the user's own directory.
    pub(super) fn directory(&self) -> String {
        format!("{DIRECTORY}{}", rustix::process::geteuid().as_raw())
    }

    /// The name of the file in that directory.
    pub(super) fn file(&self) -> String {
        format!("{}.v{LAYOUT}", self.name)
    }
}
