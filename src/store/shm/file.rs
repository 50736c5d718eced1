//! The file behind the table: who may open it, and when it is taken as it is.
//!
//! `<base>/token_bucket-<uid>/<name>.v4`, where the directory is the user's alone. The
//! file is made under another name, complete and with its space allocated, and only then
//! moved to its own; whoever finds one that is not right makes a fresh one, and never
//! writes to what it found. A lock on the directory, which the kernel frees with its
//! holder, keeps two processes from doing so at once; the table itself knows no lock.

use super::circuits::Circuits;
use super::counts::{RECORDS, Record};
use super::table::WAYS;
use crate::error::{Error, Result};
use crate::limit::SECOND;
use crate::store::FileSettings;
use portable_atomic::{AtomicU64, AtomicU128};
use rustix::fs::{self, AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::process::Uid;
use std::ffi::c_void;
use std::os::fd::{AsFd, OwnedFd};
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

/// The start of the file. Written before the file gets its name, but for the counters.
#[repr(C)]
struct Header {
    magic: [u8; 8],
    layout: u32,
    reserved: u32,
    /// The whole file's, in bytes.
    size: u64,
    /// The boot in which its times count.
    boot: [u8; 40],
    /// The key of the hash that places the keys.
    secret: [u64; 2],
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
    const fn patience(self) -> u32 {
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
    file: Option<OwnedFd>,
    user: Uid,
    /// How many of the sets are for buckets.
    buckets: usize,
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
        if !super::word::is_supported() {
            return Err(Error::storage(
                "Shared memory needs a processor that changes 128 bits at once",
            ));
        }
        let base = location.base();
        let directory = open_directory(&base, &location.directory())?;
        let path = location.path();
        if let Some(region) = find(&directory, location, &path)? {
            return Ok(region);
        }
        let _lock = lock(&directory, &path, location.purpose.patience())?;
        // Another process may have made it in the meantime.
        match find(&directory, location, &path)? {
            Some(region) => Ok(region),
            None => make(&directory, location, &path),
        }
    }

    fn map(file: OwnedFd, location: &Location, size: u64) -> rustix::io::Result<Self> {
        // SAFETY: a new shared mapping at an address the kernel chooses touches no memory of
        // ours. It is only ever read and written through atomics (see `sets`, `counters`) or
        // before any other process knows the file (see `make`).
        let start = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                size as usize,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                &file,
                0,
            )?
        };
        let start = NonNull::new(start).ok_or(Errno::NOMEM)?;
        let user = rustix::process::geteuid();
        Ok(Self { start, size, file: Some(file), user, buckets: location.purpose.buckets(size) })
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
        // SAFETY: as in `draft_table`; nobody else knows the mapping.
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

    /// Whether this is no longer the table to use: its file has lost its name, so processes
    /// that open it now share another one; or this process now runs as another user than the
    /// one who opened it, as after a fork of a master that had used it.
    pub fn is_stale(&self) -> bool {
        let lost = |file| fs::fstat(file).is_ok_and(|stat| stat.st_nlink == 0);
        // One of this process alone makes way for a real one as soon as that can be had.
        !self.is_own() || self.file.as_ref().is_none_or(lost)
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
            && header.boot == boot_id()
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
    let region = Region::map(file, location, size).map_err(|error| failed("map", path, error))?;
    Ok(region.is_valid().then_some(region))
}

/// Makes a fresh table and puts it in the place of whatever is there. Under the lock.
fn make(directory: &OwnedFd, location: &Location, path: &Path) -> Result<Region> {
    let draft = format!(".{}.new", location.file());
    let made = draft_table(directory, location, &draft)
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
        })?;
    Ok(made)
}

fn draft_table(
    directory: &OwnedFd,
    location: &Location,
    draft: &str,
) -> rustix::io::Result<Region> {
    // Left by a process that was killed while it held the lock we hold now.
    match fs::unlinkat(directory, draft, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error),
    }
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = fs::openat(directory, draft, flags, Mode::RUSR | Mode::WUSR)?;
    // Without its space a mapped file kills the process (SIGBUS) when the disk is full.
    allocate(&file, location.size)?;
    let region = Region::map(file, location, location.size)?;
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
            boot: boot_id(),
            secret,
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

/// The user's own directory below `base`, made if need be.
fn open_directory(base: &Path, name: &str) -> Result<OwnedFd> {
    let path = base.join(name);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = fs::openat(fs::CWD, base, flags, Mode::empty()).map_err(|error| {
        let remedy = match error {
            Errno::NOENT | Errno::NOTDIR => "; set token_bucket.shm_path to one that exists",
            _ => "",
        };
        let base = base.display();
        Error::storage(format!(
            "Cannot open the directory {base} for shared memory: {error}{remedy}"
        ))
    })?;
    match fs::mkdirat(&parent, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(failed("make", &path, error)),
    }
    let directory =
        fs::openat(&parent, name, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(|error| {
            match error {
                Errno::NOTDIR | Errno::LOOP => refused(&path, "is not a directory; remove it"),
                other => failed("open", &path, other),
            }
        })?;
    let stat = fs::fstat(&directory).map_err(|error| failed("open", &path, error))?;
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(refused(&path, &format!("belongs to user {}; remove it", stat.st_uid)));
    }
    if stat.st_mode & 0o077 != 0 {
        return Err(refused(&path, "is open to other users; its mode must be 0700"));
    }
    Ok(directory)
}

/// Held until dropped; the kernel drops it with the process.
struct Lock(#[expect(dead_code, reason = "closing it unlocks")] OwnedFd);

fn lock(directory: &OwnedFd, path: &Path, patience_ms: u32) -> Result<Lock> {
    // A descriptor of its own: one that was inherited by a child would keep the lock.
    let own = fs::openat(directory.as_fd(), ".", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| failed("lock", path, error))?;
    for _ in 0..patience_ms {
        match fs::flock(&own, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Lock(own)),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                std::thread::sleep(std::time::Duration::from_nanos(SECOND / 1_000));
            }
            Err(error) => return Err(failed("lock", path, error)),
        }
    }
    Err(refused(path, "is being made by another process that does not come to an end"))
}

/// The boot this is, as text; zeros where the system does not tell.
fn boot_id() -> [u8; 40] {
    let mut id = [0; 40];
    let text = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    for (to, from) in id.iter_mut().zip(text) {
        *to = from;
    }
    id
}

fn failed(what: &str, path: &Path, error: Errno) -> Error {
    Error::storage(format!("Cannot {what} shared memory {}: {error}", path.display()))
}

fn refused(path: &Path, why: &str) -> Error {
    Error::storage(format!("Shared memory {} {why}", path.display()))
}
