//! The file behind the table: who may open it, and when it is taken as it is.
//!
//! `<base>/token_bucket-<uid>/<name>.v4`, where the directory is the user's alone
//! ([`directory`]). The file is made under another name, complete and with its space allocated,
//! and only then moved to its own; a process that finds one that is not right, or of an earlier boot
//! ([`boot`]), makes a fresh one, and never writes to what it found. A lock on the directory,
//! which the kernel frees with its holder, keeps two processes from doing so at once; the table itself
//! knows no lock.

pub mod boot;
pub mod directory;

use super::counters::{RECORDS, Record};
use super::host::circuits::Circuits;
use super::shm::table::WAYS;
use crate::clock::boot_time;
use crate::error::{Error, Result};
use crate::store::FileSettings;
use boot::BootId;
use directory::{failed, not_created, refused};
use portable_atomic::{AtomicU64, AtomicU128, Ordering};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::process::Uid;
use std::ffi::c_void;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// The version of everything in the file. Part of its name.
pub const LAYOUT: u32 = 4;

/// The smallest table, in bytes.
pub const MIN_SIZE: u64 = 64 * 1024;

/// The largest table, in bytes: the set index has 30 bits.
pub const MAX_SIZE: u64 = 64 << 30;

const MAGIC: [u8; 8] = *b"TBUCKETS";
/// Where the slots begin: on a page of their own.
const TABLE_OFFSET: u64 = 4096;
const SET_SIZE: u64 = size_of::<Set>() as u64;

/// The size of a file of what is counted, in bytes.
pub const COUNTS_SIZE: u64 = TABLE_OFFSET + (RECORDS * size_of::<Record>()) as u64;

/// How a host's file is divided: up to here buckets, up to there denials, the rest the
/// hot-key queue.
const BUCKETS: usize = 13;
const DENIALS: usize = 15;
const SIXTEENTHS: usize = 16;

/// A set of slots, on cache lines of its own.
#[repr(C, align(128))]
pub struct Set(pub [AtomicU128; WAYS]);

/// The start of the file. Written before the file gets its name, but for what is atomic.
#[repr(C)]
struct Header {
    magic: [u8; 8],
    layout: u32,
    reserved: u32,
    /// The whole file's, in bytes.
    size: u64,
    /// The boot in which its times count, as the process knew it that made the file.
    boot: BootId,
    /// The key of the hash that places the keys.
    secret: [u64; 2],
    /// When a process last noted that it uses the file, in nanoseconds since boot.
    used_at: AtomicU64,
    counters: Counters,
    circuits: Circuits,
}

const _: () = assert!(size_of::<Header>() as u64 <= TABLE_OFFSET);

/// What is counted for all processes together. On a cache line of its own.
#[repr(C, align(128))]
pub struct Counters {
    /// Buckets in use that had to go for want of room.
    pub evictions: AtomicU64,
}

/// Which file, and how large it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The directory that holds the users' directories; `/dev/shm` if empty.
    pub base: PathBuf,
    /// The table's name.
    pub name: String,
    /// Bytes, within [`MIN_SIZE`] and [`MAX_SIZE`].
    pub size: u64,
    /// What is in it.
    pub purpose: Purpose,
}

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The buckets of `shm:`.
    Buckets,
    /// What a host knows of its servers: buckets for when they fail, what they denied, and the
    /// hot-key queue.
    Host,
    /// What its processes count together.
    Counts,
}

impl Purpose {
    /// How many milliseconds to wait for a process that makes the file, which takes it a few; who
    /// takes longer is stopped. A call on a server has no time for that.
    const fn lock_timeout(self) -> u32 {
        match self {
            Self::Buckets => 500,
            Self::Host | Self::Counts => 10,
        }
    }

    /// How many sets of a file of this size are for buckets.
    const fn buckets(self, size: u64) -> usize {
        match self {
            Self::Buckets => count_sets(size),
            Self::Host => count_sets(size) / SIXTEENTHS * BUCKETS,
            Self::Counts => 0,
        }
    }
}

/// How many sets are in a file of this size.
const fn count_sets(size: u64) -> usize {
    ((size - TABLE_OFFSET) / SET_SIZE) as usize
}

impl Location {
    /// The file of this name, for this purpose.
    pub fn new(files: &FileSettings, name: &str, purpose: Purpose) -> Self {
        Self { base: files.path.clone(), name: name.to_owned(), size: files.size, purpose }
    }

