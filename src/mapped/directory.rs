//! The user's own directory for shared memory, its lock, and the errors of files in it.

use crate::clock::sleep;
use crate::dsn::printable_path;
use crate::error::{Error, Result};
use rustix::fs::{self, AtFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

const FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The bits of a mode that give other users a right.
const OTHERS: u32 = 0o077;

/// Opens the user's own directory `name` below `base`; makes it if it is not there.
///
/// Its mode is 0700 then, whatever the umask of the process that made it.
///
/// # Errors
///
/// [`ErrorKind::Storage`](crate::error::ErrorKind::Storage) naming the path, if the directory cannot be made or opened, belongs to another
/// user, is open to others, or is not a directory; or if others can replace it, because `base` is theirs or lets them.
pub fn open(base: &Path, name: &str) -> Result<OwnedFd> {
    let path = base.join(name);
    let parent = open_base(base)?;
    match fs::mkdirat(&parent, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(not_created(&parent, &path, error)),
    }
    check_own(&parent, name, &path)?.ok_or_else(|| failed("open", &path, Errno::NOENT))
}

/// Opens the user's own directory `name` below `base`, if it is there.
///
/// # Errors
///
/// Those of [`open`].
pub fn open_existing(base: &Path, name: &str) -> Result<Option<OwnedFd>> {
    check_own(&open_base(base)?, name, &base.join(name))
}

/// Opens the directory that holds the users' directories. Other users must not be able to rename or replace what is in it, or to lead
/// the path elsewhere: it is root's or this user's, as each folder and link on the way, and where others may write it is sticky.
fn open_base(base: &Path) -> Result<OwnedFd> {
    let refused = |why: &str| {
        let base = printable_path(base);
        Error::storage(format!("Cannot open the directory {base} for shared memory: {why}"))
    };
    let failed = |error| {
        let remedy = match error {
            Errno::NOENT | Errno::NOTDIR => "; set token_bucket.shm_path to one that exists",
            _ => "",
        };
        refused(&format!("{error}{remedy}"))
    };
    let opened = fs::openat(fs::CWD, base, FLAGS, Mode::empty()).map_err(failed)?;
    expect_own_way(base).map_err(|why| refused(&why))?;
    Ok(opened)
}

/// Looks at each name of a path, and follows links as the kernel does: says which one other users can replace. What was looked at
/// leads the rest of the path nowhere else.
fn expect_own_way(path: &Path) -> std::result::Result<(), String> {
    const MAX_LINKS: usize = 40;
    let (mut way, mut links) = (PathBuf::from("."), 0);
    let mut names: VecDeque<PathBuf> = path.iter().map(PathBuf::from).collect();
    while let Some(name) = names.pop_front() {
        // A name that begins at the root replaces the way.
        let entry = way.join(&name);
        let stat = fs::lstat(&entry).map_err(|error| error.to_string())?;
        let it =
            if names.is_empty() && links == 0 { "it".to_owned() } else { printable_path(&entry) };
        let mode = Mode::from_raw_mode(stat.st_mode);
        let is_link = FileType::from_raw_mode(stat.st_mode) == FileType::Symlink;
        if !is_link && mode.intersects(Mode::WGRP | Mode::WOTH) && !mode.contains(Mode::SVTX) {
            return Err(format!(
                "other users may write to {it}; chmod go-w, or +t if they need to"
            ));
        }
        if stat.st_uid != 0 && !is_own(&stat) {
            return Err(format!(
                "{it} belongs to user {}, who may replace what is in it; set token_bucket.shm_path to a directory of root's or \
                 of user {}'s own",
                stat.st_uid,
                rustix::process::geteuid().as_raw()
            ));
        }
        if !is_link {
            way = entry;
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return Err(Errno::LOOP.to_string());
        }
        let target = std::fs::read_link(&entry).map_err(|error| error.to_string())?;
        target.iter().rev().for_each(|name| names.push_front(PathBuf::from(name)));
    }
    Ok(())
}

/// Opens the directory at `path`, which is `name` below `parent`, if it is there and the user's own.
fn check_own(parent: &OwnedFd, name: &str, path: &Path) -> Result<Option<OwnedFd>> {
    let directory = match open_own(parent, name) {
        Ok(directory) => directory,
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::NOTDIR | Errno::LOOP) => {
            return Err(unusable(path, "is not a directory; remove it"));
        }
        Err(other) => return Err(failed("open", path, other)),
    };
    let stat = fs::fstat(&directory).map_err(|error| failed("open", path, error))?;
    if !is_own(&stat) {
        return Err(unusable(path, &format!("belongs to user {}; remove it", stat.st_uid)));
    }
    if stat.st_mode & OTHERS != 0 {
        return Err(unusable(path, "is open to other users; its mode must be 0700"));
    }
    if lacks_owner_bits(&stat) {
        fs::fchmod(&directory, Mode::RWXU).map_err(|error| failed("open", path, error))?;
    }
    Ok(Some(directory))
}

