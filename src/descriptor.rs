//! Descriptors that are kept from call to call.
//!
//! A program may close descriptors that are not its own: one that becomes a daemon closes all from 3 on. The number
//! then goes to whatever is opened next, which must be neither written to nor closed for what was there before.

use rustix::fs::{Stat, fstat};
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The first number that does not stand for standard input, output or errors.
const FIRST: i32 = 3;

/// A descriptor that is kept from call to call. Dropping it closes it, if it still stands for what was opened.
pub struct KeptDescriptor {
    fd: ManuallyDrop<OwnedFd>,
    opened: Stat,
}

impl KeptDescriptor {
    /// Keeps a descriptor that was just opened. It gets another number if it has that of a standard stream, which
    /// the program had closed: what the program prints would go there.
    ///
    /// # Errors
    ///
    /// The system's, if no number is left.
    pub fn new(fd: OwnedFd) -> rustix::io::Result<Self> {
        let fd = match fd.as_raw_fd() < FIRST {
            true => rustix::io::fcntl_dupfd_cloexec(&fd, FIRST)?,
            false => fd,
        };
        let opened = fstat(&fd)?;
        Ok(Self { fd: ManuallyDrop::new(fd), opened })
    }

    /// Whether the number still stands for what was opened.
    pub fn is_intact(&self) -> bool {
        fstat(&*self.fd).is_ok_and(|found| is_same_file(&found, &self.opened))
    }
}

impl AsFd for KeptDescriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for KeptDescriptor {
    fn drop(&mut self) {
        if self.is_intact() {
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.fd) };
        }
    }
}

/// Whether both are one file or socket: no two that are open have one device and inode.
pub fn is_same_file(a: &Stat, b: &Stat) -> bool {
    a.st_dev == b.st_dev && a.st_ino == b.st_ino
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fd::FromRawFd;
    use std::fs::File;
    use std::io::{Read, pipe};

    #[test]
    fn number_that_stands_for_another_file_is_left_open() {
        let (reader, _writer) = pipe().unwrap();
        let kept = KeptDescriptor::new(reader.into()).unwrap();
        assert!(kept.is_intact());
        let number = kept.as_fd().as_raw_fd();
        let other = File::open("/dev/zero").unwrap();
        // SAFETY: the number of a descriptor that is open, which is given another file.
        assert_eq!(unsafe { libc::dup2(other.as_raw_fd(), number) }, number);
        assert!(!kept.is_intact());
        drop(kept);
        // SAFETY: nothing else owns it.
        let mut replaced = unsafe { File::from_raw_fd(number) };
        assert_eq!(replaced.read(&mut [1]).unwrap(), 1, "it is open");
    }
}