    fn base(&self) -> PathBuf {
        if !self.base.as_os_str().is_empty() {
            return self.base.clone();
        }
        if cfg!(target_os = "linux") { "/dev/shm".into() } else { std::env::temp_dir() }
    }

    /// The file's path.
    pub fn path(&self) -> PathBuf {
        self.base().join(self.directory()).join(self.file())
    }

    fn directory(&self) -> String {
        format!("token_bucket-{}", rustix::process::geteuid().as_raw())
    }

    fn file(&self) -> String {
        format!("{}.v{LAYOUT}", self.name)
    }
}

/// A table mapped into this process.
pub struct Region {
    start: NonNull<c_void>,
    size: u64,
    /// None if it is this process's alone.
    file: Option<FileIdentity>,
    user: Uid,
    /// How many of the sets are for buckets.
    buckets: usize,
}

/// By what a file is known again: its device and inode, which no other file has while it is mapped.
struct FileIdentity {
    /// Where it was opened.
    path: PathBuf,
    stat: Stat,
}

impl FileIdentity {
    fn new(path: &Path, stat: Stat) -> Self {
        Self { path: path.to_owned(), stat }
    }

    /// Whether the file still is what its path leads to.
    fn is_at_its_path(&self) -> bool {
        let own = &self.stat;
        fs::lstat(&self.path)
            .is_ok_and(|stat| stat.st_dev == own.st_dev && stat.st_ino == own.st_ino)
    }
}

// SAFETY: what is mapped is changed through atomics alone, by whatever thread or process; the
// rest never changes.
unsafe impl Sync for Region {}
// SAFETY: as above; nothing of it belongs to a thread.
unsafe impl Send for Region {}

impl Region {
    /// Opens the table, or makes it.
    ///
    /// A file that is cut short, of another boot, or not a table at all is replaced by a
    /// fresh one.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] naming the path, if it cannot be made (no space, no permission),
    /// belongs to another user, is open to others or is a symbolic link.
    pub fn open(location: &Location) -> Result<Self> {
        if !super::shm::word::is_supported() {
            return Err(Error::storage(
                "Shared memory needs a processor that changes 128 bits at once",
            ));
        }
        let base = location.base();
        let directory = directory::open(&base, &location.directory())?;
        let path = location.path();
        if let Some(region) = find(&directory, location, &path)? {
            return Ok(region);
        }
        let _lock = directory::lock(&directory, &path, location.purpose.lock_timeout())?;
        // Another process may have made it in the meantime.
        match find(&directory, location, &path)? {
            Some(region) => Ok(region),
            None => make(&directory, location, &path),
        }
    }

