//! A file mapped into this process, and the areas in it.

use super::directory::failed;
use super::layout::{Area, Areas, BODY_AT, Header, MIN_SIZE, Purpose, SET_SIZE};
use crate::descriptor::is_same_file;
use crate::error::Result;
use portable_atomic::{AtomicU64, AtomicU128};
use rustix::fs::{self, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::process::Uid;
use std::ffi::c_void;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// A type that may lie in a mapped file, which other processes change at any time.
///
/// # Safety
///
/// The type consists of atomics alone, and any bits are a value of it.
pub unsafe trait Mappable {}

// SAFETY: an atomic, of which any bits are a value.
unsafe impl Mappable for AtomicU64 {}
// SAFETY: an atomic, of which any bits are a value.
unsafe impl Mappable for AtomicU128 {}

/// A file mapped into this process.
pub struct Region {
    start: NonNull<c_void>,
    size: u64,
    /// None if no file is behind the memory.
    file: Option<FileIdentity>,
    /// The user that mapped it.
    user: Uid,
    areas: Areas,
}

/// By what a file is recognised: no other file has its device and inode while it is mapped.
pub(super) struct FileIdentity {
    /// Where it was opened.
    path: PathBuf,
    stat: Stat,
}

impl FileIdentity {
    pub(super) fn new(path: &Path, stat: Stat) -> Self {
        Self { path: path.to_owned(), stat }
    }

    /// Whether the path still leads to the file.
    fn is_at_its_path(&self) -> bool {
        fs::lstat(&self.path).is_ok_and(|stat| is_same_file(&stat, &self.stat))
    }
}

// SAFETY: all that any thread or process changes in the mapping are atomics; the rest never changes.
unsafe impl Sync for Region {}
// SAFETY: nothing in the mapping belongs to a thread.
unsafe impl Send for Region {}

impl Region {
    /// Maps `size` bytes of a file. The descriptor may be closed after that.
    pub(super) fn map(
        file: &OwnedFd,
        identity: FileIdentity,
        purpose: Purpose,
        size: u64,
    ) -> rustix::io::Result<Self> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address that the kernel chooses overlaps no memory in use. It
        // is only accessed through `header`, `in_header`, `area` and `write_header`.
        let start = unsafe {
            rustix::mm::mmap(std::ptr::null_mut(), size as usize, protection, flags, file, 0)?
        };
        Self::new(start, size, Some(identity), purpose)
    }

    /// Maps `size` bytes of zeros that this process shares with the children it forks, and with no
    /// other process.
    pub(super) fn map_anonymous(purpose: Purpose, size: u64) -> rustix::io::Result<Self> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address that the kernel chooses overlaps no memory in use.
        let start = unsafe {
            rustix::mm::mmap_anonymous(std::ptr::null_mut(), size as usize, protection, flags)?
        };
        Self::new(start, size, None, purpose)
    }

    fn new(
        start: *mut c_void,
        size: u64,
        file: Option<FileIdentity>,
        purpose: Purpose,
    ) -> rustix::io::Result<Self> {
        let start = NonNull::new(start).ok_or(Errno::NOMEM)?;
        let user = rustix::process::geteuid();
        Ok(Self { start, size, file, user, areas: Areas::new(purpose, size) })
    }

    /// Writes the header of a new file.
    ///
    /// # Safety
    ///
    /// No other process has mapped the file.
    pub(super) unsafe fn write_header(&mut self, header: Header) {
        // SAFETY: a mapping has room for a header and is aligned to a page. `self` is borrowed
        // exclusively, so no reference into the mapping exists in this process; the caller promises
        // that none exists in another.
        unsafe { self.start.cast::<Header>().write(header) };
    }

    #[inline(always)]
    pub(super) fn header(&self) -> &Header {
        // SAFETY: a mapping is at least MIN_SIZE long and aligned to a page; any bits are a Header;
        // once the file has its name, only the header's atomics change. The file is the user's own, and no
        // process of ours shortens one.
        unsafe { self.start.cast::<Header>().as_ref() }
    }

    /// The key of the hashes that place keys in this file. Another file has another secret.
    pub fn secret(&self) -> [u64; 2] {
        self.header().secret
    }

    /// The value at byte `AT` of the page that begins with the header.
    #[inline(always)]
    pub fn in_header<T: Mappable, const AT: usize>(&self) -> &T {
        const {
            assert!(size_of::<Header>() <= AT && AT + size_of::<T>() <= BODY_AT as usize);
            assert!(BODY_AT < MIN_SIZE);
            assert!(AT.is_multiple_of(align_of::<T>()));
        };
        // SAFETY: the value lies behind the header, within the smallest mapping, and is aligned; a Mappable may
        // be shared with other processes.
        unsafe { self.start.byte_add(AT).cast::<T>().as_ref() }
    }

    /// The values in an area: as many as fit. Empty if the file has no such area.
    #[inline(always)]
    pub fn area<T: Mappable>(&self, area: Area) -> &[T] {
        const { assert!(align_of::<T>() <= SET_SIZE && size_of::<T>().is_multiple_of(SET_SIZE)) };
        let extent = self.areas.extent(area);
        // SAFETY: an area begins at a multiple of SET_SIZE and ends within the mapping, which lives as
        // long as self; a Mappable may be shared with other processes.
        unsafe {
            let first = self.start.byte_add(extent.start).cast::<T>();
            std::slice::from_raw_parts(first.as_ptr(), extent.blocks / (size_of::<T>() / SET_SIZE))
        }
    }

    /// The size of the file in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether the file must not be used any longer: its path leads to another file or to none, or
    /// this process runs as another user than the one that mapped it.
    pub fn is_stale(&self) -> bool {
        // Memory without a file makes way for one as soon as a file can be had.
        !self.is_own() || !self.file.as_ref().is_some_and(FileIdentity::is_at_its_path)
    }

    /// Opens the file once more, with a descriptor that no other process shares. None if no file is behind
    /// the memory, or its path leads to another one by now.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Storage`](crate::error::ErrorKind::Storage) naming the path, if it cannot be opened.
    pub fn reopen(&self) -> Result<Option<OwnedFd>> {
        let Some(FileIdentity { path, stat: own }) = &self.file else { return Ok(None) };
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let opened = match fs::open(path, flags, Mode::empty()) {
            Ok(opened) => opened,
            Err(Errno::NOENT | Errno::LOOP | Errno::ACCESS) => return Ok(None),
            Err(error) => return Err(failed("open", path, error)),
        };
        let stat = fs::fstat(&opened).map_err(|error| failed("open", path, error))?;
        Ok(is_same_file(&stat, own).then_some(opened))
    }

    /// Notes in the file that it is used now (see [`boot`](super::boot)).
    pub fn note_use(&self) {
        self.header().note_use();
    }

    /// Whether a file is behind the memory, which other processes may map.
    pub fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Whether this process runs as the user that mapped the file.
    pub fn is_own(&self) -> bool {
        self.user == rustix::process::geteuid()
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: `start` and `size` are those of this mapping, and every reference into it borrows
        // self. If the kernel refuses, it stays mapped, which is harmless.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr(), self.size as usize) };
    }
}
