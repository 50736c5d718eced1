//! Which file is used as it is, and how a new one is made.
//!
//! A new file is made under another name, complete and with its space allocated, and only then
//! renamed. A file that is not valid, or of an earlier boot ([`boot`](super::boot)), is replaced and
//! never written to; one that may be of this boot is refused. A lock on the directory, which the kernel frees when its holder ends, keeps two
//! processes from making a file at once. No call waits for that lock once the file is there.

use super::boot::{Boot, Evidence, is_memory};
use super::cgroup;
use super::directory::{self, failed, not_created, unusable};
use super::layout::{Header, MAX_SIZE, MIN_SIZE, Purpose};
use super::location::{FileSettings, Location};
use super::region::{FileIdentity, Region};
use crate::error::{Error, Result};
use portable_atomic::AtomicU128;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use std::os::fd::OwnedFd;
use std::path::Path;

/// Opens the file, or makes it.
///
/// A file that is cut short, of another boot, or no table at all is replaced by a new one.
///
/// # Errors
///
/// [`ErrorKind::Storage`](crate::error::ErrorKind::Storage) naming the path, if the file cannot be made (no space, no permission),
/// belongs to another user, is open to others or is a symbolic link, or may be of this boot or of an earlier one.
pub fn open(location: &Location) -> Result<Region> {
    open_within(location, lock_timeout(location.purpose))?
        .ok_or_else(|| directory::unfinished(&location.path()))
}

/// Opens the file, or makes it. None if another process makes it and needs more than `timeout_ms`
/// milliseconds.
///
/// # Errors
///
/// Those of [`open`].
pub fn open_within(location: &Location, timeout_ms: u32) -> Result<Option<Region>> {
    // Without such an instruction a word of 128 bits would be guarded by a lock of this process,
    // which no other process honours.
    if !AtomicU128::is_lock_free() {
        return Err(Error::storage(
            "Shared memory needs a processor that changes 128 bits at once",
        ));
    }
    let directory = directory::open(&location.base(), &location.directory())?;
    let path = location.path();
    if let Some(region) = find(&directory, location, &path)? {
        return Ok(Some(region));
    }
    let Some(_lock) = directory::lock(&directory, &path, timeout_ms)? else { return Ok(None) };
    // Another process may have made the file in the meantime.
    match find(&directory, location, &path)? {
        Some(region) => Ok(Some(region)),
        None => make(&directory, location, &path).map(Some),
    }
}

/// Opens the file if it is there and valid. Nothing is made.
///
/// # Errors
///
/// Those of [`open`].
pub fn open_existing(location: &Location) -> Result<Option<Region>> {
    match directory::open_existing(&location.base(), &location.directory())? {
        Some(directory) => find(&directory, location, &location.path()),
        None => Ok(None),
    }
}

/// Checks that the file can be used, or made if it is not there. Makes at most the directory.
///
/// # Errors
///
/// Those of [`open`], but those of a process that may write no large files.
pub fn check(location: &Location) -> Result<()> {
    let directory = directory::open(&location.base(), &location.directory())?;
    let path = location.path();
    if find(&directory, location, &path)?.is_some() {
        return Ok(());
    }
    let free = fs::fstatvfs(&directory).map_err(|error| failed("make", &path, error))?;
    if free.f_files > 0 && free.f_favail == 0 {
        return Err(not_created(&directory, &path, Errno::NOSPC));
    }
    check_count(location, &path)?;
    check_memory(&directory, location, &path)?;
    // A file system without a bound reports no blocks at all.
    if free.f_blocks > 0 && free.f_bavail.saturating_mul(free.f_frsize) < location.size {
        return Err(not_filled(&path, location, Errno::NOSPC));
    }
    Ok(())
}

/// Memory of this process alone, and of the children it forks, for when no file can be had.
///
/// # Errors
///
/// [`ErrorKind::Storage`](crate::error::ErrorKind::Storage) if there is no memory.
pub fn without_file(purpose: Purpose) -> Result<Region> {
    let make = || {
        let mut region = Region::map_anonymous(purpose, MIN_SIZE)?;
        // SAFETY: no other process can map memory without a file, and none was forked since it was mapped.
        unsafe { region.write_header(Header::new(MIN_SIZE)?) };
        Ok::<_, Errno>(region)
    };
    make().map_err(|_| Error::storage("There is no memory to map"))
}

/// How many milliseconds to wait for another process that makes the file. That takes some ten on a busy machine;
/// a process that takes much longer is stopped. A call on a server waits as long as it may wait for the server by
/// default, and does without statistics or leases sooner.
pub(super) const fn lock_timeout(purpose: Purpose) -> u32 {
    match purpose {
        Purpose::Buckets | Purpose::Permits => 500,
        Purpose::Host | Purpose::HostPermits => 50,
        Purpose::Statistics | Purpose::Leases => 10,
    }
}

/// Maps the file that is there, if it is valid.
fn find(directory: &OwnedFd, location: &Location, path: &Path) -> Result<Option<Region>> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = match fs::openat(directory, location.file(), flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP) => return Err(unusable(path, "is a symbolic link; remove it")),
        Err(error) => return Err(failed("open", path, error)),
    };
    let stat = fs::fstat(&file).map_err(|error| failed("open", path, error))?;
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(unusable(path, &format!("belongs to user {}; remove it", stat.st_uid)));
    }
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(unusable(path, "is not a regular file; remove it"));
    }
    if stat.st_mode & 0o077 != 0 {
        return Err(unusable(path, "is open to other users; remove it"));
    }
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    if !(MIN_SIZE..=MAX_SIZE).contains(&size) {
        return Ok(None);
    }
    let evidence = Evidence::of(&file, &stat);
    let region = Region::map(&file, FileIdentity::new(path, stat), location.purpose, size)
        .map_err(|error| failed("map", path, error))?;
    if !region.header().is_valid(size) {
        return Ok(None);
    }
    match region.header().boot(evidence) {
        Boot::This => {
            region.note_use();
            Ok(Some(region))
        }
        Boot::Earlier => Ok(None),
        Boot::Unknown => Err(unusable(
            path,
            "was made under another boot id (/proc/sys/kernel/random/boot_id), by a process that may be running; \
             set token_bucket.shm_path to a directory on tmpfs, or remove the file",
        )),
    }
}

