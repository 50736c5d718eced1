//! Locks on bytes of a file, which show whether a process has died.
//!
//! They are open file description locks (Linux, `F_OFD_SETLK`): the kernel frees one when the last process
//! that shares the descriptor has closed it or has ended, however it ended. A lock belongs to the file, so
//! processes in different PID namespaces see the same locks. No byte that is locked has to be in the file.

use rustix::io::Errno;
use std::os::fd::OwnedFd;

/// Locks a byte, unless it is locked. Returns whether it did.
///
/// # Errors
///
/// The system's, if the file's system or the kernel knows no such locks.
pub fn try_lock(file: &OwnedFd, byte: u64) -> rustix::io::Result<bool> {
    match sys::lock(file, byte) {
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
pub fn is_locked_elsewhere(file: &OwnedFd, byte: u64) -> rustix::io::Result<bool> {
    sys::is_locked_elsewhere(file, byte)
}

#[cfg(target_os = "linux")]
mod sys {
    use rustix::io::Errno;
    use std::os::fd::{AsRawFd, OwnedFd};

    pub fn lock(file: &OwnedFd, byte: u64) -> rustix::io::Result<()> {
        control(file, libc::F_OFD_SETLK, &mut lock_of(byte))
    }

    pub fn is_locked_elsewhere(file: &OwnedFd, byte: u64) -> rustix::io::Result<bool> {
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

    fn control(file: &OwnedFd, command: i32, lock: &mut libc::flock) -> rustix::io::Result<()> {
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
    use std::os::fd::OwnedFd;

    pub fn lock(_: &OwnedFd, _: u64) -> rustix::io::Result<()> {
        Err(Errno::NOSYS)
    }

    pub fn is_locked_elsewhere(_: &OwnedFd, _: u64) -> rustix::io::Result<bool> {
        Err(Errno::NOSYS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags, open};

    #[test]
    fn lock_is_seen_by_other_open_files_until_it_is_closed() {
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
        let shared = first.try_clone().unwrap();
        drop(first);
        assert!(is_locked_elsewhere(&second, byte).unwrap(), "a shared descriptor is open");
        drop(shared);
        assert!(!is_locked_elsewhere(&second, byte).unwrap());
        std::fs::remove_file(path).unwrap();
    }
}