    /// Maps the file, of which the descriptor is needed no longer then.
    fn map(
        file: &OwnedFd,
        identity: FileIdentity,
        location: &Location,
        size: u64,
    ) -> rustix::io::Result<Self> {
        // SAFETY: a new shared mapping at an address the kernel chooses touches no memory of
        // ours. It is only ever read and written through atomics (see `sets`, `counters`) or
        // before any other process knows the file (see `make`).
        let start = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                size as usize,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                file,
                0,
            )?
        };
        let start = NonNull::new(start).ok_or(Errno::NOMEM)?;
        let user = rustix::process::geteuid();
        let buckets = location.purpose.buckets(size);
        Ok(Self { start, size, file: Some(identity), user, buckets })
    }

    /// A table of this process and the children it will fork, for want of a better one.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] if there is no memory.
    pub fn of_this_process(location: &Location) -> Result<Self> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address the kernel chooses touches no memory of ours.
        let start = unsafe {
            rustix::mm::mmap_anonymous(std::ptr::null_mut(), MIN_SIZE as usize, protection, flags)
        };
        let start = start.ok().and_then(NonNull::new);
        let none = || Error::storage("There is no memory to map");
        let (start, header) = (start.ok_or_else(none)?, Header::new(MIN_SIZE).map_err(|_| none())?);
        // SAFETY: as in `fill`; no other process knows the mapping.
        unsafe { start.cast::<Header>().write(header) };
        let (user, buckets) = (rustix::process::geteuid(), location.purpose.buckets(MIN_SIZE));
        Ok(Self { start, size: MIN_SIZE, file: None, user, buckets })
    }

    fn header(&self) -> &Header {
        // SAFETY: the mapping is at least MIN_SIZE long and aligned to a page; every bit
        // pattern is a Header; after the file got its name nobody changes but the atomics.
        unsafe { self.start.cast::<Header>().as_ref() }
    }

    /// The counters all processes share.
    pub fn counters(&self) -> &Counters {
        &self.header().counters
    }

    /// The secret that places the keys.
    pub fn secret(&self) -> [u64; 2] {
        self.header().secret
    }

    /// The breakers all processes share.
    pub fn circuits(&self) -> &Circuits {
        &self.header().circuits
    }

    /// The sets of slots for buckets.
    #[inline(always)]
    pub fn sets(&self) -> &[Set] {
        // SAFETY: `buckets` is at most the number of sets in the mapping, which is `size` bytes
        // long and lives as long as self; the offset is a multiple of Set's alignment; a Set is
        // made of atomics, of which any bit pattern is valid and which other processes change by
        // atomic operations only.
        unsafe { std::slice::from_raw_parts(self.table(), self.buckets) }
    }

    /// The sets for denials, of a host's file.
    pub fn denials(&self) -> &[Set] {
        self.of_host(BUCKETS, DENIALS)
    }

    /// The sets of the hot-key queue, of a host's file.
    pub fn queue(&self) -> &[Set] {
        self.of_host(DENIALS, SIXTEENTHS)
    }

    /// The sets from one sixteenth to another.
    fn of_host(&self, from: usize, to: usize) -> &[Set] {
        let count = count_sets(self.size);
        let part = count / SIXTEENTHS;
        // SAFETY: as in `sets`, for all of them.
        let all = unsafe { std::slice::from_raw_parts(self.table(), count) };
        all.get(part * from..part * to).unwrap_or_default()
    }

    fn table(&self) -> *const Set {
        // SAFETY: the mapping is longer than that.
        unsafe { self.start.byte_add(TABLE_OFFSET as usize).cast::<Set>().as_ptr() }
    }

    /// All that is behind the header, as a `T` after another.
    ///
    /// # Safety
    ///
    /// Any bit pattern must be a `T`, and it must be made of atomics alone.
    #[inline(always)]
    pub(super) unsafe fn all_of<T>(&self) -> &[T] {
        const { assert!(align_of::<T>() as u64 <= TABLE_OFFSET) };
        let count = (self.size - TABLE_OFFSET) as usize / size_of::<T>();
        // SAFETY: so many fit into the mapping, which lives as long as self and is aligned to a
        // page, as is the offset; the rest is the caller's to promise.
        unsafe { std::slice::from_raw_parts(self.table().cast::<T>(), count) }
    }

    /// The file's size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether this is no longer the table to use: its path leads to another file or to none, so
    /// processes that open it now share another one; or this process now runs as another user than
    /// the one that opened it, as after a fork of a master that had used it.
    pub fn is_stale(&self) -> bool {
        // One of this process alone makes way for a real one as soon as that can be had.
        !self.is_own() || !self.file.as_ref().is_some_and(FileIdentity::is_at_its_path)
    }

    /// Notes in the file that it is used now (see [`boot`]).
    pub fn note_use(&self) {
        self.header().used_at.fetch_max(boot_time(), Ordering::Relaxed);
    }

    /// Whether this process runs as the user who opened the table.
    pub fn is_own(&self) -> bool {
        self.user == rustix::process::geteuid()
    }

    /// Whether the header is that of a table of this layout, size and boot.
    fn is_valid(&self) -> bool {
        let header = self.header();
        header.magic == MAGIC
            && header.layout == LAYOUT
            && header.size == self.size
            && boot::is_this_boot(&header.boot, header.used_at.load(Ordering::Relaxed))
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: `start` and `size` are those of our own mapping, and every reference into
        // it borrows self. A failure leaves it mapped, which harms nobody.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr(), self.size as usize) };
    }
}