/// Opens the directory. If it is the user's own but unreadable, it gets its mode first: the umask of
/// the process that made it may have taken the owner's rights away.
fn open_own(parent: &OwnedFd, name: &str) -> rustix::io::Result<OwnedFd> {
    let open = || fs::openat(parent, name, FLAGS | OFlags::NOFOLLOW, Mode::empty());
    let found = open();
    if !matches!(found, Err(Errno::ACCESS)) {
        return found;
    }
    let stat = fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    if is_directory && is_own(&stat) && stat.st_mode & OTHERS == 0 && lacks_owner_bits(&stat) {
        // By name, since it cannot be opened. No other user can put anything in its place meanwhile
        // (`open_base`). A process of root never comes here, since it can open any directory.
        fs::chmodat(parent, name, Mode::RWXU, AtFlags::empty())?;
    }
    open()
}

fn is_own(stat: &Stat) -> bool {
    stat.st_uid == rustix::process::geteuid().as_raw()
}

fn lacks_owner_bits(stat: &Stat) -> bool {
    stat.st_mode & 0o700 != 0o700
}

/// A lock on the directory, held until it is dropped or the process ends.
pub struct Lock(#[expect(dead_code, reason = "closing it unlocks")] OwnedFd);

/// Locks the directory, in which the file at `path` is to be made. None if another process holds the lock for
/// `timeout_ms` milliseconds.
///
/// # Errors
///
/// [`ErrorKind::Storage`](crate::error::ErrorKind::Storage) if the system cannot lock it.
pub fn lock(directory: &OwnedFd, path: &Path, timeout_ms: u32) -> Result<Option<Lock>> {
    // A descriptor of its own: a child that inherited `directory` would share its lock.
    let own = fs::openat(directory.as_fd(), ".", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| failed("lock", path, error))?;
    for _ in 0..timeout_ms {
        match fs::flock(&own, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Some(Lock(own))),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                sleep(Duration::from_millis(1));
            }
            Err(error) => return Err(failed("lock", path, error)),
        }
    }
    Ok(None)
}

/// The error of a file that another process has been making for too long.
pub fn unfinished(path: &Path) -> Error {
    unusable(path, "is being made by another process that does not come to an end")
}

/// The error of a file or directory at `path` that could not be created in `parent`. A file system
/// without free inodes reports the same error as one without free bytes, so this looks which it is.
pub fn not_created(parent: &OwnedFd, path: &Path, error: Errno) -> Error {
    match error {
        Errno::NOSPC => {}
        Errno::ROFS => {
            let why = "cannot be made: its file system is read-only; set token_bucket.shm_path to \
                       a directory that can be written";
            return unusable(path, why);
        }
        _ => return failed("make", path, error),
    }
    // A file system that does not count inodes reports zero of them.
    let no_inodes = fs::fstatvfs(parent).is_ok_and(|stat| stat.f_files > 0 && stat.f_favail == 0);
    let lacking = if no_inodes { "no free inode (see df -i)" } else { "no space" };
    unusable(
        path,
        &format!(
            "cannot be made: its file system has {lacking} for one more file; \
             remove some or set token_bucket.shm_path"
        ),
    )
}

/// The error of a system call that failed on the file or directory at `path`.
pub fn failed(what: &str, path: &Path, error: Errno) -> Error {
    Error::storage(format!("Cannot {what} shared memory {}: {error}", printable_path(path)))
}

/// The error of a file or directory at `path` that must not be used as it is.
pub fn unusable(path: &Path, why: &str) -> Error {
    Error::storage(format!("Shared memory {} {why}", printable_path(path)))
}
