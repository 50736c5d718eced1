//! Locks on bytes of a file, which show whether a process has died.
//!
//! They are open file description locks (Linux, `F_OFD_SETLK`): the kernel frees one when nothing refers to the
//! open file any more, so when the process ends, however it ends. What refers to it is a mapping, which no program
//! closes by its number and no child inherits. A lock belongs to the file, so processes in different PID namespaces
//! see the same locks. No byte that is locked has to be in the file.

use crate::descriptor::KeptDescriptor;
use crate::process;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use std::cell::RefCell;
use std::ffi::c_void;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::rc::Rc;

/// A lock that this process holds until it is dropped, and the file, to ask about the locks of others.
pub struct ByteLock {
    /// None where a mapping refers to another open file than the descriptor (overlayfs). There `file` holds the
    /// lock, also in the children that inherit it.
    #[allow(dead_code, reason = "dropping it unlocks")]
    mapping: Option<Mapping>,
    file: RefCell<Rc<KeptDescriptor>>,
}

impl ByteLock {
    /// Keeps the lock on a byte, by which `file` is locked, and closes that descriptor. `again` is the same file,
    /// opened once more.
    ///
    /// # Errors
    ///
    /// The system's, if it cannot be kept.
    pub fn keep(file: OwnedFd, again: OwnedFd, byte: u64) -> rustix::io::Result<Self> {
        let mapping = Mapping::new(&file)?;
        drop(file);
        let is_lost = try_lock(&again, byte)?;
        let file = RefCell::new(Rc::new(KeptDescriptor::new(again)?));
        Ok(Self { mapping: (!is_lost).then_some(mapping), file })
    }

    /// The file. If the program has closed its descriptor, `reopen` opens it; none if it cannot.
    pub fn file(&self, reopen: impl FnOnce() -> Option<OwnedFd>) -> Option<Rc<KeptDescriptor>> {
        let mut file = self.file.borrow_mut();
        if !file.is_intact() {
            *file = Rc::new(KeptDescriptor::new(reopen()?).ok()?);
        }
        Some(Rc::clone(&file))
    }
}

/// A mapping of the least size, which is not accessed.
struct Mapping {
    start: NonNull<c_void>,
    /// The process that has it: its children have not.
    process: u64,
}

impl Mapping {
    const SIZE: usize = 1;

    fn new(file: &OwnedFd) -> rustix::io::Result<Self> {
        let (protection, flags) = (ProtFlags::empty(), MapFlags::SHARED);
        // SAFETY: a new mapping at an address that the kernel chooses overlaps no memory in use.
        let start = unsafe {
            rustix::mm::mmap(std::ptr::null_mut(), Self::SIZE, protection, flags, file, 0)?
        };
        let start = NonNull::new(start).ok_or(Errno::NOMEM)?;
        let mapping = Self { start, process: process::generation() };
        sys::keep_from_children(start, Self::SIZE)?;
        Ok(mapping)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // In a child something else may be at its address.
        if self.process == process::generation() {
            // SAFETY: the mapping of this process, to which there are no references.
            let _ = unsafe { rustix::mm::munmap(self.start.as_ptr(), Self::SIZE) };
        }
    }
}

/// Locks a byte, unless it is locked. Returns whether it did.
///
/// # Errors
///
/// The system's, if the file's system or the kernel knows no such locks.
pub fn try_lock(file: &OwnedFd, byte: u64) -> rustix::io::Result<bool> {
    match sys::lock(file.as_fd(), byte) {
        Ok(()) => Ok(true),
        Err(Errno::AGAIN | Errno::ACCESS) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether another open file than this one has locked a byte.
///
/// # Errors
///
/// Those of [`try_lock`].
pub fn is_locked_elsewhere(file: &impl AsFd, byte: u64) -> rustix::io::Result<bool> {
    sys::is_locked_elsewhere(file.as_fd(), byte)
}

#[cfg(target_os = "linux")]
mod sys {
    use rustix::io::Errno;
    use rustix::mm::{Advice, madvise};
    use std::ffi::c_void;
    use std::os::fd::{AsRawFd, BorrowedFd};
    use std::ptr::NonNull;

    /// Children do not inherit the mapping.
    pub fn keep_from_children(start: NonNull<c_void>, size: usize) -> rustix::io::Result<()> {
        // SAFETY: a mapping that is not accessed.
        unsafe { madvise(start.as_ptr(), size, Advice::LinuxDontFork) }
    }

    pub fn lock(file: BorrowedFd<'_>, byte: u64) -> rustix::io::Result<()> {
        control(file, libc::F_OFD_SETLK, &mut lock_of(byte))
    }

    pub fn is_locked_elsewhere(file: BorrowedFd<'_>, byte: u64) -> rustix::io::Result<bool> {
        let mut lock = lock_of(byte);
        control(file, libc::F_OFD_GETLK, &mut lock)?;
        Ok(lock.l_type != libc::F_UNLCK as libc::c_short)
    }

    /// A lock for writing on one byte.
    fn lock_of(byte: u64) -> libc::flock {
        libc::flock {
            l_type: libc::F_WRLCK as libc::c_short,
            l_whence: libc::SEEK_SET as libc::c_short,
            l_start: byte as libc::off_t,
            l_len: 1,
            l_pid: 0,
        }
    }

    fn control(
        file: BorrowedFd<'_>,
        command: i32,
        lock: &mut libc::flock,
    ) -> rustix::io::Result<()> {
        // SAFETY: an open descriptor, a command that takes a lock, and a lock that outlives the call.
        let status = unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut *lock) };
        match status {
            -1 => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)),
            _ => Ok(()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod sys {
    use rustix::io::Errno;
    use std::ffi::c_void;
    use std::os::fd::BorrowedFd;
    use std::ptr::NonNull;

    pub fn keep_from_children(_: NonNull<c_void>, _: usize) -> rustix::io::Result<()> {
        Err(Errno::NOSYS)
    }

    pub fn lock(_: BorrowedFd<'_>, _: u64) -> rustix::io::Result<()> {
        Err(Errno::NOSYS)
    }

    pub fn is_locked_elsewhere(_: BorrowedFd<'_>, _: u64) -> rustix::io::Result<bool> {
        Err(Errno::NOSYS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags, open};

    #[test]
    fn lock_is_seen_by_other_open_files_until_it_is_dropped() {
        let path = std::env::temp_dir().join(format!("token_bucket-lock-{}", std::process::id()));
        let opened = || {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
            open(&path, flags, Mode::RUSR | Mode::WUSR).unwrap()
        };
        let (first, second) = (opened(), opened());
        let byte = 1 << 40;
        assert!(try_lock(&first, byte).unwrap());
        assert!(!try_lock(&second, byte).unwrap());
        assert!(is_locked_elsewhere(&second, byte).unwrap());
        assert!(!is_locked_elsewhere(&first, byte).unwrap(), "its own");
        assert!(!is_locked_elsewhere(&second, byte + 1).unwrap());
        let kept = ByteLock::keep(first, opened(), byte).unwrap();
        assert!(kept.mapping.is_some(), "no descriptor keeps it");
        assert!(is_locked_elsewhere(&second, byte).unwrap());
        drop(kept);
        assert!(!is_locked_elsewhere(&second, byte).unwrap());
        std::fs::remove_file(path).unwrap();
    }
}