/// The file as it stands, if it is a table; `None` if there is none, or a fresh one must
/// take its place.
fn find(directory: &OwnedFd, location: &Location, path: &Path) -> Result<Option<Region>> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = match fs::openat(directory, location.file(), flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP) => return Err(refused(path, "is a symbolic link; remove it")),
        Err(error) => return Err(failed("open", path, error)),
    };
    let stat = fs::fstat(&file).map_err(|error| failed("open", path, error))?;
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(refused(path, &format!("belongs to user {}; remove it", stat.st_uid)));
    }
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(refused(path, "is not a regular file; remove it"));
    }
    if stat.st_mode & 0o077 != 0 {
        return Err(refused(path, "is open to other users; remove it"));
    }
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    if !(MIN_SIZE..=MAX_SIZE).contains(&size) {
        return Ok(None);
    }
    let region = Region::map(&file, FileIdentity::new(path, stat), location, size)
        .map_err(|error| failed("map", path, error))?;
    if !region.is_valid() {
        return Ok(None);
    }
    region.note_use();
    Ok(Some(region))
}

/// Makes a fresh table and puts it in the place of whatever is there. Under the lock.
fn make(directory: &OwnedFd, location: &Location, path: &Path) -> Result<Region> {
    let draft = format!(".{}.new", location.file());
    let file = create(directory, &draft).map_err(|error| not_created(directory, path, error))?;
    fill(&file, location, path)
        .and_then(|region| {
            fs::renameat(directory, &draft, directory, location.file()).map(|()| region)
        })
        .map_err(|error| {
            let _ = fs::unlinkat(directory, &draft, AtFlags::empty());
            match error {
                Errno::NOSPC | Errno::DQUOT => refused(
                    path,
                    &format!(
                        "cannot be made: no space for its {} bytes; \
                         lower token_bucket.shm_size or set token_bucket.shm_path",
                        location.size
                    ),
                ),
                Errno::FBIG => refused(
                    path,
                    &format!(
                        "cannot be made: this process may write no file of its {} bytes; \
                         lower token_bucket.shm_size or raise RLIMIT_FSIZE (ulimit -f)",
                        location.size
                    ),
                ),
                other => failed("make", path, other),
            }
        })
}

/// Creates the file that becomes the table, empty and with the mode 0600 whatever the umask.
fn create(directory: &OwnedFd, draft: &str) -> rustix::io::Result<OwnedFd> {
    // Left by a process that was killed while it held the lock we hold now.
    match fs::unlinkat(directory, draft, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error),
    }
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    let file = fs::openat(directory, draft, flags, mode)?;
    fs::fchmod(&file, mode)?;
    Ok(file)
}

/// Gives the draft its space and its header.
fn fill(file: &OwnedFd, location: &Location, path: &Path) -> rustix::io::Result<Region> {
    // Without its space a mapped file kills the process (SIGBUS) when the disk is full.
    allocate(file, location.size)?;
    let identity = FileIdentity::new(path, fs::fstat(file)?);
    let region = Region::map(file, identity, location, location.size)?;
    let header = Header::new(location.size)?;
    // SAFETY: the mapping begins with room for a Header, page-aligned, and no other process
    // can know a file that has only its draft's name, in a directory that is locked.
    unsafe { region.start.cast::<Header>().write(header) };
    Ok(region)
}

impl Header {
    /// Of a table of this size, with a secret of its own.
    fn new(size: u64) -> rustix::io::Result<Self> {
        let mut secret = [0u8; 16];
        rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty())?;
        let secret = [secret.first_chunk::<8>(), secret.last_chunk::<8>()]
            .map(|half| half.map_or(0, |bytes| u64::from_ne_bytes(*bytes)));
        Ok(Self {
            magic: MAGIC,
            layout: LAYOUT,
            reserved: 0,
            size,
            boot: boot::read_id(),
            secret,
            used_at: AtomicU64::new(boot_time()),
            counters: Counters { evictions: AtomicU64::new(0) },
            circuits: Circuits::default(),
        })
    }
}

fn allocate(file: &OwnedFd, size: u64) -> rustix::io::Result<()> {
    // Beyond that the kernel would kill the process (SIGXFSZ).
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    if limit.is_some_and(|most| most < size) {
        return Err(Errno::FBIG);
    }
    #[cfg(target_os = "linux")]
    match fs::fallocate(file, fs::FallocateFlags::empty(), 0, size) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
        done => return done,
    }
    let zeros = [0u8; 65536];
    let mut written = 0;
    while written < size {
        let rest = usize::try_from(size - written).unwrap_or(usize::MAX).min(zeros.len());
        written += rustix::io::write(file, zeros.get(..rest).unwrap_or_default())? as u64;
    }
    Ok(())
}