/// Makes a new file and puts it in the place of whatever is there. The caller holds the lock.
fn make(directory: &OwnedFd, location: &Location, path: &Path) -> Result<Region> {
    check_count(location, path)?;
    check_memory(directory, location, path)?;
    let draft = format!(".{}.new", location.file());
    let file = create(directory, &draft).map_err(|error| not_created(directory, path, error))?;
    fill(&file, location, path)
        .and_then(|region| {
            fs::renameat(directory, &draft, directory, location.file()).map(|()| region)
        })
        .map_err(|error| {
            let _ = fs::unlinkat(directory, &draft, AtFlags::empty());
            not_filled(path, location, error)
        })
}

/// Checks that not too many tables are there: a program may make up names, and their files stay when it ends.
fn check_count(location: &Location, path: &Path) -> Result<()> {
    const MOST: usize = 64;
    let files = FileSettings { path: location.base.clone(), size: location.size };
    let is_another = |it: &Location| it.purpose == location.purpose && it.name != location.name;
    if Location::list(&files).into_iter().filter(is_another).count() < MOST {
        return Ok(());
    }
    Err(unusable(
        path,
        &format!(
            "cannot be made: its folder has {MOST} tables, the most; use one of them, or remove those that are not used"
        ),
    ))
}

/// Checks that the control group of this process has memory for the file, if files in the directory are memory: else
/// the kernel would kill the process for making it.
fn check_memory(directory: &OwnedFd, location: &Location, path: &Path) -> Result<()> {
    match cgroup::tightest().filter(|group| group.left < location.size && is_memory(directory)) {
        None => Ok(()),
        Some(group) => {
            let (size, left, limit) = (location.size, group.left, group.limit);
            Err(unusable(
                path,
                &format!(
                    "cannot be made: it needs {size} bytes, and {left} of the container's {limit} bytes of memory are left; \
                     {}raise that limit",
                    lower_size(location)
                ),
            ))
        }
    }
}

/// Creates the draft of a file, empty and with the mode 0600 whatever the umask.
fn create(directory: &OwnedFd, draft: &str) -> rustix::io::Result<OwnedFd> {
    // A process that was killed while it held the lock may have left one.
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
    // A mapped file without its space kills the process (SIGBUS) when the disk is full.
    allocate(file, location.size)?;
    let identity = FileIdentity::new(path, fs::fstat(file)?);
    let mut region = Region::map(file, identity, location.purpose, location.size)?;
    // SAFETY: no other process looks for the name of a draft, or makes one while this one holds the
    // lock on the directory.
    unsafe { region.write_header(Header::new(location.size)?) };
    Ok(region)
}

fn allocate(file: &OwnedFd, size: u64) -> rustix::io::Result<()> {
    // The kernel kills a process that writes beyond this limit (SIGXFSZ).
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    if limit.is_some_and(|most| most < size) {
        return Err(Errno::FBIG);
    }
    #[cfg(target_os = "linux")]
    match reserve(file, size) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
        done => return done,
    }
    let zeros = [0u8; 65536];
    let mut written = 0;
    while written < size {
        let rest = usize::try_from(size - written).unwrap_or(usize::MAX).min(zeros.len());
        let part = zeros.get(..rest).unwrap_or_default();
        written += retry_on_intr(|| rustix::io::write(file, part))? as u64;
    }
    Ok(())
}

/// Has the kernel reserve the space, part by part: a signal ends the call and undoes its part, and a profiler may send one
/// each millisecond.
#[cfg(target_os = "linux")]
fn reserve(file: &OwnedFd, size: u64) -> rustix::io::Result<()> {
    const PART: u64 = 1 << 20;
    let mut reserved = 0;
    while reserved < size {
        let part = PART.min(size - reserved);
        retry_on_intr(|| fs::fallocate(file, fs::FallocateFlags::empty(), reserved, part))?;
        reserved += part;
    }
    Ok(())
}

/// The remedy for a file that is too big, in front of another one.
fn lower_size(location: &Location) -> &'static str {
    match location.purpose {
        Purpose::Buckets | Purpose::Host => "lower token_bucket.shm_size or ",
        // Their sizes are fixed.
        Purpose::Permits | Purpose::HostPermits | Purpose::Leases | Purpose::Statistics => "",
    }
}

/// The error of a draft that could not be given its space or its name.
fn not_filled(path: &Path, location: &Location, error: Errno) -> Error {
    let size = location.size;
    let lower = lower_size(location);
    match error {
        Errno::NOSPC | Errno::DQUOT => unusable(
            path,
            &format!(
                "cannot be made: no space for its {size} bytes; {lower}set token_bucket.shm_path"
            ),
        ),
        Errno::FBIG => unusable(
            path,
            &format!(
                "cannot be made: this process may not write a file of {size} bytes; \
                 {lower}raise RLIMIT_FSIZE (ulimit -f)"
            ),
        ),
        other => failed("make", path, other),
    }
}
